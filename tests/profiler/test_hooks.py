"""Hooks of sessions: which are active when, in which order they run, and what the hook of metadata records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
import tritium.profiler as proton
from tests.profiler.example_profile import launch
from tritium.profiler.hooks import Hook, HookManager, InstrumentationHook, LaunchHook
from tritium.profiler.hooks import launch as launch_module
from tritium.support import OptionError
from tritium.support.settings import runtime


class _Told(Hook):
    """Writes down what it is told."""

    def __init__(self, told: list[str], name: str, priority: int = 0) -> None:
        self.told, self.name, self.priority = told, name, priority

    def init_handle(self, module: Any, function: Any, name: str, metadata_group: Any, hash: str) -> None:
        self.told.append(f"load {name}")

    def enter(self, metadata: Any) -> None:
        self.told.append(f"enter {self.name}")

    def exit(self, metadata: Any) -> None:
        self.told.append(f"exit {self.name}")

    def activate(self) -> None:
        self.told.append(f"activate {self.name}")

    def deactivate(self) -> None:
        self.told.append(f"deactivate {self.name}")


def test_hooks_nest_by_priority_and_follow_their_sessions() -> None:
    told: list[str] = []
    low, high = _Told(told, "low"), _Told(told, "high", 10)
    first = proton.start("a", hook=low)
    second = proton.start("b", hook=high)
    third = proton.start("c", hook=low)
    launch()
    entered = [t for t in told if not t.startswith("load")]
    assert entered == ["activate low", "activate high", "enter high", "enter low", "exit low", "exit high"]
    told.clear()
    proton.deactivate(first)  # the third session has it, too
    proton.deactivate(second)
    launch()
    assert told == ["deactivate high", "enter low", "exit low"]
    told.clear()
    proton.finalize(third)
    assert told == ["deactivate low"]
    proton.activate(first)
    proton.activate(first)
    assert list(HookManager.active_hooks) == [low]
    proton.finalize()
    assert not HookManager.active_hooks
    assert not runtime.launch_enter_hook.calls
    assert not runtime.kernel_load_end_hook.calls


def test_launch_hook_is_one_and_ordered_before_others() -> None:
    assert LaunchHook() is LaunchHook()
    HookManager.register(InstrumentationHook(""), 5)
    HookManager.register(LaunchHook(), 5)
    HookManager.register(LaunchHook(), 6)
    assert [type(h) for h in HookManager.active_hooks] == [LaunchHook, InstrumentationHook]
    HookManager.unregister(5)
    assert [type(h) for h in HookManager.active_hooks] == [LaunchHook]
    HookManager.unregister(6)
    assert not HookManager.active_hooks


def test_instrumentation_hook_refuses_launches() -> None:
    HookManager.register(InstrumentationHook(""), 5)
    with pytest.raises(OptionError, match="instrumentation inside of kernels is not supported"):
        launch()


def test_error_of_metadata_is_the_launchs() -> None:
    @tritium.jit(launch_metadata=lambda grid, kernel, args: {"name": "k", "bytes": args["missing"]})
    def store(x):
        tl.store(x, 1.0)

    proton.start("p", hook="triton")
    with pytest.raises(KeyError, match="missing"):
        store[(1,)](np.zeros(1, np.float32))


def test_names_are_filtered_before_metadata_is_computed() -> None:
    computed = []

    def metadata(grid: Any, kernel: Any, args: dict[str, Any]) -> dict[str, Any]:
        computed.append(kernel.name)
        return {"name": f"{kernel.name}_meta"}

    @tritium.jit(launch_metadata=metadata)
    def wanted(x):
        tl.store(x, 1.0)

    @tritium.jit(launch_metadata=metadata)
    def other(x):
        tl.store(x, 1.0)

    hook = LaunchHook()
    hook.configure(include="wan", exclude=".*er$")
    try:
        session = proton.start("p", hook=hook)
        wanted[(1,)](np.zeros(1, np.float32))
        other[(1,)](np.zeros(1, np.float32))
    finally:
        hook.configure()
    assert computed == ["wanted"]
    recorded = [c["frame"]["name"] for c in proton.data.get(session)[0]["children"]]
    assert recorded == ["wanted_meta", "other"]


def test_kernels_of_metadata_are_in_a_state_of_their_own() -> None:
    def metadata(grid: Any, kernel: Any, args: dict[str, Any]) -> dict[str, Any]:
        launch()
        return {"name": "outer", "bytes": 4}

    @tritium.jit(launch_metadata=metadata)
    def store(x):
        tl.store(x, 1.0)

    session = proton.start("p", hook="triton")
    ids = set()
    with proton.scope("s"), proton.state("mine"):
        for _ in range(2):
            store[(1,)](np.zeros(1, np.float32))
            ids.add(launch_module.id.get())
    assert len(ids) == 2
    assert launch_module.op_name.get() == "outer"
    s, scope_state = proton.data.get(session)[0]["children"][0], "mine"
    found = {c["frame"]["name"]: c for c in s["children"]}
    assert set(found) == {"__proton_launch_metadata", scope_state}
    [owner] = found["__proton_launch_metadata"]["children"]
    assert owner["frame"]["name"] == "store"
    assert owner["children"][0]["metrics"]["count"] == 2
    [outer] = found[scope_state]["children"]
    assert (outer["frame"]["name"], outer["metrics"]["bytes"], outer["metrics"]["count"]) == ("outer", 8, 2)
