"""Hooks: around compiles, their stages, loads and launches, on the CPU and for an emulated GPU; `preload`."""

from __future__ import annotations

import gc
import json

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource, LazyDict, compile
from tritium.runtime import ArgumentError, driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.support import OptionError


@tritium.jit
def helper(x):
    return x + 1


@tritium.jit
def fill(x, n, BLOCK: tl.constexpr, FN: tl.constexpr = helper, TYPE: tl.constexpr = tl.float32):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, FN(at).to(TYPE), mask=at < n)


@pytest.fixture(autouse=True)
def fresh():
    fill.device_caches.clear()
    with knobs.runtime.scope(), knobs.compilation.scope():
        yield


@pytest.fixture(params=["cpu", "emulated:90"])
def device(request):
    if request.param != "cpu":
        driver.set_active(EmulatedCUDADriver(90))
    yield request.param
    driver.reset_active()


def launch(n=10, **options):
    x = np.full(16, -1, np.float32)
    fill[(1,)](x, n, BLOCK=16, **options)
    np.testing.assert_array_equal(x, np.where(np.arange(16) < n, np.arange(16) + 1, -1))
    return x


# -- around compiles --------------------------------------------------------------------------------------------------


def test_arguments_of_compile_hooks(device) -> None:
    seen = []
    knobs.runtime.jit_cache_hook = lambda **told: seen.append(("before", told))
    knobs.runtime.jit_post_compile_hook = lambda **told: seen.append(("after", told))
    launch(num_warps=2)
    launch(num_warps=2)
    assert [when for when, _ in seen] == ["before", "after"]
    for _, told in seen:
        assert set(told) == {"key", "repr", "fn", "compile", "is_manual_warmup", "already_compiled"}
        assert told["fn"].jit_function is fill
        assert (told["fn"].module, told["fn"].name) == (__name__, "fill")
        assert told["repr"].startswith("fill[num_warps=2, num_ctas=1, num_stages=3, enable_fp_fusion=")
        assert told["repr"].endswith("](x: *fp32, n: i32, BLOCK: constexpr, FN: constexpr, TYPE: constexpr)")
        assert (told["is_manual_warmup"], told["already_compiled"]) == (False, False)
        info = told["compile"]
        assert info["key"] == told["key"] and info["signature"]["x"] == "*fp32"
        assert info["constants"][(2,)] == 16 and info["configs"] == [{(0,): [["tt.divisibility", 16]]}]
        assert (info["num_warps"], info["num_ctas"], info["is_warmup"]) == (2, 1, False)
        assert {"enable_fp_fusion", "launch_cooperative_grid", "extern_libs", "device", "num_stages"} <= set(info)
        assert json.loads(info["specialization_data"])["name"] == f"{__name__}.fill"
    (kernels,) = (kernels for kernels, *_ in fill.device_caches.values())
    assert seen[0][1]["key"] in kernels and "another" not in kernels
    assert kernels[seen[0][1]["key"]].asm["ttir"] == next(iter(kernels.values())).asm["ttir"]
    with pytest.raises(KeyError, match="another"):
        kernels["another"]


def test_function_with_different_source_is_a_different_argument() -> None:
    launch()
    text = helper.src
    helper._unsafe_update_src(text.replace("x + 1", "x + 2"))
    try:
        x = np.full(16, -1, np.float32)
        for _ in range(3):
            fill[(1,)](x, 16, BLOCK=16)
            np.testing.assert_array_equal(x, np.arange(16) + 2)
    finally:
        helper._unsafe_update_src(text)
    launch()


def test_removed_kernels_are_fetched_again() -> None:
    seen = []
    for _ in range(3):
        launch()
    ((kernels, *_),) = fill.device_caches.values()
    kernels.clear()
    knobs.runtime.jit_cache_hook = lambda **told: seen.append(told["key"])
    launch()
    assert len(seen) == 1 and seen[0] in kernels


def test_hooks_get_warmup_flag() -> None:
    seen = []
    knobs.runtime.jit_post_compile_hook = lambda **told: seen.append(told)
    fill.warmup(np.dtype(np.float32), 10, BLOCK=16, grid=(1,))
    assert seen[0]["is_manual_warmup"] and seen[0]["compile"]["is_warmup"]


def test_a_true_answer_cancels() -> None:
    knobs.runtime.jit_cache_hook = lambda **told: True
    x = np.zeros(16, np.float32)
    assert fill[(1,)](x, 10, BLOCK=16) is None
    assert not x.any()
    knobs.runtime.jit_cache_hook = None
    launch()


def test_the_compilation_listener() -> None:
    seen = []
    knobs.compilation.listener = lambda **told: seen.append(told)
    launch()
    fill.device_caches.clear()
    launch()
    assert [t["cache_hit"] for t in seen] == [False, True]
    assert [name for name, _ in seen[0]["times"].lowering_stages] == ["ttir", "ttcir", "llir", "obj"]
    assert seen[0]["times"].total >= sum(t for _, t in seen[0]["times"].lowering_stages) > 0
    hit = seen[1]["times"]  # finding the kernel, and nothing else
    assert hit.total == hit.ir_initialization > 0
    assert seen[0]["metadata"]["name"] == "fill" and "fill.ttir" in seen[0]["metadata_group"]


# -- preload ----------------------------------------------------------------------------------------------------------


def told_data(**options) -> str:
    seen = []
    knobs.runtime.jit_post_compile_hook = lambda **told: seen.append(told["compile"]["specialization_data"])
    launch(**options)
    knobs.runtime.jit_post_compile_hook = None
    fill.device_caches.clear()
    return seen[0]


@pytest.mark.shows("JITFunction.preload")
def test_preload(device) -> None:
    data = told_data(num_warps=8)
    kernel = fill.preload(data)
    assert kernel.metadata.num_warps == 8
    compiled = []
    knobs.runtime.jit_cache_hook = lambda **told: compiled.append(told)
    launch(num_warps=8)
    assert not compiled  # the launch found what was preloaded
    launch(num_warps=4)
    assert len(compiled) == 1


@tritium.jit
def unary(x, pair, FN: tl.constexpr):
    tl.store(x, FN(pair[0]) + pair[1])


def test_preload_with_tuples() -> None:
    seen = []
    knobs.runtime.jit_post_compile_hook = lambda **told: seen.append(told["compile"]["specialization_data"])
    x = np.zeros(1, np.int32)
    unary[(1,)](x, (3, 16), helper)
    assert x[0] == 20
    unary.device_caches.clear()
    unary.preload(seen[0])
    unary[(1,)](x, (4, 32), helper)
    assert x[0] == 37 and len(seen) == 2


@pytest.mark.parametrize(
    "change, error",
    [
        (
            lambda d: {**d, "name": "other.fill"},
            "Specialization data is for other.fill, and cannot be preloaded for .*fill",
        ),
        (lambda d: {**d, "target": {"backend": "cuda"}}, "cannot be preloaded for"),
        (
            lambda d: {k: v for k, v in d.items() if k != "signature"},
            "invalid specialization data: KeyError: 'signature'",
        ),
        (lambda d: {**d, "constant_vals": [{"repr": "<odd>"}] * 3}, "compile-time value <odd> cannot be made"),
        (lambda d: {**d, "constant_vals": [16, {"jit_function": "no.such:fn"}, None]}, "no.such:fn cannot be found"),
    ],
)
def test_data_that_cannot_be_preloaded(change, error) -> None:
    data = json.loads(told_data())
    with pytest.raises(RuntimeError, match=error) as raised:
        fill.preload(json.dumps(change(data)))
    assert isinstance(raised.value, ArgumentError)
    with pytest.raises(ArgumentError, match="invalid specialization data"):
        fill.preload("not JSON")


# -- stages -----------------------------------------------------------------------------------------------------------


class Stages:
    """A hook that counts how often a wrapped stage runs, under a key that may change."""

    def __init__(self) -> None:
        self.key, self.ran, self.told = "one", [], []

    def __call__(self, *args):
        if not args:
            return self.key, f"hash of {self.key}"
        backend, stages, options, language, capability = args
        self.told.append((backend.describe().backend, list(stages), language, capability))
        original = stages["ttir"]

        def ttir(module, metadata):
            self.ran.append(self.key)
            return original(module, metadata)

        stages["ttir"] = ttir
        return None


def test_stages_are_wrapped_and_their_key_counts(device) -> None:
    launch()
    hook = knobs.runtime.add_stages_inspection_hook = Stages()
    launch()
    launch()
    assert hook.ran == ["one"]  # the kernel compiled without it does not serve, that with it does
    hook.key = "two"
    launch()
    hook.key = "one"
    launch()
    assert hook.ran == ["one", "two"]
    fill.device_caches.clear()
    launch()
    assert hook.ran == ["one", "two"]  # it is in the cache under its own key
    knobs.runtime.add_stages_inspection_hook = None
    launch()
    backend, stages, language, capability = hook.told[0]
    assert (backend, capability) == (("cpu", None) if device == "cpu" else ("cuda", 90))
    assert stages[0] == "ttir" and language is not None


def source():
    return ASTSource(fill, {"x": "*fp32", "n": "i32"}, {"BLOCK": 16, "FN": helper, "TYPE": tl.float32})


def test_stages_are_added_replaced_and_removed() -> None:
    def hook(*args):
        if not args:
            return "k", "k"
        stages = args[1]
        stages["llir"] = lambda module, metadata: str(metadata.setdefault("mine", "not LLVM at all"))
        for name in list(stages)[list(stages).index("llir") + 1 :]:
            del stages[name]
        stages["length"] = lambda text, metadata: str(len(text))
        return None

    knobs.runtime.add_stages_inspection_hook = hook
    kernel = compile(source(), GPUTarget("cuda", 90, 32))
    assert list(kernel.asm) == ["source", "ttir", "ttgir", "llir", "length"]
    assert (kernel.asm["llir"], kernel.asm["length"]) == ("not LLVM at all", "15")
    assert kernel.metadata.mine == "not LLVM at all"


def test_stages_are_called_as_methods_of_the_backend() -> None:
    """As hooks do that look at a module between stages."""
    seen = []

    def hook(*args):
        if not args:
            return "methods", "methods"
        backend, stages, options, _, capability = args

        def ttgir(module, metadata):
            seen.append("ttg." in str(module))
            module = backend.make_ttgir(module, metadata, options, capability)
            seen.append("ttg." in str(module))
            return module

        stages["ttir"] = lambda module, metadata: backend.make_ttir(module, metadata, options, capability)
        stages["ttgir"] = ttgir
        return None

    plain = compile(source(), GPUTarget("cuda", 90, 32), until="ttgir").asm["ttgir"]
    knobs.runtime.add_stages_inspection_hook = hook
    assert compile(source(), GPUTarget("cuda", 90, 32), until="ttgir").asm["ttgir"] == plain
    assert seen == [False, True]


@pytest.mark.parametrize("answer", [None, "key", ("a", "b", "c")])
def test_a_hook_without_a_key(answer) -> None:
    knobs.runtime.add_stages_inspection_hook = lambda *args: answer
    with pytest.raises(OptionError, match="add_stages_inspection_hook must give a key and its hash"):
        launch()


# -- loads and launches -----------------------------------------------------------------------------------------------


def test_loads_and_unloads(device) -> None:
    fill.hash = None  # and the launch plans
    gc.collect()  # kernels of tests before
    seen = []
    runtime = knobs.runtime
    runtime.kernel_load_start_hook.add(lambda *told: seen.append(("start", *told)))
    runtime.kernel_load_end_hook.add(lambda *told: seen.append(("end", *told)))
    launch()
    launch()
    assert [s[0] for s in seen] == ["start", "end"]
    start, end = seen
    assert start[1:3] == (None, None) and end[1] is not None and isinstance(end[2], int)
    for told in seen:
        name, group, key = told[3:]
        assert name == "fill" and "fill.ttir" in group and len(key) == 64
    del told, end, start
    seen[:] = [(s[0], s[5]) for s in seen]
    runtime.kernel_unload_hook = lambda *told: seen.append(("unload", told[4]))
    fill.device_caches.clear()
    if fill._table is not None:
        fill._table.clear()
    gc.collect()
    assert seen.count(("unload", seen[0][1])) == 1


def test_launch_hooks_and_metadata(device) -> None:
    calls, asked = [], []

    def about(grid, metadata, args):
        asked.append(args)
        return {"name": f"fill {args['n']}", "bytes": 4 * args["n"], "grid": grid, "warps": metadata.num_warps}

    kernel = tritium.jit(launch_metadata=about)(fill.fn)
    x = np.zeros(16, np.float32)
    kernel[(1,)](x, 3, BLOCK=16)
    assert not asked  # nobody listens
    enter = lambda metadata: calls.append(("enter", metadata))  # noqa: E731
    leave = lambda metadata: calls.append(("exit", metadata))  # noqa: E731
    knobs.runtime.launch_enter_hook.add(enter)
    knobs.runtime.launch_exit_hook.add(leave)
    kernel[(1,)](x, 4, BLOCK=16, num_warps=4)
    assert [when for when, _ in calls] == ["enter", "exit"] and not asked  # nobody has asked
    metadata = calls[0][1].get()
    assert metadata["name"] == "fill 4" and metadata["bytes"] == 16 and metadata["grid"] == (1,)
    assert metadata["warps"] == 4 and isinstance(metadata["function"], int) and "stream" in metadata
    assert calls[1][1].get() is metadata and len(asked) == 1
    knobs.runtime.launch_enter_hook.remove(enter)
    knobs.runtime.launch_exit_hook.remove(leave)
    kernel[(1,)](x, 5, BLOCK=16)
    assert len(calls) == 2


def test_hooks_of_compiled_kernels() -> None:
    calls = []
    kernel = fill[(1,)](np.zeros(16, np.float32), 3, BLOCK=16)
    knobs.runtime.launch_enter_hook.add(lambda metadata: calls.append(metadata.get()["name"]))
    kernel[(1, 1, 1)](np.zeros(16, np.float32), 3)
    assert calls == ["fill"]


def test_several_hooks_leave_in_the_other_order() -> None:
    calls = []
    for name in "ab":
        knobs.runtime.launch_enter_hook.add(lambda metadata, name=name: calls.append(f"enter {name}"))
        knobs.runtime.launch_exit_hook.add(lambda metadata, name=name: calls.append(f"exit {name}"))
    launch()
    assert calls == ["enter a", "enter b", "exit b", "exit a"]


def test_lazy_dict() -> None:
    asked = []
    found = LazyDict({"a": 1})
    found.add(lambda b: asked.append(b) or {"b": b}, (2,))
    assert not asked
    assert found.get() == {"a": 1, "b": 2} and found.get() is found.data and asked == [2]
