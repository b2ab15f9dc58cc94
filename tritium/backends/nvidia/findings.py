"""Performance findings in a kernel for NVIDIA GPUs, each with its source line and a hint.

| kind | when | from |
|---|---|---|
| uncoalesced-access | a warp touches four times the sectors that its bytes fill, or more | `ttgir` |
| narrow-access | an instruction accesses fewer bits than a thread holds contiguously | `ttgir` |
| bank-conflicts | lanes of a warp access different words of one bank of shared memory | the plans of lowering |
| spills | registers are spilled to local memory | the assembler; the lines from SASS |
| local-memory | a thread uses local memory without spills: an array that is indexed at run time | the assembler |
| serialized-wgmma, ignored-setmaxnreg, other | the assembler remarks it | its remarks |
| live-registers | of a kernel that spills: the operation at which most tensors are live | live values and layouts |
| low-occupancy | a quarter of the warps or fewer, in a kernel without dots | the table of capabilities |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...analysis.global_access import GlobalAccess
from ...analysis.live_registers import live_registers
from ...analysis.shared_traffic import Traffic
from ...hardware.occupancy import Occupancy
from ...ir import Operation, TensorType, Value, functions_of, is_private, is_register_dot
from ...support.quantities import counted
from ..findings import Finding, finding_at, finding_of
from ..listing import calls_of
from .disassembler import Instruction
from .remarks import Remark
from .sass import places_of

__all__ = ["findings_of_accesses", "findings_of_conflicts", "findings_of_resources", "kernel_of"]

UNCOALESCED = 4  # times the sectors that are needed; unaligned rows take twice as many
LOW = 4  # low occupancy: at most 1 / LOW of the warps
MAX_LINES = 4  # of spill findings
MAX_TENSORS = 4  # that a finding names

_STRIDE = (
    "if the stride of the axis along which memory is contiguous is 1, let the compiler know: a tl.constexpr, or an "
    "integer argument that is 1; otherwise have threads walk along the contiguous axis (tl.trans after the load)"
)
_NARROW = {
    "mask": "the mask's bound is not known to be a multiple of 16: pass one that is divisible by 16 (pad the rows), or "
    "omit the mask where tiles are whole",
    "alignment": "addresses are not known to be multiples of 16 bytes: pass pointers and strides divisible by 16, or "
    "say so with tl.multiple_of (for pointers loaded from memory)",
    "contiguity": "no more elements are known to be contiguous: state it with tl.max_contiguous and tl.multiple_of "
    "on the offsets, where it is true",
}
_WHAT = {"load": "load", "store": "store", "copy": "copy to shared memory", "atomic": "atomic operation"}


def kernel_of(module: Operation | None) -> Any:
    """The kernel's function; None without a module."""
    if module is None:
        return None
    return next((f for f in functions_of(module) if not is_private(f) and not f.is_declaration), None)  # type: ignore[attr-defined]


def findings_of_accesses(accesses: Iterable[GlobalAccess]) -> Iterator[Finding]:
    """Uncoalesced and narrow ones; each line once."""
    seen: dict[Finding, None] = {}
    for access in accesses:
        what = _WHAT[access.action]
        if access.sectors >= UNCOALESCED * access.needed:
            text = (
                f"a warp's {what} touches {access.sectors} sectors of 32 bytes; its bytes would fit in {access.needed}"
            )
            seen[finding_of("uncoalesced-access", access.op, text, _STRIDE)] = None
        elif access.narrow in _NARROW and access.instructions > 1:
            text = f"a thread's {what} accesses {access.bits} bits per instruction, of {access.possible} possible"
            seen[finding_of("narrow-access", access.op, text, _NARROW[access.narrow])] = None
    yield from seen


def findings_of_conflicts(traffic: Iterable[Traffic]) -> Iterator[Finding]:
    """Accesses to shared memory that take more wavefronts than their bytes need; each line once."""
    seen: dict[Finding, None] = {}
    for t in traffic:
        if t.conflicts:
            enough = t.wavefronts - t.conflicts
            text = f"{t.instruction} for {t.op.name} takes {t.wavefronts} wavefronts where {enough} suffice"
            hint = "another tile shape or num_warps gives other layouts; `tritium layout` draws them"
            seen[finding_of("bank-conflicts", t.op, text, hint)] = None
    yield from seen


def findings_of_resources(
    module: Operation | None,
    registers: Any,
    occupied: Occupancy,
    remarks: Sequence[Remark],
    code: Sequence[Instruction],
    llir: str = "",
) -> Iterator[Finding]:
    """Spills, local memory, the assembler's remarks, occupancy; `llir` knows the callers of inlined functions."""
    kernel = kernel_of(module)
    if registers.spilled:
        yield from _spills(kernel, registers, code, llir)
    elif registers.stack:
        text = f"a thread uses {counted(registers.stack, 'byte')} of local memory, which is in global memory"
        yield finding_of(
            "local-memory", kernel, text, "index with compile-time values (tl.static_range), not at run time"
        )
    dot = next((op for op in module.walk() if is_register_dot(op)), None) if module is not None else None
    for remark in remarks:
        text = remark.reason or remark.text
        where = dot if remark.kind == "serialized-wgmma" and dot is not None else kernel
        yield finding_of(remark.kind, where, f"{text} ({remark.code})" if remark.code else text, remark.advice)
    if dot is None and occupied.warps * LOW <= occupied.max_warps:
        text = f"occupancy is {occupied.warps} of {occupied.max_warps} warps per SM, limited by {occupied.limit}"
        hint = {
            "registers": "use smaller tiles, more warps per CTA, or maxnreg",
            "shared memory": "use smaller tiles or fewer stages (num_stages)",
        }.get(occupied.limit, "use more warps per CTA (num_warps), or larger tiles")
        yield finding_of("low-occupancy", kernel, text, hint)


def _spills(kernel: Any, registers: Any, code: Sequence[Instruction], llir: str) -> Iterator[Finding]:
    """One finding for the kernel, or one for each of the lines with most spill instructions.

    The line of an inlined function says little without those that call it, which `llir` has.
    """
    hint = "use smaller tiles, more warps (num_warps), or fewer values that are live at the same time"
    total = f"{counted(registers.spilled, 'register')} per thread spilled to local memory"
    places = places_of(code, "memory: local")
    if not places:
        yield finding_of("spills", kernel, total, hint)
    calls = calls_of(llir) if places else {}
    for (file, line), number in places.most_common(MAX_LINES):
        text = f"{total}; {number} of the spill instructions {'is' if number == 1 else 'are'} on this line"
        if callers := sorted(calls.get((file, line), ())):
            text += f", called from {', '.join(callers)}"
        yield finding_at("spills", file, line, text, hint)
    yield from _peak(kernel)


def _peak(kernel: Any) -> Iterator[Finding]:
    """Where most registers hold tensors, and which tensors these are."""
    live = live_registers(kernel) if kernel is not None else None
    peak = live.peak() if live is not None else None
    if live is None or peak is None or not peak.registers:
        return
    rows = [(value, n) for value, n in live.values(peak.op) if n][:MAX_TENSORS]
    tensors = ", ".join(f"{_shown(value)} {n}" for value, n in rows)
    text = f"tensors that are live here fill {peak.registers} registers of each thread, the largest: {tensors}"
    hint = "make the largest smaller (tile shape, num_warps), or load or compute it again where it is used"
    yield finding_of("live-registers", peak.op, text, hint)


def _shown(value: Value) -> str:
    """`acc (tensor<128x128xf32>)`, without a name where the source has none."""
    ty = value.type
    shape = f"tensor<{'x'.join(map(str, ty.shape))}x{ty.element}>" if isinstance(ty, TensorType) else str(ty)
    return f"{value.hint} ({shape})" if value.hint else shape
