"""Warp-group MMAs: `wgmma`, PTX ISA 8.7, section 9.7.15.

    ttng.warp_group_dot %a, %b, %c               wgmma.fence.sync.aligned;
                                                 wgmma.mma_async….m64n64k16.f32.f16.f16 {d0, …}, a, b, p, 1, 1, 0, 1;
                                                 …
                                                 wgmma.commit_group.sync.aligned;
                                                 wgmma.wait_group.sync.aligned 0;     unless it is asynchronous
    ttng.warp_group_dot_wait %d {pendings = 1}   wgmma.wait_group.sync.aligned 1;

One dot is one inline assembly statement, from its fence to its commit: accumulators are tied operands, and neither
LLVM nor the assembler can put anything between the instructions, which would serialize them. A wait is a statement,
too, with all values that it makes valid as tied operands: so no use moves above it. Operands in registers are copied
inside of the statement, after the preceding waits: the operands of the next dot are computed in other registers than
those that are still being read.

Matrices in shared memory are addressed by descriptors, planned from the linear map of their buffers (`layout.wgmma`);
those of the next 16 or 32 bytes along K, or of further rows, differ by a constant.

The first instruction on a zero accumulator does not accumulate (`scale-d` is false), so that zeros need no registers.

Accumulation of 8-bit floats is less precise than f32. `maxNumImpreciseAcc` limits the number of products accumulated
this way: if K is longer, partial accumulators of that length start from zero and are added as f32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects import ttng
from ....dialects.tt_types import InputPrecision
from ....dialects.ttg_layouts import DotOperand
from ....dialects.ttg_switches import is_on
from ....hardware.nvidia_features import WGMMA
from ....ir import FloatType, TensorType, Value, f16, f32
from ....layout.wgmma import Tile, fragments_of_operand, fragments_of_result
from ....support import UnsupportedOperation
from ....support.dataclasses import dataclass, field, replace
from ..context import FunctionContext, lowers
from ..packing import constant_bits, pack, unpack
from ..target_info import require
from ..types import bit_width, llvm_type
from .next_dot import prepare_next_dot
from .wgmma_descriptors import DEPTH, InMemory, in_memory

__all__: list[str] = []

_PTX = {"f16": "f16", "bf16": "bf16", "f32": "tf32", "i8": "s8", "f8E5M2": "e5m2", "f8E4M3FN": "e4m3"}
_HALVES, _BYTES = ("f16", "bf16"), ("f8E5M2", "f8E4M3FN")

#: (a, b, result) -> there is an instruction. PTX ISA 8.7, section 9.7.15.5.2.
_TYPES = {("f16", "f16", "f32"), ("f16", "f16", "f16"), ("bf16", "bf16", "f32"), ("f32", "f32", "f32")}
_TYPES |= {("i8", "i8", "i32")} | {(a, b, d) for a in _BYTES for b in _BYTES for d in ("f16", "f32")}


@lowers(ttng.WarpGroupDot)
def _warp_group_dot(e: FunctionContext, op: ttng.WarpGroupDot) -> None:
    dot = _planned(e, op)
    sums = _words(e, op.c)
    group = _precise_group(op, dot.depth)
    begins = constant_bits(op.c) == 0 and is_on(op, "accumulator-init")
    if not group:
        sums = ["poison"] * len(sums) if begins else sums
        add = "0" if begins else "1" if op.useC is None or constant_bits(op.useC) else e.scalar(op.useC)
        out = _issue(e, dot, range(0, dot.k, dot.depth), sums, add, wait=not op.isAsync)
        e.bind(op.d, _elements(e, op.d, out))
        return
    e.bind(op.d, _elements(e, op.d, _accumulate_in_groups(e, dot, sums, group, begins)))


def _accumulate_in_groups(e: FunctionContext, dot: Dot, sums: list[str], group: int, begins: bool) -> list[str]:
    """Partial accumulators over `group` elements of K each, from zero, that are added to `sums`; where these are zero
    (`begins`) the first is not added.

    Instructions have at most 128 columns, which limits the registers of partial accumulators.
    """
    use = dot.op.useC
    if use is not None:
        sums = [e.op(f"select i1 {e.scalar(use)}, float {v}, float 0.000000e+00") for v in sums]
    sums, add = list(sums), "fadd contract" if e.module.fusion else "fadd"
    jobs = [(first, part) for first in range(0, dot.k, group) for part in _parts(dot)]
    overlap = len(sums) <= 64  # whether there are registers for two in flight
    in_flight: list[tuple[int, tuple[int, ...], list[str]]] = []
    for n in range(len(jobs) + overlap):
        if n < len(jobs):
            first, (part, registers) = jobs[n]
            steps = range(first, min(first + group, dot.k), dot.depth)
            in_flight.append((first, registers, _issue(e, part, steps, ["poison"] * len(registers), "0", wait=False)))
        if n >= overlap:
            first, registers, words = in_flight.pop(0)
            for r, value in zip(registers, _waited(e, words, ["float"] * len(words), len(in_flight))):
                sums[r] = value if begins and not first else e.op(f"{add} float {sums[r]}, {value}")
    return sums


def _parts(dot: Dot) -> list[tuple[Dot, tuple[int, ...]]]:
    """The dot split into dots of fewer columns, each with its registers of the result."""
    columns = min(dot.columns, 128)
    out = []
    for (row, column), registers in dot.tiles.items():
        for first in range(0, dot.columns, columns):
            own = registers[first // 2 : (first + columns) // 2]
            tile = {(row, column + first): tuple(range(len(own)))}
            out.append((replace(dot, columns=columns, tiles=tile), own))
    return out


def _waited(
    e: FunctionContext, values: Sequence[str], kinds: Sequence[str], pendings: int, ready: Sequence[str] = ()
) -> list[str]:
    """The values, once at most `pendings` WGMMA groups are in flight; `ready`: descriptors computed before the wait."""
    statement = Statement(e)
    statement.results(values, kinds)
    for descriptor in ready:
        statement.operand("i64", descriptor)
    statement.line(f"wgmma.wait_group.sync.aligned {pendings};")
    return statement.emit()


@lowers(ttng.WarpGroupDotWait)
def _warp_group_dot_wait(e: FunctionContext, op: ttng.WarpGroupDotWait) -> None:
    ready = prepare_next_dot(e, op)
    held = [_words(e, v) if isinstance(v.type, TensorType) else [] for v in op.inputs]
    kinds = [_word(v) for v, words in zip(op.inputs, held) for _ in words]
    out = iter(_waited(e, [v for words in held for v in words], kinds, op.pendings, ready))
    for value, result, words in zip(op.inputs, op.outputs, held, strict=True):
        if isinstance(value.type, TensorType):
            e.bind(result, _elements(e, result, [next(out) for _ in words]))
        else:
            e.bind(result, e(value))


# -- registers ------------------------------------------------------------------------------------------------------


def _word(value: Value) -> str:
    """The LLVM type of the registers that hold a tensor."""
    ty: Any = value.type
    return llvm_type(ty) if bit_width(ty) in (32, 64) and not llvm_type(ty).startswith("ptr") else "i32"


def _words(e: FunctionContext, value: Value) -> list[str]:
    """The elements of a tensor in 32-bit registers: narrow elements are packed."""
    parts = e(value)
    return parts if _word(value) == llvm_type(value.type) else pack(e, parts, value.type, 32)


def _elements(e: FunctionContext, value: Value, words: Sequence[str]) -> list[str]:
    """The inverse of `_words`."""
    return list(words) if _word(value) == llvm_type(value.type) else unpack(e, words, value.type, 32)


_CONSTRAINTS = {"float": "f", "i32": "r", "i64": "l", "double": "d", "i1": "b"}


@dataclass
class Statement:
    """An inline assembly statement of several lines; its results are tied to its first operands."""

    e: FunctionContext
    kinds: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    operands: list[tuple[str, str]] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)

    def results(self, values: Sequence[str], kinds: Sequence[str]) -> None:
        """The values that the statement changes: `$0`, `$1`, …"""
        self.kinds = list(kinds)
        self.operands = list(zip(kinds, values, strict=True))
        self.constraints = [f"={_CONSTRAINTS[kind]}" for kind in kinds] + [str(i) for i in range(len(kinds))]

    def operand(self, kind: str, value: str) -> str:
        """How the text names one more operand."""
        self.operands.append((kind, value))
        self.constraints.append(_CONSTRAINTS[kind])
        return f"${len(self.constraints) - 1}"

    def line(self, text: str) -> None:
        """One more line."""
        self.lines.append(text)

    def emit(self) -> list[str]:
        """The changed values."""
        struct = f"{{ {', '.join(self.kinds)} }}" if len(self.kinds) > 1 else "".join(self.kinds) or "void"
        text = "\n\t".join(self.lines)
        found = self.e.asm(text, ",".join([*self.constraints, "~{memory}"]), self.operands, struct)
        return self.e.fields(struct, found, len(self.kinds)) if len(self.kinds) > 1 else [found] * len(self.kinds)


# -- the instructions of a dot ---------------------------------------------------------------------------------------


@dataclass
class InRegisters:
    """An operand in registers: four words per tile."""

    words: dict[Tile, list[str]]
    kind: str


@dataclass
class Dot:
    """A planned dot: `tiles` of the result with their registers; the shape of an instruction."""

    op: Any
    tiles: dict[Tile, tuple[int, ...]]
    columns: int
    depth: int
    a: InMemory | InRegisters
    b: InMemory

    @property
    def k(self) -> int:
        """The size of the dot along K."""
        return int(self.op.a.type.shape[-1])

    @property
    def per_word(self) -> int:
        """Elements of the result in one register."""
        return 2 if self.op.d.type.element is f16 else 1

    def name(self) -> str:
        """`wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16`"""
        a, b, d = (str(v.type.element) for v in (self.op.a, self.op.b, self.op.d))
        shape = f"m64n{self.columns}k{self.depth}"
        return f"wgmma.mma_async.sync.aligned.{shape}.{'s32' if d == 'i32' else d}.{_PTX[a]}.{_PTX[b]}"

    def flags(self) -> str:
        """The operands after `scale-d`: signs of floats, and for 16-bit types which matrices are not K-major."""
        element = str(self.op.a.type.element)
        out = [] if element == "i8" else ["1", "1"]
        if element in _HALVES:
            out += [str(int(m.mn_major)) for m in (self.a, self.b) if isinstance(m, InMemory)]
        return "".join(f",{flag}" for flag in out)


def _planned(e: FunctionContext, op: Any) -> Dot:
    types = tuple(str(v.type.element) for v in (op.a, op.b, op.d))
    a, b, d = types
    require(e, op, WGMMA)
    if types not in _TYPES or (a == "f32" and op.inputPrecision is not InputPrecision.tf32):
        precision = f" in the precision {op.inputPrecision.name}" if a == "f32" else ""
        raise UnsupportedOperation(op, f"of {a} and {b} with accumulator type {d}{precision} has no wgmma instruction")
    layout = op.d.type.encoding
    if len(op.d.type.shape) != 2:
        raise UnsupportedOperation(op, "of batched operands has no wgmma instruction")
    columns, depth = layout.instrShape[1], 8 * DEPTH // op.a.type.element.width
    try:
        tiles = fragments_of_result(e.layout(op.d), layout.warpsPerCTA, columns)
        on_a = _in_registers(e, op, depth) if isinstance(op.a.type, TensorType) else in_memory(e, op, 0, 64, depth)
        dot = Dot(op, tiles, columns, depth, on_a, in_memory(e, op, 1, columns, depth))
    except ValueError as error:
        raise UnsupportedOperation(op, f"has operands that wgmma does not support: {error}") from None
    for name, m in (("a", dot.a), ("b", dot.b)):
        if isinstance(m, InMemory) and m.mn_major and a not in _HALVES:
            raise UnsupportedOperation(op, f"needs a K-major operand {name}, as its element type is {a}")
    return dot


def _in_registers(e: FunctionContext, op: Any, depth: int) -> InRegisters:
    ty = op.a.type
    per_word = 32 // ty.element.width
    if ty.encoding is not DotOperand(0, op.d.type.encoding, per_word):
        raise ValueError(f"registers of a with the layout {ty.encoding}")
    words = _words(e, op.a)
    found = fragments_of_operand(e.layout(op.a), op.d.type.encoding.warpsPerCTA, depth, per_word)
    # The elements of a word are neighbours in the order of registers, as `fragments_of_operand` has found out.
    return InRegisters({t: [words[r // per_word] for r in rs[::per_word]] for t, rs in found.items()}, _word(op.a))


def _issue(e: FunctionContext, dot: Dot, steps: Sequence[int], sums: Sequence[str], add: str, wait: bool) -> list[str]:
    """Emit the instructions for some steps along K; `add`: whether the first accumulates (`scale-d`)."""
    s = Statement(e)
    s.results(sums, [_word(dot.op.d)] * len(sums))
    s.line("{")
    if len(steps) > 1 or add.isdigit():
        s.line(".reg .pred on, off;\n\tmov.pred on, -1;\n\tmov.pred off, 0;")
    first = {"0": "off", "1": "on"}.get(add) or s.operand("i1", add)
    descriptors = s.operand("i64", dot.b.descriptor)
    copies: dict[Tile, list[str]] = {}
    of_a = ""
    if isinstance(dot.a, InRegisters):
        copies = _copies(s, dot.a, steps)
    else:
        of_a = s.operand("i64", dot.a.descriptor)
    s.line(".reg .b64 da, db;\n\twgmma.fence.sync.aligned;")
    for tile, registers in dot.tiles.items():
        places = ",".join(f"${r // dot.per_word}" for r in registers[:: dot.per_word])
        for k in steps:
            if isinstance(dot.a, InMemory):
                s.line(f"add.s64 da, {of_a}, {dot.a.distance(tile[0], k)};")
                a = "da"
            else:
                a = f"{{{','.join(copies[tile[0], k])}}}"
            s.line(f"add.s64 db, {descriptors}, {dot.b.distance(k, tile[1])};")
            s.line(f"{dot.name()} {{{places}}}, {a}, db, {first if k == steps[0] else 'on'}{dot.flags()};")
    s.line("wgmma.commit_group.sync.aligned;")
    if wait:
        s.line("wgmma.wait_group.sync.aligned 0;")
    s.line("}")
    return s.emit()


def _copies(s: Statement, a: InRegisters, steps: Sequence[int]) -> dict[Tile, list[str]]:
    """Copy the words of an operand to registers declared inside the statement."""
    needed = {tile: words for tile, words in a.words.items() if tile[1] in steps}
    names = (f"w{i}" for i in range(4 * len(needed)))
    s.line(f".reg .b32 w<{4 * len(needed)}>;")
    out: dict[Tile, list[str]] = {}
    for tile, words in needed.items():
        out[tile] = []
        for word in words:
            name = next(names)
            s.line(f"mov.b32 {name}, {s.operand(a.kind, word)};")
            out[tile].append(name)
    return out


def _precise_group(op: Any, depth: int) -> int:
    """The maximum number of products accumulated by the instructions alone; 0: no limit."""
    element = op.a.type.element
    if not isinstance(element, FloatType) or element.width != 8 or op.d.type.element is not f32:
        return 0
    if op.maxNumImpreciseAcc > op.a.type.shape[-1]:
        return 0
    return max(depth, op.maxNumImpreciseAcc // depth * depth)
