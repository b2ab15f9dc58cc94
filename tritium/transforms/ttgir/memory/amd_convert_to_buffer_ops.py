"""amd-convert-to-buffer-ops: Access arrays below 2 GB by buffer instructions.

    tt.func @f(%a: !tt.ptr<f16> {tt.pointer_range = 32 : i32}, …)
      %p = tt.splat %a
      %q = tt.addptr %p, %o : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %x = tt.load %q, %m, %z

      %x = amdg.buffer_load %a[%o], %m, %z : tensor<64x64xf16, #blocked>

A buffer instruction adds a 32-bit offset of each lane to an address that all lanes share, so that addresses take one
register each instead of two; and it checks bounds: lanes that are masked off get an offset beyond the buffer, without
a branch around the access.

An argument is below 2 GB where `tt.pointer_range` is 32, as launches specialize arrays whose storage is that small.
Pointers are split into base and offsets by `pointer_offsets`, through loops too; accesses through other pointers,
volatile ones and those with a cache policy stay. (Triton 3.9 has a pass that splits all pointers first,
`canonicalize-pointers`; here those of converted accesses are.)
"""

from __future__ import annotations

from ....dialects import amdg, tt
from ....dialects.tt_types import PointerType
from ....ir import (
    Builder,
    DictionaryAttr,
    IntegerAttr,
    Operation,
    TensorType,
    Value,
    count,
    functions_of,
    may_change,
    pass_on,
)
from .pointer_offsets import PointerOffsets

__all__ = ["amd_convert_to_buffer_ops"]

RANGE = "tt.pointer_range"


@pass_on("function", statistics={"buffer accesses": "loads and stores by buffer instructions"})
def amd_convert_to_buffer_ops(op: Operation) -> bool:
    """Convert loads and stores of arrays below 2 GB to buffer operations, in a function or all of a module."""
    changed = 0
    for func in functions_of(op):
        bases = _small_arguments(func)
        if bases:
            changed += _convert(func, bases)
    count("buffer accesses", changed)
    return changed > 0


def _small_arguments(func: Operation) -> list[Value]:
    """The arguments that point to arrays below 2 GB."""
    given = getattr(func.attributes.get("arg_attrs"), "elements", ())
    small: list[Value] = []
    for argument, attributes in zip(func.regions[0].entry.args, given):
        found = dict(attributes.entries).get(RANGE) if isinstance(attributes, DictionaryAttr) else None
        if isinstance(argument.type, PointerType) and isinstance(found, IntegerAttr) and found.value == 32:
            small.append(argument)
    return small


def _convert(func: Operation, bases: list[Value]) -> int:
    pointers = PointerOffsets(bases)
    changed = 0
    for op in [op for op in func.walk() if isinstance(op, (tt.Load, tt.Store)) and _is_plain(op)]:
        base = pointers.base_of(op.ptr)
        if base is None or not may_change("amd-convert-to-buffer-ops", op):
            continue
        offsets = pointers.offsets(op.ptr)
        b = Builder(op.parent, op, op.loc)
        if isinstance(op, tt.Load):
            loaded = b.add(amdg.BufferLoad(base, offsets, None, op.mask, op.other, result=op.result.type))
            loaded.hint = op.result.hint
            op.replace_with([loaded])
        else:
            b.insert(amdg.BufferStore(op.value, base, offsets, None, op.mask))
            op.erase()
        changed += 1
    return changed


def _is_plain(op: tt.Load | tt.Store) -> bool:
    """Whether an access of a tensor has no cache policy and is not volatile."""
    if not isinstance(op.ptr.type, TensorType) or not isinstance(op.ptr.type.element, PointerType):
        return False
    return op.cachePolicy is None and not getattr(op, "isVolatile", False) and not getattr(op, "ignore_cta", False)
