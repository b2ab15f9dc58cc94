"""Hooks that raise, and the files that hooks are given."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs
from tritium.compiler import GPUTarget
from tritium.compiler.cache import KernelCache
from tritium.compiler.inventory import prune
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.support.hook_errors import HookWarning


@tritium.jit
def fill(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, n, mask=at < n)


def launch(n=5):
    x = np.zeros(16, np.int32)
    kernel = fill[(1,)](x, n, BLOCK=16)
    assert x.tolist() == [n] * n + [0] * (16 - n)
    return kernel


@pytest.fixture(autouse=True)
def fresh():
    fill.device_caches.clear()
    with knobs.runtime.scope(), knobs.compilation.scope(), knobs.autotuning.scope(), knobs.cache.scope():
        yield


@pytest.fixture(params=["cpu", "emulated:90"])
def device(request):
    if request.param != "cpu":
        driver.set_active(EmulatedCUDADriver(90))
    yield request.param
    driver.reset_active()


HOOKS = {
    "compilation.listener": knobs.compilation,
    "runtime.jit_cache_hook": knobs.runtime,
    "runtime.jit_post_compile_hook": knobs.runtime,
    "runtime.add_stages_inspection_hook": knobs.runtime,
    "runtime.kernel_load_start_hook": knobs.runtime,
    "runtime.kernel_load_end_hook": knobs.runtime,
    "runtime.launch_enter_hook": knobs.runtime,
    "runtime.launch_exit_hook": knobs.runtime,
}


def failing(error):
    def hook(*args, **kwargs):
        raise error

    return hook


@pytest.mark.parametrize("name", HOOKS)
def test_exception_of_hook_is_a_warning(device, name) -> None:
    setattr(HOOKS[name], name.partition(".")[2], failing(ZeroDivisionError(f"in {name}")))
    with pytest.warns(HookWarning) as heard:
        kernel = launch()
    texts = [str(w.message) for w in heard]
    text = f"{name}: {__name__}.failing.<locals>.hook raised ZeroDivisionError: in {name}; it was skipped"
    assert texts[0] == text, texts
    assert Path(heard[0].filename) == Path(__file__) and heard[0].lineno == failing.__code__.co_firstlineno + 2
    kernel[(1, 1, 1)](np.zeros(16, np.int32), 5)


@pytest.mark.parametrize("name", HOOKS)
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)], ids=["KeyboardInterrupt", "SystemExit"])
def test_exception_that_ends_the_process_passes_through_hooks(name, error) -> None:
    setattr(HOOKS[name], name.partition(".")[2], failing(error))
    with pytest.raises(type(error)):
        launch()


def test_hook_may_propagate_its_errors() -> None:
    hook = failing(ZeroDivisionError("on purpose"))
    hook.propagate_errors = True
    knobs.runtime.launch_enter_hook.add(hook)
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        launch()


def test_other_hooks_of_a_chain_are_called() -> None:
    calls = []
    for hook in (failing(ValueError("first")), lambda metadata: calls.append(metadata.get()["name"])):
        knobs.runtime.launch_enter_hook.add(hook)
    with pytest.warns(HookWarning, match="ValueError: first"):
        launch()
    assert calls == ["fill"]


def test_error_of_launch_metadata_is_reported_for_the_hook() -> None:
    kernel = tritium.jit(fill.fn, launch_metadata=failing(KeyError("bytes")))
    knobs.runtime.launch_enter_hook = lambda metadata: metadata.get()
    with pytest.warns(HookWarning, match=r"runtime.launch_enter_hook: .* raised KeyError: 'bytes'"):
        kernel[(1,)](np.zeros(16, np.int32), 5, BLOCK=16)


def test_metadata_of_first_launch_has_its_function(device) -> None:
    told = []
    knobs.runtime.launch_enter_hook = lambda metadata: told.append(metadata.get())
    kernel = launch()
    assert [(t["name"], t["function"]) for t in told] == [("fill", kernel.function)]


def test_hooks_given_to_run_are_skipped_when_they_raise() -> None:
    compiled, x = launch(), np.zeros(16, np.int32)
    with pytest.warns(HookWarning) as heard:
        hooks = failing(ValueError("enter")), failing(ValueError("exit"))
        compiled.run(1, 1, 1, None, compiled.function, compiled.packed_metadata, None, *hooks, x, 3)
    assert [str(w.message).partition(":")[0] for w in heard] == ["launch_enter_hook", "launch_exit_hook"]
    assert x[:4].tolist() == [3, 3, 3, 0]


def test_stages_are_as_before_when_their_hook_raises() -> None:
    """A hook that fails after it changed stages leaves nothing behind, not in the cache either."""

    def hook(*args):
        if not args:
            return "broken", "broken"
        stages = args[1]
        del stages["obj"]
        stages["ttir"] = lambda module, metadata: pytest.fail("a stage of the hook ran")
        raise LookupError("half done")

    knobs.runtime.add_stages_inspection_hook = hook
    with pytest.warns(HookWarning, match="LookupError: half done; the stages are compiled as they were"):
        with_hook = launch()
    knobs.runtime.add_stages_inspection_hook = None
    assert launch().hash == with_hook.hash


def test_autotuning_listener_that_raises() -> None:
    configs = [tritium.Config({"BLOCK": 16}), tritium.Config({"BLOCK": 32})]
    tuned = tritium.autotune(configs, key=[], do_bench=lambda call, quantiles: call() or [1.0, 1.0, 1.0])(fill)
    knobs.autotuning.listener = failing(ValueError("not listening"))
    with pytest.warns(HookWarning, match="autotuning.listener: .* raised ValueError: not listening"):
        tuned[(1,)](np.zeros(32, np.int32), 5)


def test_hooks_that_prepare_a_launch_end_it() -> None:
    """As in Triton: what they do is part of the launch."""
    config = tritium.Config({"BLOCK": 16}, pre_hook=failing(ValueError("Config.pre_hook")))
    kernel = tritium.autotune([config], key=[])(fill)
    with pytest.raises(ValueError, match=r"Config\.pre_hook"):
        kernel[(1,)](np.zeros(16, np.int32), 5)
    prepared = tritium.jit(fill.fn)
    prepared.add_pre_run_hook(failing(ValueError("pre_run_hook")))
    with pytest.raises(ValueError, match="pre_run_hook"):
        prepared[(1,)](np.zeros(16, np.int32), 5, BLOCK=16)


def test_same_warning_is_given_once() -> None:
    knobs.runtime.launch_enter_hook.add(failing(ValueError("again and again")))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        for _ in range(3):
            launch()
    assert len(heard) == 1


# -- metadata_group ---------------------------------------------------------------------------------------------------


def test_metadata_group_has_paths_of_stage_files(device) -> None:
    groups = []
    knobs.compilation.listener = lambda **told: groups.append(told["metadata_group"])
    kernel = launch()
    fill.device_caches.clear()
    launch()
    assert groups[0] == groups[1] == kernel.metadata_group  # compiled, from the cache, of the kernel
    stages = {"ttir", "ttcir", "llir", "obj"} if device == "cpu" else {"ttir", "ttgir", "llir", "ptx"}
    assert {f"fill.{stage}" for stage in ("source", "json", *stages)} <= set(groups[0])
    assert {f"fill.{stage}" for stage in ("json", *kernel.asm.made())} == set(groups[0])
    for name, path in groups[0].items():
        stage = name.partition(".")[2]
        if stage == "json":
            metadata = json.loads(Path(path).read_text())
            assert (metadata["name"], metadata["hash"]) == ("fill", kernel.hash)
            assert GPUTarget(*metadata["target"].values()) == kernel.metadata.target
        else:
            contents = kernel.asm[stage]
            assert Path(path).read_bytes() == (contents if isinstance(contents, bytes) else contents.encode())
        assert os.path.basename(path) == name


def test_stage_files_of_disabled_cache_are_temporary() -> None:
    knobs.cache.disable = True
    path = launch().metadata_group["fill.ttir"]
    assert "\nmodule {\n" in Path(path).read_text() and not path.startswith(str(knobs.cache.dir))


def test_stage_files_are_removed_with_their_kernel() -> None:
    path = Path(launch().metadata_group["fill.ttir"])
    folder = KernelCache().folder
    prune(folder, None, None, abandoned_after=0)
    assert path.exists()
    prune(folder, 0, None, abandoned_after=0)
    assert not path.parent.exists()
