"""Quick launchers: a Python function written for one specialization of a kernel.

It checks as cheaply as can be that the next call is of the same kind, and goes straight to machine code if so: a launch
of one program takes 2 to 3 us that way instead of 15. What arguments look like in memory, and which call it ends with,
is the launcher's part (`Ending`): the CPU's and the GPU's differ in nothing else.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

from ..compiler import CompiledKernel
from ..support import settings
from . import arrays
from .binder import MISS
from .grid import LIMIT, normalize_grid
from .packing import QUICK_BYTES, Layout
from .specialize import ALIGNED, ParameterRule, integer_range
from .tensor_descriptor import TensorDescriptor
from .tensor_maps import MapEncoder

__all__ = ["Ending", "quick_launcher"]


class Ending(NamedTuple):
    """What quick launchers of one kind of kernel end with.

    `layout` is that of the arguments. `places` says, for each way to read an array (`arrays.adapter_of`), the condition
    that the array `{x}` is where the kernel runs ("" for none); arrays read in other ways take no quick launcher.
    `launch(arguments, x, y, z, <rest>)` is the call of machine code: its result is None, or what
    `report(result, grid)` makes an error of. `names` are those that the conditions and `rest` use. `encoders` make the
    maps of tensor descriptors, in order; without any, kernels that take some have no quick launcher.
    """

    layout: Layout
    places: dict[str, str]
    launch: Callable[..., Any]
    rest: str
    report: Callable[[Any, Any], None]
    names: dict[str, Any]
    encoders: Sequence[MapEncoder | None] = ()


# under names that no parameter of a kernel has
_BUILTINS = {f"_tt_{f.__name__}": f for f in (id, len, int, bool, float, str, tuple, callable)}


class _Writer:
    """Collects the conditions and values of a quick launcher, and the constants its code refers to."""

    def __init__(self, ending: Ending) -> None:
        self.ending = ending
        self.constants: dict[str, Any] = {}
        self.conditions: list[str] = []  # on classes and values: cheap, and they make the rest safe
        self.addresses: list[str] = []  # statements
        self.aligned: list[str] = []
        self.unaligned: list[str] = []
        self.maps: list[str] = []  # statements, and the names they assign
        self.mapped: list[str] = []
        self.encoders = iter(ending.encoders)
        self.codes: list[str] = []
        self.values: list[str] = []

    def constant(self, value: Any) -> str:
        name = f"_tt_{len(self.constants)}"
        self.constants[name] = value
        return name


def quick_launcher(
    kernel: CompiledKernel,
    device: Any,
    rules: Sequence[ParameterRule],
    args: Sequence[Any],
    keys: Sequence[Any],
    options: dict[str, Any],
    global_values: Sequence[tuple[str, Any, dict[str, Any]]] = (),
) -> Callable[..., Any] | None:
    """`launch(grid, *args, options)` for arguments like `args`, which have the specialization (`types`, `keys`).

    For anything else it does nothing and returns MISS; so it does once one of `global_values` (name, value, the dict it
    was found in) changed. None where such a function cannot be written: tuples, arrays that take more than a look to
    read, a kernel whose launcher has no ending for it (`launcher.ending(device)`).
    """
    ending = kernel.launcher.ending(device) if QUICK_BYTES else None
    if ending is None:
        return None
    w = _Writer(ending)
    for rule, value, ty, key in zip(rules, args, kernel.src.signature.values(), keys):
        if not _write_argument(w, rule, value, ty, key):
            return None
    for name, value, scope in global_values:
        w.conditions.append(f"{w.constant(scope)}.get({name!r}) is {w.constant(value)}")
    return _assemble(w, kernel, [rule.name for rule in rules], options)


def _write_argument(w: _Writer, rule: ParameterRule, value: Any, ty: Any, key: Any) -> bool:
    if ty == "constexpr":
        return _write_constant(w, rule.name, value)
    if not isinstance(ty, str):
        return False
    if ty.startswith("tensordesc"):
        return _write_descriptor(w, rule, value)
    if ty[0] == "*":
        return _write_pointer(w, rule, value, key)
    w.codes.append(w.ending.layout.code(ty))
    w.values.append(rule.name)
    if ty.startswith("fp") and type(value) is float and ty != "fp16":
        w.conditions.append(f"{rule.name}.__class__ is _tt_float and -3.4e38 < {rule.name} < 3.4e38")
        return True
    if ty == "u1" and type(value) is bool:
        w.conditions.append(f"{rule.name}.__class__ is _tt_bool")
        return True
    limits = integer_range(ty)
    if limits is None or type(value) is not int:
        return False
    return _write_integer(w, rule, ty, key, limits)


def _write_constant(w: _Writer, name: str, value: Any) -> bool:
    if value is None:
        w.conditions.append(f"{name} is None")
    elif type(value) in (int, bool, str):
        w.conditions.append(f"{name}.__class__ is _tt_{type(value).__name__} and {name} == {value!r}")
    elif type(value) is float:
        w.conditions.append(f"{name}.__class__ is _tt_float and {name}.hex() == {value.hex()!r}")
    elif isinstance(value, (tuple, list)) or type(value).__name__ == "constexpr":
        return False
    else:
        w.conditions.append(f"{name} is {w.constant(value)}")
    return True


def _write_integer(w: _Writer, rule: ParameterRule, ty: str, key: Any, limits: tuple[int, int]) -> bool:
    name = rule.name
    test = f"{name}.__class__ is _tt_int and {limits[0]} <= {name} <= {limits[1]}"
    if not rule.type and ty != "i32":
        # of the types that values choose between, the narrowest that holds it
        test += f" and not {-(1 << 31)} <= {name} <= {(1 << 31) - 1}"
        if ty == "u64":
            test += f" and {name} > {(1 << 63) - 1}"
    if key == ALIGNED:
        test += f" and not {name} & 15"
    elif rule.alignment:
        test += f" and {name} & 15"
    if key != ALIGNED and rule.special:
        test += f" and {name} != 1"
    w.conditions.append(test)
    return True


def _write_pointer(w: _Writer, rule: ParameterRule, value: Any, key: Any) -> bool:
    name = rule.name
    adapter, array, known = arrays.adapter_of(value), name, w.constant(type(value))
    tests = [f"{name}.__class__ is {known}"]
    if adapter == "wrapper":
        base = value.base
        adapter, array = arrays.adapter_of(base), f"{name}.base"
        tests.append(f"{array}.__class__ is {w.constant(type(base))}")
    place = w.ending.places.get(adapter)
    if place is None:
        return False
    if place:
        tests.append(place.format(x=array))
    address = f"_tt_p{len(w.codes)}"
    statement = f"{address} = {name}.data_ptr()"
    if adapter == "numpy" and array is name:
        if not arrays.quick_numpy_reads():
            return False
        statement = f"{address} = _tt_word(_tt_id({name}) + {object.__basicsize__}).value"
    w.conditions.append(f"{' and '.join(tests)} and {name}.dtype is {w.constant(value.dtype)}")
    w.addresses.append(statement)
    if rule.alignment:
        (w.aligned if key == ALIGNED else w.unaligned).append(address)
    w.codes.append("Q")
    w.values.append(address)
    return True


def _write_descriptor(w: _Writer, rule: ParameterRule, value: TensorDescriptor) -> bool:
    encoder = next(w.encoders, None)
    adapter = arrays.adapter_of(value.base)
    place = w.ending.places.get(adapter)
    if encoder is None or place is None or adapter == "wrapper":
        return False
    name, base, number = rule.name, f"{rule.name}.base", len(w.values)
    w.conditions.append(
        f"{name}.__class__ is {w.constant(type(value))} and {base}.__class__ is {w.constant(type(value.base))}"
        f"{' and ' + place.format(x=base) if place else ''} and {base}.dtype is {w.constant(value.base.dtype)}"
        f" and {name}.block_shape == {w.constant(copy(value.block_shape))} and {name}.padding == {value.padding!r}"
    )
    w.maps.append(f"_tt_m{number} = {w.constant(encoder.known)}({name}, {base}.data_ptr())")
    w.mapped.append(f"_tt_m{number}")
    rank = len(value.shape)
    w.codes += w.ending.layout.descriptor(rank, mapped=True)
    w.values.append(f"*_tt_m{number}")
    return True


def _assemble(w: _Writer, kernel: CompiledKernel, names: list[str], options: dict[str, Any]) -> Callable[..., Any]:
    parameters = ", ".join(names)
    conditions = ["_tt_generation.value == _tt_now", "not _tt_options" if not options else "_tt_options == _tt_same"]
    alignment = [f"{m} is not None" for m in w.mapped] + [f"{a} & 15" for a in w.unaligned]
    if w.aligned:
        alignment.append(f"not ({' | '.join(w.aligned)}) & 15")
    ending, rest = w.ending, f", {w.ending.rest}" if w.ending.rest else ""
    meta = ", ".join(f"{n!r}: {n}" for n in names)
    call = f"_tt_launch(_tt_id(_tt_slots) + {bytes.__basicsize__ - 1}"
    is_tuple = "_tt_grid.__class__ is _tt_tuple and _tt_len(_tt_grid) == 1"
    lines = [
        f"def launch(_tt_grid, {parameters}{', ' if names else ''}_tt_options):",
        f"    if {' and '.join(conditions + w.conditions)}:",
        *(f"        {line}" for line in (*w.addresses, *w.maps)),
        f"        if {' and '.join(alignment) or 'True'}:",
        f"            _tt_slots = _tt_pack({', '.join(w.values)})",
        f"            if {is_tuple} and _tt_grid[0].__class__ is _tt_int and _tt_grid[0] <= {LIMIT}:",
        f"                _tt_record = {call}, _tt_grid[0], 1, 1{rest})",
        "            else:",
        "                if _tt_callable(_tt_grid):",
        f"                    _tt_grid = _tt_grid({{{meta}{', ' if meta else ''}**_tt_options}})",
        "                _tt_x, _tt_y, _tt_z = _tt_grid = _tt_normalize(_tt_grid, None, _tt_name)",
        f"                _tt_record = {call}, _tt_x, _tt_y, _tt_z{rest})",
        "            if _tt_record is None:",
        "                return _tt_kernel",
        "            _tt_report(_tt_record, _tt_grid)",
        "    return _tt_miss",
    ]
    scope: dict[str, Any] = {
        **w.constants,
        **_BUILTINS,
        **ending.names,
        "_tt_generation": settings.generation,
        "_tt_now": settings.generation.value,
        "_tt_same": dict(options),
        "_tt_word": ctypes.c_size_t.from_address,
        "_tt_pack": struct.Struct(ending.layout.format(w.codes)).pack,
        "_tt_launch": ending.launch,
        "_tt_normalize": normalize_grid,
        "_tt_name": kernel.name,
        "_tt_kernel": kernel,
        "_tt_report": ending.report,
        "_tt_miss": MISS,
    }
    exec(compile("\n".join(lines), f"<launch of {kernel.name}>", "exec"), scope)
    return scope["launch"]
