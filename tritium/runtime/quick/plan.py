"""From a launch that worked to the plan of the next: what each argument must be for the same kernel to be right.

A plan (`table.Plan`) is checked and carried out by native code, in a tenth of the time that Python needs. Where it ends
(`Ending`) is the launcher's part: the CPU's and the GPU's differ in nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple

from ...compiler import CompiledKernel
from ...frontend.captured_globals import CapturedGlobal
from .. import arrays
from ..errors import ArgumentError
from ..grid import normalize_grid
from ..packing import padded
from ..specialize import ALIGNED, ParameterRule, integer_range
from ..stream import stream_handle
from ..tensor_descriptor import TensorDescriptor, element_bytes
from ..tensor_maps import MapEncoder
from ..torch_abi import functions_for, look_at, state_of
from .ending import Ending, Row
from .fields import FIELDS, FRAME_HEAD
from .native import Native, Plan, native_quick
from .table import LAUNCH_ONLY, Call

__all__ = ["make_plan", "quick_plan"]

_KEPT = 256  # descriptors that a plan remembers, for each argument

_value = attrgetter("value")
_STREAM_AT = 8 * FIELDS["frame"].index("stream") - FRAME_HEAD  # counted from the parameters, as all places


def quick_plan(
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
    result: Any = None,
) -> Plan | None:
    """The plan for launches like this one: `args` has a value for each parameter, `keys` its specialization.

    `positions` are the numbers of the parameters that arguments by position are for, unless that is their order;
    `result` is what a launch returns. The plan does not fit once one of `global_values` changed. None where there can
    be no plan: for tuples, arrays that take more than a look to read, a kernel whose launcher has no ending for it
    (`launcher.ending(device)`), and where there is no native code.
    """
    native = native_quick()
    ending = kernel.launcher.ending(device) if native is not None else None
    if native is None or ending is None:
        return None
    return make_plan(
        native, ending, kernel, rules, args, keys, options, call, global_values, positions=positions, result=result
    )


def make_plan(
    native: Native,
    ending: Ending,
    kernel: CompiledKernel,
    rules: Sequence[ParameterRule],
    args: Sequence[Any],
    keys: Sequence[Any],
    options: Mapping[str, Any],
    call: Call,
    global_values: Sequence[CapturedGlobal] = (),
    *,
    positions: Sequence[int] | None = None,
    result: Any = None,
    template: bytes | None = None,
) -> Plan | None:
    """The same for a given ending; `template` are the parameters, where `args` cannot be packed."""
    numbers = _parameters_of(call, rules, positions)
    by_parameter = _rows_of(ending, rules, args, list(kernel.src.signature.values()), keys)
    if by_parameter is None or not all(_fixed(args[i]) for i in set(range(len(args))) - set(numbers)):
        return None
    rows: list[Row] = []
    names: list[str | None] = []
    for number in numbers:
        name = rules[number].name if isinstance(number, int) else number
        rows.append(by_parameter[number] if isinstance(number, int) else _option(name, options[name]))
        names.append(None if name in LAUNCH_ONLY and not isinstance(number, int) else name)
    rows += ending.rows
    rows += [row for outside in global_values for row in _outside(outside)]
    return Plan(
        native,
        *call,
        rows,
        ending.packer(args, ending.device)[0] if template is None else template,
        names,
        {**{r.name: value for r, value in zip(rules, args)}, **dict.fromkeys(n for n in names if n is not None)},
        {
            **ending.words,
            **({"stream_kind": 0} if "stream" in numbers and options["stream"] is not None else {}),
            "normalize": partial(_normalize, kernel.name),
            "result": result,
            "report": ending.report,
        },
        ending.keep,
    )


def _normalize(name: str, grid: Any) -> tuple[int, int, int]:
    return normalize_grid(grid, None, name)


def _parameters_of(call: Call, rules: Sequence[ParameterRule], positions: Sequence[int] | None) -> list[int | str]:
    """For each argument of the call the number of its parameter, or the keyword of an option."""
    by_name = {rule.name: number for number, rule in enumerate(rules)}
    return [
        *(range(call.positional) if positions is None else positions),
        *(by_name.get(name, name) for name in call.keywords),
    ]


def _fixed(value: Any) -> bool:
    """Whether a parameter's default stands for the same bits at every launch."""
    return not arrays.is_array(value) and not isinstance(value, (tuple, list, TensorDescriptor))


def _outside(outside: CapturedGlobal) -> Iterator[Row]:
    """The name stands for the same object, and that for the same value."""
    yield {"check": "entry", "object": outside.scope, "place": outside.name, "expected": outside.value}
    if not outside.settled:
        yield {"check": "holds", "call": CapturedGlobal.holds, "object": outside, "expected": True}
    elif outside.inner is not outside.value:
        yield {"check": "holds", "call": _value, "object": outside.value, "expected": outside.inner}


def _option(name: str, value: Any) -> Row:
    if name == "stream" and value is not None:
        return {"check": "address", "type": type(value), "call": stream_handle, "at": _STREAM_AT, "size": 8}
    return _constant(value)


def _rows_of(
    ending: Ending, rules: Sequence[ParameterRule], args: Sequence[Any], types: Sequence[Any], keys: Sequence[Any]
) -> list[Row] | None:
    """A row for each parameter; None where one of them can have none."""
    packer = ending.packer
    places = packer.layout.places(packer.codes)
    encoders = iter(ending.encoders)
    rows: list[Row] = []
    for rule, value, ty, key, span in zip(rules, args, types, keys, packer.spans):
        if ty == "constexpr":
            rows.append(_constant(value))
            continue
        if isinstance(value, arrays.MockTensor):
            rows.append({"check": "is", "object": value.given})
            continue
        spot = _Spot(packer.codes[span], places[span])
        row = _argument(ending, rule, value, ty, key, spot, encoders)
        if row is None:
            return None
        rows.append(row)
    return rows


class _Spot(NamedTuple):
    """Where an argument stands among the parameters: the codes of its values, and their places."""

    codes: Sequence[str]
    places: Sequence[tuple[int, int]]

    @property
    def fields(self) -> dict[str, int]:
        """The fields of a row that say so."""
        first, last = self.places[0], self.places[-1]
        return {"at": first[0], "size": last[0] + last[1] - first[0]}


def _constant(value: Any) -> Row:
    """A compile-time value: a number or text of the same type and value, else this very object."""
    if type(value) is float:
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        return {"check": "bits", "type": float, "low": bits}
    if type(value) in (int, str):
        return {"check": "equal", "type": type(value), "object": value}
    return {"check": "is", "object": value}


def _argument(
    ending: Ending,
    rule: ParameterRule,
    value: Any,
    ty: Any,
    key: Any,
    spot: _Spot,
    encoders: Iterator[MapEncoder | None],
) -> Row | None:
    if not isinstance(ty, str):
        return None
    if ty.startswith("tensordesc"):
        return _descriptor(ending, value, spot, next(encoders, None))
    if ty[0] == "*":
        return _pointer(ending, rule, value, key, spot)
    if ty in ("fp32", "fp64") and type(value) is float:
        size = {"fp32": 4, "fp64": 8}[ty]
        return {"check": "float", "type": float, "at": spot.places[0][0], "size": size}
    if ty in ("i1", "u1") and type(value) is bool:
        return {"check": "bool", "type": bool, **spot.fields}
    limits = integer_range(ty)
    if limits is None or type(value) is not int or ty in ("i1", "u1"):
        return None
    return _integer(rule, ty, key, limits, spot)


def _divisible(rule: ParameterRule, key: Any) -> dict[str, int]:
    """What a row says of divisibility by 16."""
    if key == ALIGNED:
        return {"mask": 15, "want": 0}
    return {"mask": 15, "want": 1} if rule.alignment else {}


def _integer(rule: ParameterRule, ty: str, key: Any, limits: tuple[int, int], spot: _Spot) -> Row:
    row = {"type": int, **spot.fields, **_divisible(rule, key)}
    if key != ALIGNED and rule.special:
        row |= {"object": 1, "call": 1}  # 1 is a kernel of its own
    elif key == ALIGNED and rule.divides:
        row |= {"object": 0, "call": 1}  # and so is the divisor 0
    by_value = not rule.type and ty != "i32"  # of the types that values choose between, the narrowest that holds it
    if ty == "u64":
        return {**row, "check": "unsigned", "low": 1 << 63 if by_value else 0}
    return {**row, "check": "integer", "low": limits[0], "high": limits[1], "expected": int(by_value)}


def _pointer(ending: Ending, rule: ParameterRule, value: Any, key: Any, spot: _Spot) -> Row | None:
    adapter = arrays.adapter_of(value)
    row: dict[str, Any] = {"type": type(value), "at": spot.places[0][0], "size": 8, **_divisible(rule, key)}
    stored = row["at"] in ending.stored
    if adapter == "wrapper":
        read = _wrapped(ending, value, stored)
        return None if read is None else {**row, "check": "address", "call": read}
    if adapter == "numpy":
        if "numpy" not in ending.places or not arrays.quick_numpy_reads(value):
            return None
        return {**row, "check": "numpy_stored" if stored else "numpy", "object": value.dtype}
    if adapter not in ending.places:
        return None
    place, expected = ending.places[adapter]
    if place(value) is not expected:
        return None
    functions = functions_for(value) if adapter == "torch" else 0
    seen = look_at(value) if functions else None
    if seen is not None and seen[2:] == ending.where and seen.address == value.data_ptr():
        where = (-1 if ending.only else seen.index) & 0xFFFFFFFF | value.element_size() << 32
        known = {"low": seen.dtype, "high": seen.device, "expected": where, "object": state_of(value)}
        return {**row, "check": "tensor", "call": functions, **known}
    if adapter == "torch":
        read = arrays.torch_address
    else:
        read = getattr(type(value), "data_ptr", None) or methodcaller("data_ptr")
    found = {"object": value.dtype, "low": "dtype", "place": place, "expected": expected}
    return {**row, "check": "array", "call": read, **found}


def _wrapped(ending: Ending, value: Any, stored: bool) -> Callable[[Any], int | None] | None:
    """A function that gives the address of a wrapped array like this one, None for others."""
    inner = _reader(ending, value.base, stored)
    if inner is None:
        return None
    read, dtype = inner, value.dtype
    return lambda wrapper: read(wrapper.base) if wrapper.dtype == dtype else None


def _reader(ending: Ending, array: Any, stored: bool) -> Callable[[Any], int | None] | None:
    """A function that gives the address of an array of the same class, elements and place, None for others.

    Read-only arrays are others too, where the array is `stored` to.
    """
    adapter = arrays.adapter_of(array)
    if adapter not in ending.places or adapter == "wrapper":
        return None
    (place, expected), cls, dtype = ending.places[adapter], type(array), array.dtype
    readers = {"numpy": arrays.numpy_address, "torch": arrays.torch_address}
    address = readers.get(adapter) or methodcaller("data_ptr")

    def read(value: Any) -> int | None:
        same = value.__class__ is cls and value.dtype is dtype and place(value) is expected
        return address(value) if same and not (stored and arrays.is_read_only(value)) else None  # type: ignore[no-any-return]

    return read


def _descriptor(ending: Ending, value: TensorDescriptor, spot: _Spot, encoder: MapEncoder | None) -> Row | None:
    """The parameters of a descriptor, remembered by its address, shape and strides; its base, block and padding are
    those of `value`."""
    read = _reader(ending, value.base, spot.places[0][0] in ending.stored)
    if read is None:
        return None
    address, block, padding = read, copy(value.block_shape), value.padding
    make = _values(ending, value, encoder)
    pack = struct.Struct(f"<{padded(spot.codes, spot.places)}").pack
    known: dict[tuple[Any, ...], bytes] = {}

    def encode(descriptor: TensorDescriptor) -> bytes | None:
        at = address(descriptor.base)
        if at is None or descriptor.block_shape != block or descriptor.padding != padding:
            return None
        key = at, descriptor.round_f32_to_tf32, *descriptor.shape, *descriptor.strides
        found = known.get(key)
        if found is None and (values := make(descriptor, at)) is not None:
            if len(known) >= _KEPT:
                known.clear()
            try:
                found = known[key] = pack(*values)
            except struct.error:  # the same
                return None
        return found

    return {"check": "bytes", "type": type(value), "call": encode, **spot.fields}


_Make = Callable[[TensorDescriptor, int], "Sequence[Any] | None"]


def _values(ending: Ending, like: TensorDescriptor, encoder: MapEncoder | None) -> _Make:
    """What gives the values of a descriptor at an address; None where the kernel may be another than that of `like`."""
    info = arrays.describe(like.base)
    assert info is not None
    size, times = element_bytes(info.element), 2 if ending.packer.layout.attributes else 1
    uneven = like.has_uneven_rows(size)

    def make(descriptor: TensorDescriptor, address: int) -> Sequence[Any] | None:
        if descriptor.has_uneven_rows(size) is not uneven:
            return None
        if encoder is None:
            return address, *(*descriptor.shape, *descriptor.strides) * times
        try:
            return encoder(descriptor, address, "")
        except ArgumentError:  # the launch by Python says which argument it is
            return None

    return make
