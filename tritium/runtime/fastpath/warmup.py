"""Plans of `warmup`: they find the compiled kernel for the arguments, and launch nothing.

An element type that represents an array must be the same object again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter, methodcaller
from typing import Any

from ...support import settings
from ...support.lazy import LazyModule
from ..arrays import HOST, MockTensor, is_array
from ..async_compile import FutureKernel
from ..cpu_driver import CPUDriver
from ..driver_config import DeviceTarget, driver
from ..placement import place_of
from ..tensor_descriptor import TensorDescriptor
from .preparation import preparation
from .table import Call, LaunchTable

__all__ = ["remember_warmup"]

_devices = LazyModule("...backends.nvidia.device", __package__)
_launch_backend = LazyModule(".launch_backend", __package__)
_native = LazyModule(".native", __package__)
_packing = LazyModule("..packing", __package__)
_plan = LazyModule(".plan", __package__)
_torch_abi = LazyModule("..torch_abi", __package__)


def remember_warmup(
    function: Any,
    device_target: DeviceTarget,
    found: Any,
    args: Sequence[Any],
    pairs: Any,
    given: dict[str, Any],
    call: Call,
) -> None:
    """Add a plan for warmups like this one to the table `function.warmups`, once that pays off.

    `pairs` are the (type, key) of each argument.
    """
    hook = settings.runtime.add_stages_inspection_hook
    if isinstance(found.kernel, FutureKernel) or hook is not None or any(p.takes_rest for p in function.params):
        return
    kind = "warmup", call, tuple(v.given if isinstance(v, MockTensor) else type(v) for v in args)
    if found.generation != settings.generation.value:
        found.forget(settings.generation.value)
    if kind not in found.plans:
        repeats = found.repeats[kind] = found.repeats.get(kind, -1) + 1
        if not preparation.pays(repeats):
            return
        found.plans[kind] = _plan_of(
            function, device_target, found.kernel, args, [key for _, key in pairs], given, call
        )
    plan = found.plans[kind]
    if plan is not None:
        function.warmups = function.warmups or LaunchTable(partial(_anew, function))
        function.warmups.put(plan)


def _anew(function: Any, grid: Any, /, *args: Any, **keywords: Any) -> Any:
    return function.warmup_anew(*args, grid=grid, **keywords)


def _plan_of(
    function: Any,
    device_target: DeviceTarget,
    kernel: Any,
    args: Sequence[Any],
    keys: Sequence[Any],
    given: dict[str, Any],
    call: Call,
) -> Any:
    native = _native.native_fastpath()
    backend = _nothing(native, kernel, device_target, args) if native is not None else None
    if backend is None:
        return None
    how = Call(call.positional, tuple(name for name in call.keywords if name != "warmup"))
    rules, outside = function._rules, function._globals or ()
    template, make = bytes(backend.packer.size), _plan.make_plan
    return make(native, backend, kernel, rules, args, keys, given, how, outside, result=kernel, template=template)


def _nothing(native: Any, kernel: Any, device_target: DeviceTarget, args: Sequence[Any]) -> Any:
    """The launch backend of a plan that launches nothing; None for emulated GPUs."""
    signature = kernel.src.signature
    packer = _packing.Packer(list(signature), list(signature.values()))
    words = {"launch": native.address("tt.nothing"), "stream_kind": 0}
    active: list[Any] = []
    if not any(is_array(v) or isinstance(v, TensorDescriptor) for v in args if not isinstance(v, MockTensor)):
        active.append({"check": "holds", "call": _serves, "object": device_target, "expected": True})
    places: dict[str, Any]
    if isinstance(device_target.driver, CPUDriver):
        places = {"numpy": (_host, HOST), "torch": (attrgetter("is_cpu"), True), "pointer": (place_of, HOST)}
        device, where, only = HOST, (_torch_abi.CPU, -1), True
    elif device_target.driver is driver.cuda:
        device, only = device_target.device, _devices.library().device_count == 1
        torch = (attrgetter("is_cuda"), True) if only else (methodcaller("get_device"), device)
        places, where = {"torch": torch, "pointer": (place_of, device)}, (_torch_abi.CUDA, device)
    else:
        return None
    return _launch_backend.LaunchBackend(packer, device, where, only, places, words, _fail, None, active)


def _host(value: Any) -> int:
    return HOST


def _serves(device_target: DeviceTarget) -> bool:
    """Whether a warmup without arrays would still be for this device."""
    now = driver.serving(None)
    return now.driver is device_target.driver and now.device == device_target.device


def _fail(*unused: Any) -> None:
    """Nothing was launched that could have failed."""
