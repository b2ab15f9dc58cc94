"""Autotuning: which configuration wins, what is run and restored meanwhile, keys, pruning, storage; heuristics."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.runtime.fake import COMPILED, KERNELS, program, slot
from tritium import Config, knobs
from tritium.runtime import AutotunerError, LaunchError, OutOfResources

ADD = (
    "  %p = getelementptr i32, ptr %a0, i64 %pid\n  %v = load i32, ptr %p\n  %w = add i32 %v, 1\n"
    "  store i32 %w, ptr %p\n"
)


def adder(out, n, BLOCK, EXTRA=0):
    pass


KERNELS["adder"] = lambda signature, constants: program(slot(0, "ptr") + ADD, "", "adder")


@pytest.fixture
def kernel(compiled):
    def adder(out, n, BLOCK: "constexpr", EXTRA: "constexpr" = 0):  # noqa: F821, UP037
        pass

    return tritium.jit(adder)


CONFIGS = [Config({"BLOCK": b}, num_warps=w) for b, w in ((16, 4), (32, 4), (32, 8))]


class Bench:
    """Says that BLOCK=32, num_warps=8 is the fastest, after running the kernel once."""

    def __init__(self, times=(3.0, 2.0, 1.0), error=None):
        self.times, self.calls, self.error = times, 0, error

    def __call__(self, call, quantiles):
        assert tuple(quantiles) == (0.5, 0.2, 0.8)
        call()
        self.calls += 1
        if self.error and self.calls in self.error:
            raise OutOfResources(2, 1, "registers")
        return [self.times[(self.calls - 1) % len(self.times)]] * 3


def test_config() -> None:
    config = Config({"BLOCK": 16}, num_warps=8, maxnreg=32)
    assert config.all_kwargs() == {"BLOCK": 16, "num_warps": 8, "num_ctas": 1, "num_stages": 3, "maxnreg": 32}
    assert config == Config({"BLOCK": 16}, num_warps=8, maxnreg=32) and config != Config({"BLOCK": 16}, num_warps=8)
    assert len({config, Config({"BLOCK": 16}, num_warps=8, maxnreg=32)}) == 1
    assert str(config) == "BLOCK: 16, num_warps: 8, num_ctas: 1, num_stages: 3, maxnreg: 32"


@pytest.mark.shows("tritium.autotune", "tritium.Autotuner", "autotune.key", "autotune.do_bench")
def test_the_fastest_wins(kernel, compiled) -> None:
    bench = Bench()
    tuned = tritium.autotune(CONFIGS, key=["n"], do_bench=bench)(kernel)
    out = np.zeros(4, np.int32)
    found = tuned[lambda meta: (meta["BLOCK"] // 16,)](out, 7)
    assert tuned.best_config is CONFIGS[2]
    assert found.metadata.num_warps == 8 and found.src.constants[(2,)] == 32
    assert out.tolist() == [4, 3, 0, 0]  # one run a configuration, and the launch
    assert tuned.configs_timings == {c: [t] * 3 for c, t in zip(CONFIGS, (3.0, 2.0, 1.0))}
    assert tuned.bench_time > 0
    tuned[(1,)](out, 7)
    assert bench.calls == 3 and len(compiled) == 3
    tuned[(1,)](out, 8)
    assert bench.calls == 6
    tuned[(1,)](out.astype(np.int64), 8)
    assert bench.calls == 9
    tuned[(1,)](out, n=7)
    assert bench.calls == 9


def test_real_timing(kernel) -> None:
    tuned = tritium.autotune(CONFIGS, key=[], warmup=1, rep=2)(kernel)
    tuned[(4,)](np.zeros(4, np.int32), 7)
    assert tuned.best_config in CONFIGS
    assert all(0 < t < 1000 for timing in tuned.configs_timings.values() for t in timing)


def test_configurations_that_do_not_fit(kernel) -> None:
    tuned = tritium.autotune(CONFIGS, key=[], do_bench=Bench(error=(3,)))(kernel)
    tuned[(1,)](np.zeros(4, np.int32), 7)
    assert tuned.best_config is CONFIGS[1]
    assert tuned.configs_timings[CONFIGS[2]] == [float("inf")] * 3
    tuned = tritium.autotune(CONFIGS, key=[], do_bench=Bench(error=(1, 2, 3)))(kernel)
    with pytest.raises(
        AutotunerError, match="adder: none of 3 configurations works; the last: out of resource: regist"
    ):
        tuned[(1,)](np.zeros(4, np.int32), 7)


@pytest.mark.shows("autotune.reset_to_zero", "autotune.restore_value")
def test_arguments_are_restored(kernel) -> None:
    out = np.array([5, 0, 0, 0], np.int32)
    tritium.autotune(CONFIGS, key=[], restore_value=["out"], do_bench=Bench())(kernel)[(1,)](out, 7)
    assert out[0] == 6
    tritium.autotune(CONFIGS, key=[], reset_to_zero=["out"], do_bench=Bench())(kernel)[(1,)](out, 7)
    assert out[0] == 1


@pytest.mark.torch
def test_tensors_are_restored(kernel) -> None:
    import torch

    out = torch.tensor([5, 0, 0, 0], dtype=torch.int32)
    tritium.autotune(CONFIGS, key=[], restore_value=["out"], do_bench=Bench())(kernel)[(1,)](out, 7)
    assert out[0] == 6


@pytest.mark.shows("autotune.pre_hook", "autotune.post_hook")
def test_hooks(kernel) -> None:
    seen = []
    configs = [Config({"BLOCK": 16}, pre_hook=lambda args: seen.append(("config", args["n"], args["BLOCK"])))]
    tuned = tritium.autotune(configs, key=[])(kernel)
    tuned[(1,)](np.zeros(4, np.int32), 7)
    assert seen == [("config", 7, 16)]
    tuned = tritium.autotune(
        CONFIGS,
        key=[],
        do_bench=Bench(),
        pre_hook=lambda args, reset_only=False: seen.append(("pre", args["BLOCK"], reset_only)),
        post_hook=lambda args, exception: seen.append(("post", args["BLOCK"], exception)),
    )(kernel)
    tuned[(1,)](np.zeros(4, np.int32), 7)
    assert seen[1:] == [(w, b, False if w == "pre" else None) for b in (16, 32, 32) for w in ("pre", "post")] + [
        ("pre", 32, True)
    ]


@pytest.mark.shows("autotune.prune_configs_by")
@pytest.mark.parametrize("top", ["top_k", "configs_top_k"])  # the second is PyTorch's
def test_pruning(kernel, top) -> None:
    bench = Bench(times=(1.0, 2.0))
    rules = {
        "early_config_prune": lambda configs, named, **kwargs: [c for c in configs if c.kwargs["BLOCK"] <= named["n"]],
        "perf_model": lambda **args: -args["num_warps"],
        top: 1,
    }
    tuned = tritium.autotune(CONFIGS, key=["n"], prune_configs_by=rules, do_bench=bench)(kernel)
    tuned[(1,)](np.zeros(4, np.int32), 40)
    assert (bench.calls, tuned.best_config) == (0, CONFIGS[2])  # one is left, which needs no timing
    with pytest.raises(AutotunerError, match="No valid autotuner configs after pruning"):
        tuned[(1,)](np.zeros(4, np.int32), 3)


def test_wrong_names(kernel) -> None:
    with pytest.raises(ValueError, match="restore_value: adder has no argument 'x'"):
        tritium.autotune(CONFIGS, key=[], restore_value=["x"])(kernel)
    with pytest.warns(UserWarning, match="adder has no argument 'x', named in its key"):
        tuned = tritium.autotune(CONFIGS, key=["x", "n"], do_bench=Bench())(kernel)
    tuned[(1,)](np.zeros(4, np.int32), 7)
    with pytest.raises(ValueError, match="conflicting meta-parameters: BLOCK"):
        tuned[(1,)](np.zeros(4, np.int32), 9, BLOCK=16)
    for option in ({"BLOCK": 16}, {"num_warps": 2}):  # of what has been tuned, too
        with pytest.raises(ValueError, match=f"conflicting meta-parameters: {next(iter(option))}"):
            tuned[(1,)](np.zeros(4, np.int32), 7, **option)
    for decorate in (tritium.autotune(CONFIGS, key=[]), tritium.heuristics({"BLOCK": lambda args: 4})):
        with pytest.raises(
            AutotunerError, match=r"adder is not a kernel\nhint: write @\w+\(...\) first, and @jit below it"
        ):
            decorate(kernel.fn)


def test_errors_have_no_frames_of_the_tuner(kernel) -> None:
    tuned = tritium.autotune([Config({"BLOK": 16}), Config({"BLOK": 32})], key=[])(kernel)
    with pytest.raises(tritium.TritiumError, match="'BLOK' is neither a parameter") as caught:
        tuned[(1,)](np.zeros(4, np.int32), 7)
    assert len(caught.traceback) <= 3  # of this function, `run`, and what chooses


@pytest.mark.shows("autotune.cache_results")
def test_timings_are_kept_on_disk(kernel, cache_dir) -> None:
    told = []
    with knobs.autotuning.scope():
        knobs.autotuning.listener = lambda **info: told.append((info["cache_hit"], info["duration"] is None))
        for calls in (3, 0):
            bench = Bench()
            tuned = tritium.autotune(CONFIGS, key=["n"], do_bench=bench, cache_results=True)(kernel)
            tuned[(1,)](np.zeros(4, np.int32), 7)
            assert (bench.calls, tuned.best_config) == (calls, CONFIGS[2])
    assert told == [(False, False), (True, True)]


def test_warmup_compiles_all(kernel) -> None:
    out = np.zeros(4, np.int32)
    found = tritium.autotune(CONFIGS, key=[])(kernel).warmup(out, 7, grid=(1,))
    assert [k.metadata.num_warps for k in found] == [4, 4, 8]
    assert len(COMPILED) == 3 and not out.any()


@pytest.mark.shows("tritium.heuristics", "tritium.Heuristics")
def test_heuristics(kernel) -> None:
    values = {"EXTRA": lambda args: args["n"] * 2, "num_warps": lambda args: 2}
    out = np.zeros(4, np.int32)
    found = tritium.heuristics(values)(kernel)[(1,)](out, 7, BLOCK=16)
    assert found.src.constants[(3,)] == 14 and found.metadata.num_warps == 2
    tuned = tritium.autotune(CONFIGS, key=[], do_bench=Bench())(tritium.heuristics({"EXTRA": values["EXTRA"]})(kernel))
    assert tuned[(1,)](out, 7).src.constants[(3,)] == 14
    assert tuned.base_fn is kernel.fn


@pytest.mark.shows("tritium.AsyncCompileMode", "tritium.FutureKernel")
def test_compiling_in_the_background(kernel) -> None:
    from concurrent.futures import ThreadPoolExecutor

    out = np.zeros(4, np.int32)
    with ThreadPoolExecutor(2) as pool, tritium.AsyncCompileMode(pool):
        promised = [kernel.warmup(out, 7, BLOCK=b, grid=(1,)) for b in (8, 16)]
    assert isinstance(promised[0], tritium.FutureKernel)
    assert kernel[(1,)](out, 7, BLOCK=8) is promised[0].result()
    assert len(COMPILED) == 2
    assert out[0] == 1


@pytest.mark.parametrize(
    "decorate", [tritium.autotune(CONFIGS, key=["n"]), tritium.heuristics({"BLOCK": lambda a: 16})]
)
def test_calling_without_a_grid(kernel, decorate) -> None:
    with pytest.raises(LaunchError, match=r"cannot be called directly\nhint: call adder\[grid\]\(...\)"):
        decorate(kernel)(np.zeros(1, np.int32), 1)


def test_classes_of_users_time_configurations_themselves(kernel) -> None:
    """`_bench(*args, config=…, **meta)` is called and may be replaced, as in Triton."""
    asked = []

    class Tuner(tritium.Autotuner):
        def _bench(self, *args, config, **meta):
            asked.append((len(args), config, meta))
            return super()._bench(*args, config=config, **meta)

        def run(self, *args, **kwargs):
            self.nargs = dict(zip(self.arg_names, args))
            times = {config: self._bench(*args, config=config, **kwargs) for config in self.prune_configs(kwargs)}
            self.best_config = min(times, key=times.get)
            return self.fn.run(*args, **kwargs, **self.best_config.all_kwargs())

    out = np.zeros(4, np.int32)
    tuner = Tuner(kernel, kernel.arg_names, CONFIGS, ["n"], None, ["out"], do_bench=Bench(error={3}))
    tuner[(4,)](out, 5, EXTRA=7)
    assert tuner.best_config == CONFIGS[1] and out.tolist() == [1] * 4
    assert [(count, config) for count, config, _ in asked] == [(2, config) for config in CONFIGS]
    assert all(meta["EXTRA"] == 7 for _, _, meta in asked)
    assert tuner._bench(out, 5, config=CONFIGS[0], grid=(4,))[0] == 3.0


def test_pruner_of_two_arguments_gets_no_launch_arguments(kernel) -> None:
    """Kernels for Triton 2.0 have them: `prune(configs, named_args)`."""
    rules = {"early_config_prune": lambda configs, named: [c for c in configs if named["n"] == 5 and c.num_warps == 8]}
    tuned = tritium.autotune(CONFIGS, ["n"], prune_configs_by=rules, do_bench=Bench((1.0,)))(kernel)
    tuned[(4,)](np.zeros(4, np.int32), 5, EXTRA=7)
    assert tuned.best_config == CONFIGS[2]


def test_pruned_configurations_are_not_timed():
    timed = []

    @tritium.autotune(
        [tritium.Config({"BLOCK": b}) for b in (8, 16, 32)],
        key=["n"],
        prune_configs_by={
            "early_config_prune": lambda configs, named, **rest: [c for c in configs if c.kwargs["BLOCK"] == 16]
        },
        do_bench=lambda call, quantiles: timed.append(1) or [1.0] * 3,
    )
    @tritium.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        tl.store(x, BLOCK)

    x = np.zeros(1, np.int32)
    for _ in range(2):
        kernel[(1,)](x, 5)
        assert x[0] == 16 and kernel.best_config.kwargs == {"BLOCK": 16} and not timed
