"""Launch plans: the guards under which the next launch of the same kind may run the same kernel.

A plan (`native.Plan`) is checked and executed by native code, in a tenth of the time that Python needs. Its last part
(`LaunchBackend`) comes from the launcher: plans for the CPU and for GPUs differ in nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...compiler import CompiledKernel
from ...frontend.captured_globals import CapturedGlobal
from .. import arrays
from ..grid import normalize_grid
from ..kernel_versions import persistent_grid
from ..packing import Packer, padded
from ..specialize import ALIGNED, ParameterRule, integer_range
from ..stream import stream_handle
from ..tensor_descriptor import TensorDescriptor
from ..tensor_maps import Im2ColEncoder, MapEncoder, NotEncodable
from ..torch_abi import functions_for, kind_of
from .descriptors import DescriptorMemo
from .fields import FIELDS, FRAME_HEAD
from .launch_backend import ArgumentGuard, LaunchBackend
from .native import Native, Plan, native_fastpath
from .table import LAUNCH_ONLY, Call

if TYPE_CHECKING:
    from ..host_maps import HostMaps

__all__ = ["make_plan", "launch_plan"]

_KEPT = 2048  # memoized tensor maps of a plan

_value = attrgetter("value")
_STREAM_AT = 8 * FIELDS["frame"].index("stream") - FRAME_HEAD  # relative to the parameters, as all offsets


def launch_plan(
    kernel: CompiledKernel,
    device: Any,
    rules: Sequence[ParameterRule],
    args: Sequence[Any],
    keys: Sequence[Any],
    options: Mapping[str, Any],
    call: Call,
    global_values: Sequence[CapturedGlobal] = (),
    *,
    positions: Sequence[int] | None = None,
    result: object = None,
    unless: HostMaps | None = None,
) -> Plan | None:
    """The plan for launches like this one: `args` has a value for each parameter, `keys` its specialization.

    `positions` are the indices of the parameters of the positional arguments, unless they are in order; `result` is the
    return value of a launch. The plan no longer applies once one of `global_values` changes, nor to launches for which
    `unless`, the maps of another version of the kernel, can be made. None where no plan is possible: for tuples, arrays
    without a native reader, a kernel whose launcher has no backend (`launcher.launch_backend(device)`), and without
    native code.
    """
    native = native_fastpath()
    launcher: Any = kernel.launcher
    backend: LaunchBackend | None = launcher.launch_backend(device) if native is not None else None
    if native is None or backend is None:
        return None
    return make_plan(
        native, backend, kernel, rules, args, keys, options, call, global_values, positions=positions, result=result,
        unless=unless,
    )  # fmt: skip


def make_plan(
    native: Native,
    backend: LaunchBackend,
    kernel: CompiledKernel,
    rules: Sequence[ParameterRule],
    args: Sequence[Any],
    keys: Sequence[Any],
    options: Mapping[str, Any],
    call: Call,
    global_values: Sequence[CapturedGlobal] = (),
    *,
    positions: Sequence[int] | None = None,
    result: object = None,
    template: bytes | None = None,
    unless: HostMaps | None = None,
) -> Plan | None:
    """`launch_plan` for a given backend; `template` are the parameter bytes, where `args` cannot be packed."""
    numbers = _parameters_of(call, rules, positions)
    by_parameter = _argument_guards(backend, rules, args, list(kernel.src.signature.values()), keys)
    defaults = set(range(len(args))).difference(numbers)
    if by_parameter is None or not all(_fixed(args[i]) for i in defaults):
        return None
    guards: list[ArgumentGuard] = []
    names: list[str | None] = []
    for number in numbers:
        name = rules[number].name if isinstance(number, int) else number
        guards.append(by_parameter[number] if isinstance(number, int) else _option(name, options[name]))
        names.append(None if name in LAUNCH_ONLY and not isinstance(number, int) else name)
    guards += backend.guards
    guards += [guard for captured in global_values for guard in _global_guards(captured)]
    guards += _map_guards(backend.packer, unless) if template is None else ()
    guards += _grid_guards(backend.resident)
    return Plan(
        native,
        *call,
        guards,
        _template(backend, args, defaults) if template is None else template,
        names,
        {**{r.name: value for r, value in zip(rules, args)}, **dict.fromkeys(n for n in names if n is not None)},
        {
            **backend.words,
            **({"stream_kind": 0} if "stream" in numbers and options["stream"] is not None else {}),
            "normalize": partial(_normalize, kernel.name),
            "result": result,
            "report": backend.report,
        },
        backend.keep,
    )


def _template(backend: LaunchBackend, args: Sequence[Any], defaults: Collection[int]) -> bytes:
    """Parameter bytes for launches to start from: those of parameters that a call leaves out, and of maps. Guards store
    the others."""
    packer = backend.packer
    if packer.maps is None and not any(i in defaults for i in packer.runtime):
        return bytes(packer.size)
    return packer(args, backend.device)[0]


class _Maps(dict[bytes, "bytes | None"]):
    """The parameter bytes that `maps` makes, memoized by the bytes of a frame: its grid, and the arguments up to the
    last one that they are made from. None for a launch that the kernel cannot run (`tensor_maps.NotEncodable`).

    `read` and `write` are the offsets and lengths of both in a frame.
    """

    def __init__(self, packer: Packer, maps: HostMaps) -> None:
        places, at = packer.layout.places(packer.codes), packer.first_map
        self._maps, used = maps, maps.arguments
        self._first, end = min(used, default=0), max(used, default=-1) + 1
        start, length = _span(places[self._first : end])
        self.read = start + FRAME_HEAD, length
        self._arguments = struct.Struct(f"<{padded(packer.codes[self._first : end], places[self._first : end])}").unpack
        self._grid = 0
        if maps.conditional:
            self.read, self._grid = (0, start + FRAME_HEAD + length), start + FRAME_HEAD
        self.write = _span(places[at:])
        self._pack = struct.Struct(f"<{padded(packer.codes[at:], places[at:])}").pack

    def __missing__(self, key: bytes) -> bytes | None:
        values = dict(enumerate(self._arguments(key[self._grid :]), self._first))
        grid = _GRID.unpack_from(key) if self._grid else None
        try:
            found: bytes | None = self.bytes_of(values, grid)
        except NotEncodable:
            found = None
        if len(self) >= _KEPT:
            self.clear()
        self[key] = found
        return found

    def bytes_of(self, values: Mapping[int, int], grid: Sequence[int] | None) -> bytes | None:
        """The bytes; raises NotEncodable."""
        return self._pack(*self._maps(values, grid))


class _OtherVersion(_Maps):
    """No bytes for launches that another version of the kernel, with these maps, cannot run; None for others."""

    def __init__(self, packer: Packer, maps: HostMaps) -> None:
        super().__init__(packer, maps)
        self.write = 0, 0

    def bytes_of(self, values: Mapping[int, int], grid: Sequence[int] | None) -> bytes | None:
        """None where the other version can run, else b""."""
        try:
            self._maps(values, grid)
        except NotEncodable:
            return b""
        return None


_GRID = struct.Struct("<3q")


def _span(places: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The offset of the first of consecutive values, and the bytes that they take."""
    if not places:
        return 0, 0
    return places[0][0], sum(places[-1]) - places[0][0]


def _map_guards(packer: Packer, unless: HostMaps | None) -> Iterator[ArgumentGuard]:
    """Guards after all others: one that the maps of `unless` cannot be made, and one that makes those of the kernel."""
    made = [] if unless is None else [_OtherVersion(packer, unless)]
    for maps in [*made, *([] if packer.maps is None else [_Maps(packer, packer.maps)])]:
        (start, length), (at, size) = maps.read, maps.write
        yield {"check": "derived", "call": maps.__getitem__, "low": start, "high": length, "at": at, "size": size}


def _grid_guards(resident: int) -> Iterator[ArgumentGuard]:
    """After all others: a guard that replaces the grid of a persistent kernel by the programs that are started."""
    if resident:

        def started(grid: bytes) -> bytes:
            return _GRID.pack(*persistent_grid(_GRID.unpack(grid), resident))

        yield {"check": "derived", "call": started, "low": 0, "high": _GRID.size, "at": -FRAME_HEAD, "size": _GRID.size}


def _normalize(name: str, grid: Any) -> tuple[int, int, int]:
    return normalize_grid(grid, None, name)


def _parameters_of(call: Call, rules: Sequence[ParameterRule], positions: Sequence[int] | None) -> list[int | str]:
    """For each argument of the call the index of its parameter, or the keyword of an option."""
    by_name = {rule.name: number for number, rule in enumerate(rules)}
    return [
        *(range(call.positional) if positions is None else positions),
        *(by_name.get(name, name) for name in call.keywords),
    ]


def _fixed(value: Any) -> bool:
    """Whether a parameter's default has the same bits at every launch."""
    return not arrays.is_array(value) and not isinstance(value, (tuple, list, TensorDescriptor))


def _global_guards(captured: CapturedGlobal) -> Iterator[ArgumentGuard]:
    """Guards that a global name refers to the same object, and the object to the same value."""
    yield {"check": "entry", "object": captured.scope, "place": captured.name, "expected": captured.value}
    if not captured.settled:
        yield {"check": "holds", "call": CapturedGlobal.holds, "object": captured, "expected": True}
    elif captured.inner is not captured.value:
        yield {"check": "holds", "call": _value, "object": captured.value, "expected": captured.inner}


def _option(name: str, value: Any) -> ArgumentGuard:
    if name == "stream" and value is not None:
        return {"check": "address", "type": type(value), "call": stream_handle, "at": _STREAM_AT, "size": 8}
    return _constant(value)


def _argument_guards(
    backend: LaunchBackend,
    rules: Sequence[ParameterRule],
    args: Sequence[Any],
    types: Sequence[Any],
    keys: Sequence[Any],
) -> list[ArgumentGuard] | None:
    """A guard for each parameter; None if a parameter cannot have one."""
    packer = backend.packer
    places = packer.layout.places(packer.codes)
    encoders = iter(backend.encoders)
    guards: list[ArgumentGuard] = []
    for rule, value, ty, key, span in zip(rules, args, types, keys, packer.spans):
        if ty == "constexpr":
            guards.append(_constant(value))
            continue
        if isinstance(value, arrays.MockTensor):
            guards.append({"check": "is", "object": value.given})
            continue
        slot = _Slot(packer.codes[span], places[span])
        guard = _argument(backend, rule, value, ty, key, slot, encoders)
        if guard is None:
            return None
        guards.append(guard)
    return guards


class _Slot(NamedTuple):
    """An argument among the parameter bytes: the format codes of its values, and their (offset, size)."""

    codes: Sequence[str]
    places: Sequence[tuple[int, int]]

    @property
    def fields(self) -> dict[str, int]:
        """The fields of a guard for them."""
        first, last = self.places[0], self.places[-1]
        return {"at": first[0], "size": last[0] + last[1] - first[0]}


def _constant(value: Any) -> ArgumentGuard:
    """A compile-time value: a number or string of the same type and value, else the same object."""
    if type(value) is float:
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        return {"check": "bits", "type": float, "low": bits}
    if type(value) in (int, str):
        return {"check": "equal", "type": type(value), "object": value}
    return {"check": "is", "object": value}


def _argument(
    backend: LaunchBackend,
    rule: ParameterRule,
    value: Any,
    ty: Any,
    key: Any,
    slot: _Slot,
    encoders: Iterator[MapEncoder | None],
) -> ArgumentGuard | None:
    if not isinstance(ty, str):
        return None
    if ty.startswith("tensordesc"):
        return _descriptor(backend, value, slot, next(encoders, None))
    if ty[0] == "*":
        return _pointer(backend, rule, value, key, slot)
    if ty in ("fp32", "fp64") and type(value) is float:
        size = {"fp32": 4, "fp64": 8}[ty]
        return {"check": "float", "type": float, "at": slot.places[0][0], "size": size}
    if ty in ("i1", "u1") and type(value) is bool:
        return {"check": "bool", "type": bool, **slot.fields}
    limits = integer_range(ty)
    if limits is None or type(value) is not int or ty in ("i1", "u1"):
        return None
    if value == 0 and key != ALIGNED and rule.alignment:  # a divisor, which only as 0 is divisible but not so compiled
        return {"type": int, **slot.fields, "mask": 15, "want": 0, "check": "integer", "low": 0, "high": 0}
    return _integer(rule, ty, key, limits, slot)


def _divisible(rule: ParameterRule, key: Any) -> dict[str, int]:
    """The fields of a guard for divisibility by 16."""
    if key == ALIGNED:
        return {"mask": 15, "want": 0}
    return {"mask": 15, "want": 1} if rule.alignment else {}


def _integer(rule: ParameterRule, ty: str, key: Any, limits: tuple[int, int], slot: _Slot) -> ArgumentGuard:
    guard = {"type": int, **slot.fields, **_divisible(rule, key)}
    if key != ALIGNED and rule.special:
        guard |= {"object": 1, "call": 1}  # the value 1 has a kernel of its own
    elif key == ALIGNED and rule.divides:
        guard |= {"object": 0, "call": 1}  # and so has the divisor 0
    by_value = not rule.type and ty != "i32"  # of the types that values choose between, the narrowest that holds it
    if ty == "u64":
        return {**guard, "check": "unsigned", "low": 1 << 63 if by_value else 0}
    return {**guard, "check": "integer", "low": limits[0], "high": limits[1], "expected": int(by_value)}


def _pointer(backend: LaunchBackend, rule: ParameterRule, value: Any, key: Any, slot: _Slot) -> ArgumentGuard | None:
    adapter = arrays.adapter_of(value)
    guard: dict[str, Any] = {"type": type(value), "at": slot.places[0][0], "size": 8, **_divisible(rule, key)}
    stored = guard["at"] in backend.stored
    if adapter == "wrapper":
        read = _wrapped(backend, value, stored)
        return None if read is None else {**guard, "check": "address", "call": read}
    if adapter == "numpy":
        if "numpy" not in backend.places or not arrays.reads_numpy_structure(value):
            return None
        return {**guard, "check": "numpy_stored" if stored else "numpy", "object": value.dtype}
    if adapter not in backend.places:
        return None
    place, expected = backend.places[adapter]
    if place(value) is not expected:
        return None
    functions = functions_for(value) if adapter == "torch" else 0
    kind = kind_of(value) if functions else None
    if kind is not None and kind[1:3] == backend.where:
        where = (-1 if backend.only else kind.device_index) & 0xFFFFFFFF | kind.element_size << 32
        guard |= {"check": "tensor", "call": functions, "low": kind.dtype, "high": kind.device}
        return {**guard, "expected": where, "object": kind.state}
    if adapter == "pointer" and _names_gpu(getattr(value, "device", None)):
        return {**guard, "check": "address", "call": _read_pointer(value)}
    if adapter == "torch":
        read = arrays.torch_address
    else:
        read = getattr(type(value), "data_ptr", None) or methodcaller("data_ptr")
    found = {"object": value.dtype, "low": "dtype", "place": place, "expected": expected}
    return {**guard, "check": "array", "call": read, **found}


def _names_gpu(device: object) -> bool:
    """Whether a device as torch names it is a certain GPU."""
    return getattr(device, "type", "") == "cuda" and isinstance(getattr(device, "index", None), int)


class _Pointing(Protocol):
    """An object with an address, as arrays of other libraries have it."""

    dtype: object
    device: object

    def data_ptr(self) -> int: ...


def _read_pointer(like: _Pointing) -> Callable[[_Pointing], int | None]:
    """A function that returns the address of an object with the element type and the device of this one, None for
    others: each is asked once, since their methods are often Python's."""
    dtype, device = like.dtype, like.device

    def read(value: _Pointing) -> int | None:
        return int(value.data_ptr()) if value.dtype is dtype and value.device == device else None

    return read


def _wrapped(backend: LaunchBackend, value: Any, stored: bool) -> Callable[[Any], int | None] | None:
    """A function that returns the address of a wrapped array like this one, None for others."""
    inner = _reader(backend, value.base, stored)
    if inner is None:
        return None
    read, dtype = inner, value.dtype
    return lambda wrapper: read(wrapper.base) if wrapper.dtype == dtype else None


def _reader(backend: LaunchBackend, array: Any, stored: bool) -> Callable[[Any], int | None] | None:
    """A function that returns the address of an array of the same class, element type and device, None for others.

    It also returns None for read-only arrays, if the array is `stored` to.
    """
    adapter = arrays.adapter_of(array)
    if adapter not in backend.places or adapter == "wrapper":
        return None
    (place, expected), cls, dtype = backend.places[adapter], type(array), array.dtype
    readers = {"numpy": arrays.numpy_address, "torch": arrays.torch_address}
    address = readers.get(adapter) or methodcaller("data_ptr")

    def read(value: Any) -> int | None:
        same = value.__class__ is cls and value.dtype is dtype and place(value) is expected
        found: int | None = address(value) if same and not (stored and arrays.is_read_only(value)) else None
        return found

    return read


def _descriptor(
    backend: LaunchBackend, value: TensorDescriptor, slot: _Slot, encoder: MapEncoder | None
) -> ArgumentGuard | None:
    """A guard that requires the base, block and padding of `value`, and stores the parameters of a descriptor."""
    at = slot.places[0][0]
    read = _reader(backend, value.base, at in backend.stored)
    if read is None:
        return None
    if isinstance(encoder, Im2ColEncoder):  # its map depends on more than address, shape and strides
        return None
    format = f"<{padded(slot.codes, slot.places)}"
    memo = DescriptorMemo(value, read, encoder, 2 if backend.packer.layout.attributes else 1, format)
    memo(value)  # the next launch is likely to be with the same one
    rule = ParameterRule("", False, False, False, False, "")
    base = _pointer(backend, rule, value.base, "", _Slot(slot.codes[:1], slot.places[:1]))
    guard = {"type": type(value), "call": memo, **slot.fields}
    return {"check": "bytes", **guard} if base is None else {"check": "descriptor", "base": base, **guard}
