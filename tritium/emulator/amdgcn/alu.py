"""Build the steps of vector and scalar ALU instructions from their signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from ..errors import UnknownInstruction
from ..types import Array
from .assembly import Instruction, Operand
from .lane_moves import CONTROLS
from .operands import DTYPES, Builder, Reader, Writer
from .registry import SALU, SPECIAL, VALU, Action, Function, Signature, Value
from .state import VCC, State

__all__ = ["build", "vector_readers"]

Compute = Callable[[State], Value]
Write = Callable[[State, Value], None]
_VCC = Operand("s", VCC, 1)


#: The modifiers that the emulator knows; `text` holds the operands of instructions such as s_waitcnt.
_MODIFIERS = {
    *("text", "offset", "offset0", "offset1", "offen", "idxen", "lds", "off", "clamp", "mul", "div"),
    *("sc0", "sc1", "nt", "glc", "slc", "dlc"),  # caches, which the emulator does not have
    *("op_sel", "op_sel_hi", "neg_lo", "neg_hi", "cbsz", "abid", "blgp"),
    *("src0_sel", "src1_sel", "dst_sel", "dst_unused", "row_mask", "bank_mask", "bound_ctrl", "fi"),
    *CONTROLS,
}


def build(i: Instruction, b: Builder) -> Action:
    """The step of an instruction; UnknownInstruction if the emulator does not have it."""
    for part in (i, i.second):
        unknown = set(part.modifiers) - _MODIFIERS if part is not None else set()
        if unknown:
            raise UnknownInstruction(f"the emulator has no {i.name} with {', '.join(sorted(unknown))}", i)
    if i.second is not None:
        return _dual(i, b)
    if i.name in SPECIAL:
        return SPECIAL[i.name](i, b)
    if i.name in VALU:
        compute, write = _vector(i, b, _chosen(VALU, i, b))
        return Action(lambda s: write(s, compute(s)))
    if i.name in SALU:
        return _scalar(i, b, _chosen(SALU, i, b))
    raise UnknownInstruction(f"the emulator has no {i.name}", i)


#: Sources that are no operands.
_IMPLICIT = ("vcc", "scc", "saturate")


def _chosen(table: dict[str, list[Signature]], i: Instruction, b: Builder) -> Signature:
    """The signature that fits the number of operands and the generation."""
    count = len(i.operands)
    for signature in table[i.name]:
        explicit = sum(source not in _IMPLICIT and source[:2] != "d:" for source in signature.sources)
        outputs = sum(name != "scc" for name in signature.destinations)
        if outputs + explicit == count and signature.generation in (None, b.limits.generation):
            return signature
    raise UnknownInstruction(f"the emulator has no {i.name} of {count} operands", i)


def _dual(i: Instruction, b: Builder) -> Action:
    """Two vector instructions that read their sources before either writes (RDNA3 ISA, section 7.6)."""
    assert i.second is not None
    halves = []
    for part in (i, i.second):
        name = part.name.replace("v_dual_", "v_")
        if name not in VALU:
            raise UnknownInstruction(f"the emulator has no {part.name}", i)
        plain = Instruction(name, "e32", part.operands, part.modifiers, i.text, i.line, i.loc, i.address)
        if name == "v_cndmask_b32" and len(part.operands) == 3:
            plain = Instruction(name, "e32", (*part.operands, _VCC), part.modifiers, i.text, i.line, i.loc, i.address)
        sub = Builder(plain, b.limits)
        halves.append(_vector(plain, sub, _chosen(VALU, plain, sub)))
        b.reads |= sub.reads
        b.writes |= sub.writes
    (first, write_first), (second, write_second) = halves

    def run(s: State) -> None:
        # Values of plain moves may be views of registers that the other half writes.
        one, two = np.array(first(s)), second(s)
        write_second(s, two)
        write_first(s, one)

    return Action(run)


def _vector(i: Instruction, b: Builder, signature: Signature) -> tuple[Compute, Write]:
    """(compute the result, write it)."""
    readers: list[Reader] = []
    n = len(signature.destinations)
    for source in signature.sources:
        if source == "vcc":
            readers.append(b.implicit_vcc())
        elif source == "saturate":
            readers.append(lambda s: np.array([[s.saturate]]))
        elif source.startswith("d:"):
            readers.append(b.source(0, source[2:]))
        else:
            readers.append(b.source(n, source))
            n += 1
    function = signature.function
    if "clamp" in i.modifiers and signature.clamped is not None:
        function = signature.clamped
    writers = [b.destination(k, ty) for k, ty in enumerate(signature.destinations)]
    compute = _applied(function, readers)
    compute = _modified(i, signature, compute)
    if len(writers) == 1:
        return compute, cast("Write", writers[0])

    def write(s: State, values: Value) -> None:
        for writer, value in zip(writers, values):
            writer(s, value)

    return compute, write


def vector_readers(i: Instruction, b: Builder, types: list[str], first: int) -> list[Reader]:
    """The readers of operands of some types, from operand number `first` on."""
    return [b.source(first + n, ty) for n, ty in enumerate(types)]


def _applied(function: Function, readers: list[Reader]) -> Compute:
    if len(readers) == 1:
        (a,) = readers
        return lambda s: function(a(s))
    if len(readers) == 2:
        a, c = readers
        return lambda s: function(a(s), c(s))
    if len(readers) == 3:
        a, c, d = readers
        return lambda s: function(a(s), c(s), d(s))
    return lambda s: function(*[reader(s) for reader in readers])


#: Instructions whose float results pass through unflushed.
_RAW = ("v_cndmask", "v_div_scale", "v_div_fixup", "v_mov")


def _modified(i: Instruction, signature: Signature, compute: Compute) -> Compute:
    """Output modifiers: denormals flushed, `mul`/`div`, `clamp` (MI300 ISA, section 6.2; RDNA3 ISA, section 7.2)."""
    ty = signature.destinations[0]
    if ty not in ("f32", "f16", "f64"):
        return compute
    dtype = DTYPES[ty]
    if ty == "f32" and not i.name.startswith(_RAW):
        inner = compute

        def compute(s: State) -> Value:
            value = inner(s)
            if s.flush32:
                first = value[0] if isinstance(value, tuple) else value
                first = np.asarray(first, np.float32)
                first = np.where(np.abs(first) < np.float32(2.0**-126), np.copysign(np.float32(0), first), first)
                return (first, value[1]) if isinstance(value, tuple) else first
            return value

    factor = {"2": 2.0, "4": 4.0}.get(i.modifiers.get("mul", ""), 0.5 if i.modifiers.get("div") == "2" else 1.0)
    if factor != 1.0:
        compute = _changed(compute, lambda x: np.asarray(x, dtype) * dtype(factor))
    if "clamp" in i.modifiers:
        compute = _changed(compute, lambda x: _clamped(np.asarray(x, dtype)))
    return compute


def _clamped(x: Array) -> Array:
    """Floats clamped to [0, 1], NaN to 0 (DX10_CLAMP); -0.0 to 0.0, as by a maximum: the manuals do not say."""
    return np.where(x > 0, np.minimum(x, x.dtype.type(1)), x.dtype.type(0))


def _changed(compute: Compute, change: Callable[[Array], Array]) -> Compute:
    def changed(s: State) -> Value:
        value = compute(s)
        return (change(value[0]), value[1]) if isinstance(value, tuple) else change(value)

    return changed


def _scalar(i: Instruction, b: Builder, signature: Signature) -> Action:
    """A scalar instruction: values over waves."""
    readers: list[Reader] = []
    outputs = [name for name in signature.destinations if name != "scc"]
    n = len(outputs)
    for source in signature.sources:
        if source == "scc":
            readers.append(b.scc())
        elif source.startswith("d:"):
            readers.append(b.source(0, source[2:], vector=False))
        else:
            readers.append(b.source(n, source, vector=False))
            n += 1
    writers: list[Writer] = []
    k = 0
    for name in signature.destinations:
        if name == "scc":
            writers.append(_write_scc)
        else:
            writers.append(b.scalar_destination(k, name))
            k += 1
    compute = _applied(signature.function, readers)
    if len(writers) == 1:
        write = cast("Write", writers[0])
        return Action(lambda s: write(s, compute(s)))

    def run(s: State) -> None:
        for writer, value in zip(writers, compute(s)):
            writer(s, value)

    return Action(run)


def _write_scc(s: State, value: Array) -> None:
    s.scc[s.at] = value
