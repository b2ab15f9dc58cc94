"""amd-convert-to-buffer-ops: Access arrays below 2 GB by buffer instructions.

    tt.func @f(%a: !tt.ptr<f16> {tt.pointer_range = 32 : i32}, …)
      %p = tt.splat %a
      %q = tt.addptr %p, %o : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %x = tt.load %q, %m, %z

      %x = amdg.buffer_load %a[%o], %m, %z : tensor<64x64xf16, #blocked>

A buffer instruction adds a 32-bit offset of each lane to an address that all lanes share, so that addresses take one
register each instead of two; and it checks bounds: lanes that are masked off get an offset beyond the buffer, without
a branch around the access.

An access is converted

1. where its pointers are a scalar pointer plus offsets, of which `analysis.range_analysis` proves that they are not
   negative and below 2 GB in bytes; 64-bit offsets are truncated then;
2. where they are computed from an argument below 2 GB: `tt.pointer_range` is 32, as launches specialize arrays whose
   storage is that small. Such pointers are split into base and offsets by `pointer_offsets`, through loops too.
   (Triton 3.9 has a pass that splits all pointers first, `canonicalize-pointers`.) With `analyze_small_tensor_ofst`
   the offsets must be proved there as well.

Loads, stores, and asynchronous copies on targets that copy from buffers to LDS are converted; atomics as
`amd_buffer_atomics` says, if `allow_buffer_atomics`. Volatile accesses, and loads and stores with a cache policy stay.
"""

from __future__ import annotations

from ....analysis.range_analysis import RangeAnalysis
from ....dialects import amdg, tt, ttg
from ....dialects.tt_types import PointerType
from ....dialects.ttg_context import target_of
from ....dialects.ttg_memory import element_bits
from ....hardware.amd import amd_gpu
from ....ir import (
    Builder,
    DictionaryAttr,
    IntegerAttr,
    Operation,
    TensorType,
    Value,
    count,
    element_type,
    functions_of,
    is_trivially_dead,
    may_change,
    pass_on,
)
from ....support.dataclasses import dataclass
from .buffer_access import BufferFacts, block_stride, is_atomic, is_zero, narrowed, significant_mask
from .pointer_offsets import PointerOffsets

__all__ = ["BufferOptions", "amd_convert_to_buffer_ops"]

RANGE = "tt.pointer_range"
MAX_BYTES = (1 << 31) - 1


@dataclass(frozen=True)
class BufferOptions:
    """`gfx_arch`: the architecture, where it is not the module's. `allow_buffer_atomics`: convert atomics, too.
    `analyze_small_tensor_ofst`: prove the offsets into arrays below 2 GB as well."""

    gfx_arch: str = ""
    allow_buffer_atomics: bool = True
    analyze_small_tensor_ofst: bool = False


@pass_on("module", statistics={"buffer accesses": "loads, stores and atomics by buffer instructions"})
def amd_convert_to_buffer_ops(module: Operation, options: BufferOptions = BufferOptions()) -> bool:
    """Convert accesses of arrays below 2 GB to buffer operations."""
    arch = options.gfx_arch or target_of(module).partition(":")[2]
    changed = sum(_Converter(func, arch, options).run() for func in functions_of(module))
    count("buffer accesses", changed)
    return changed > 0


def _small_arguments(func: Operation) -> list[Value]:
    """The arguments that point to arrays below 2 GB."""
    given = getattr(func.attributes.get("arg_attrs"), "elements", ())
    small: list[Value] = []
    for argument, attributes in zip(func.regions[0].entry.args, given):
        found = dict(attributes.entries).get(RANGE) if isinstance(attributes, DictionaryAttr) else None
        if isinstance(argument.type, PointerType) and isinstance(found, IntegerAttr) and found.value <= 32:
            small.append(argument)
    return small


class _Converter:
    """The conversion of one function."""

    def __init__(self, func: Operation, arch: str, options: BufferOptions) -> None:
        self.func, self.arch, self.options = func, arch, options
        self.small = _small_arguments(func)
        self.pointers = PointerOffsets(self.small)
        self.facts = BufferFacts(func)
        self._ranges: RangeAnalysis | None = None

    def run(self) -> int:
        """Convert the accesses; returns how many."""
        copies = bool(self.arch) and amd_gpu(self.arch).copies_buffers_to_lds
        changed = 0
        for op in list(self.func.walk()):
            pointer = _pointer(op, copies)
            if pointer is None or (is_atomic(op) and not self._allows(op)):
                continue
            found = self._split(pointer, is_plain_access=isinstance(op, (tt.Load, tt.Store)))
            if found is None or not may_change("amd-convert-to-buffer-ops", op):
                continue
            self._convert(op, *found)
            _erase_unused(pointer)
            changed += 1
        return changed

    def _allows(self, op: Operation) -> bool:
        return self.options.allow_buffer_atomics and self.facts.has_buffer_atomic(op, self.arch)

    # -- base and offsets ---------------------------------------------------------------------------------------------

    def _split(self, pointer: Value, is_plain_access: bool) -> tuple[Value, Value] | None:
        """The base and offsets of a tensor of pointers; None where they are not known to be below 2 GB."""
        op = pointer.defining_op
        splat = op.ptr.defining_op if isinstance(op, tt.AddPtr) else None
        if isinstance(op, tt.AddPtr) and isinstance(splat, tt.Splat):
            width = getattr(element_type(op.offset.type), "width", 0)
            small = splat.src in self.small and not self.options.analyze_small_tensor_ofst
            if width in (32, 64) and (small or self._is_below_2_gb(op)):
                return splat.src, op.offset
        if self.options.analyze_small_tensor_ofst or not is_plain_access:
            return None
        base = self.pointers.base_of(pointer)
        return None if base is None else (base, self.pointers.offsets(pointer))

    def _is_below_2_gb(self, op: tt.AddPtr) -> bool:
        """Whether the offsets of `op` are not negative and the last byte accessed is in the first 2 GB."""
        if self._ranges is None:
            self._ranges = RangeAnalysis(self.func)
        found = self._ranges.range_of(op.offset)
        element = element_type(op.ptr.type)
        assert isinstance(element, PointerType)
        if found is None or found.smin < 0:
            return False
        return (element_bits(element.pointee) * (found.smax + 1) + 7) // 8 <= MAX_BYTES

    # -- rewriting ----------------------------------------------------------------------------------------------------

    def _convert(self, op: Operation, base: Value, offsets: Value) -> None:
        """Replace an access by the buffer operation with this base and these offsets."""
        b = Builder(op.parent, op, op.loc)
        offsets = narrowed(b, offsets)
        stride = block_stride(b, offsets)
        mask = significant_mask(op)
        if isinstance(op, tt.Load):
            other = None if op.other is None or is_zero(op.other) else op.other
            width = self.facts.vector_width(op.ptr, mask)
            new: Operation = amdg.BufferLoad(
                base, offsets, stride, mask, other, contiguity=width, result=op.result.type
            )
        elif isinstance(op, tt.Store):
            width = self.facts.vector_width(op.ptr, mask)
            new = amdg.BufferStore(op.value, base, offsets, stride, mask, contiguity=width)
        elif isinstance(op, ttg.AsyncCopyGlobalToLocal):
            other = None if op.other is None or is_zero(op.other) else op.other
            new = amdg.BufferLoadToLocal(
                op.operands[1],
                base,
                offsets,
                mask,
                other,
                stride,
                cachePolicy=op.cachePolicy,
                contiguity=op.contiguity,
            )
        elif isinstance(op, tt.AtomicRMW):
            new = amdg.BufferAtomicRMW(
                op.atomic_rmw_op, base, offsets, op.val, stride, mask, op.sem, op.scope, result=op.result.type
            )
        else:
            assert isinstance(op, tt.AtomicCAS)
            new = amdg.BufferAtomicCAS(base, offsets, op.cmp, op.val, stride, op.sem, op.scope, result=op.result.type)
        b.insert(new)
        for result, old in zip(new.results, op.results):
            result.hint = old.hint
        op.replace_with(list(new.results))


def _pointer(op: Operation, copies: bool) -> Value | None:
    """The tensor of pointers of an access that may be converted; None for other operations."""
    if isinstance(op, (tt.Load, tt.Store)):
        plain = op.cachePolicy is None and not getattr(op, "isVolatile", False) and not getattr(op, "ignore_cta", False)
        pointer = op.ptr if plain else None
    elif isinstance(op, (tt.AtomicRMW, tt.AtomicCAS)):
        pointer = op.ptr
    elif isinstance(op, ttg.AsyncCopyGlobalToLocal):
        pointer = op.src if copies else None
    else:
        return None
    if pointer is None or not isinstance(pointer.type, TensorType) or not isinstance(pointer.type.element, PointerType):
        return None
    return pointer


def _erase_unused(pointer: Value) -> None:
    """Erase what computes a pointer, as far as nothing else uses it."""
    op = pointer.defining_op
    if isinstance(op, (tt.AddPtr, tt.Splat)) and is_trivially_dead(op):
        inner = op.operands[0]
        op.erase()
        _erase_unused(inner)
