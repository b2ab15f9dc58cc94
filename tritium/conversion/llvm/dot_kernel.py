"""The text of a dot micro-kernel: panels of B, blocks of rows, in each a loop over K in registers."""

from __future__ import annotations

from ...support.dataclasses import dataclass
from .emitter import Emitter

__all__ = ["Loop", "Panel", "Step", "function_text", "offset"]

_LLVM = {"f64": "double", "f32": "float", "bf16": "bfloat", "i8": "i8", "i16": "i16", "i32": "i32"}
_BYTES = {"f64": 8, "f32": 4, "bf16": 2, "i8": 1, "i16": 2, "i32": 4}
_UNROLL = 2  # steps of K per loop iteration: 3 % faster than 1 in a whole matmul, as fast as 4, half the code


@dataclass(frozen=True)
class Step:
    """One multiply-accumulate: acc += a * b in `instruction`, summing `kpack` products of `compute_type` elements."""

    compute_type: str
    acc_type: str
    instruction: str  # fma, muladd, dpbf16ps, pmaddwd, widen, imul; tdp... for AMX

    @property
    def name(self) -> str:
        return f"{self.instruction}.{self.compute_type}"

    @property
    def kpack(self) -> int:
        if self.is_amx:
            return 4 // self.element_bytes
        return 2 if self.instruction in ("dpbf16ps", "pmaddwd") else 1

    @property
    def is_amx(self) -> bool:
        """Is this an instruction on tiles (see `dot_amx`)?"""
        return self.instruction.startswith("tdp")

    @property
    def acc_bits(self) -> int:
        return 8 * _BYTES[self.acc_type]

    @property
    def acc_bytes(self) -> int:
        return _BYTES[self.acc_type]

    @property
    def element_bytes(self) -> int:
        return _BYTES[self.compute_type]

    def vector(self, lanes: int) -> str:
        """The LLVM type of `lanes` accumulators."""
        return f"<{lanes} x {_LLVM[self.acc_type]}>"

    def packed(self, lanes: int) -> str:
        """The LLVM type of what B holds for `lanes` columns of one step."""
        return f"<{lanes * self.kpack} x {_LLVM[self.compute_type]}>"

    def declares(self, lanes: int) -> list[str]:
        """`declare` lines for vectors of `lanes` columns."""
        v = self.vector(lanes)
        if self.instruction == "fma":
            return [f"declare {v} @llvm.fma.v{lanes}{self.acc_type}({v}, {v}, {v})"]
        p = self.packed(lanes)
        if self.instruction == "dpbf16ps" and lanes in _DPBF16:
            return [f"declare {v} {_DPBF16[lanes]}({v}, {p}, {p})"]
        if self.instruction == "pmaddwd" and lanes in _PMADDWD:
            return [f"declare {v} {_PMADDWD[lanes]}({p}, {p})"]
        return []

    def load_a(self, e: Emitter, address: str) -> str:
        """The element (or pair) of A that a row multiplies by."""
        if self.kpack == 2:
            return e.op(f"load i32, ptr {address}, align {self.element_bytes}")
        return e.op(f"load {_LLVM[self.compute_type]}, ptr {address}, align {self.element_bytes}")

    def broadcast(self, e: Emitter, scalar: str, lanes: int) -> str:
        """`scalar` for all columns, of type `packed(lanes)` (`vector(lanes)` for widened elements)."""
        element = "i32" if self.kpack == 2 else _LLVM[self.compute_type]
        one = e.op(f"insertelement <{lanes} x {element}> poison, {element} {scalar}, i64 0")
        mask = f"<{lanes} x i32> zeroinitializer"
        every = e.op(f"shufflevector <{lanes} x {element}> {one}, <{lanes} x {element}> poison, {mask}")
        if self.kpack == 2:
            return e.op(f"bitcast <{lanes} x i32> {every} to {self.packed(lanes)}")
        if self.instruction == "widen":
            return e.op(f"sext {self.packed(lanes)} {every} to {self.vector(lanes)}")
        return every

    def load_b(self, e: Emitter, address: str, lanes: int) -> str:
        """The registers of B for `lanes` columns."""
        b = e.op(f"load {self.packed(lanes)}, ptr {address}, align {self.element_bytes}")
        if self.instruction == "widen":
            return e.op(f"sext {self.packed(lanes)} {b} to {self.vector(lanes)}")
        return b

    def accumulate(self, e: Emitter, acc: str, a: str, b: str, lanes: int) -> str:
        """acc + a * b."""
        v = self.vector(lanes)
        if self.instruction == "fma":
            return e.op(f"call {v} @llvm.fma.v{lanes}{self.acc_type}({v} {a}, {v} {b}, {v} {acc})")
        if self.instruction == "muladd":
            return e.op(f"fadd {v} {acc}, {e.op(f'fmul {v} {a}, {b}')}")
        if self.instruction in ("imul", "widen"):
            return e.op(f"add {v} {acc}, {e.op(f'mul {v} {a}, {b}')}")
        if self.instruction == "dpbf16ps" and lanes in _DPBF16:
            p = self.packed(lanes)
            return e.op(f"call {v} {_DPBF16[lanes]}({v} {acc}, {p} {a}, {p} {b})")
        return self._pairs(e, acc, a, b, lanes)

    def _pairs(self, e: Emitter, acc: str, a: str, b: str, lanes: int) -> str:
        """The pairwise dot product; on machines with VNNI, LLVM makes vpdpwssd of the sum with `acc`."""
        if self.instruction == "pmaddwd" and lanes in _PMADDWD:
            p, v = self.packed(lanes), self.vector(lanes)
            return e.op(f"add {v} {acc}, {e.op(f'call {v} {_PMADDWD[lanes]}({p} {a}, {p} {b})')}")
        add, multiply = ("fadd", "fmul") if self.acc_type == "f32" else ("add", "mul")
        widen = "fpext" if self.acc_type == "f32" else "sext"
        wide, packed, v = self.vector(2 * lanes), self.packed(lanes), self.vector(lanes)
        x = e.op(f"{widen} {packed} {a} to {wide}")
        y = e.op(f"{widen} {packed} {b} to {wide}")
        product = e.op(f"{multiply} {wide} {x}, {y}")
        halves = []
        for odd in (0, 1):
            mask = ", ".join(f"i32 {2 * i + odd}" for i in range(lanes))
            halves.append(e.op(f"shufflevector {wide} {product}, {wide} poison, <{lanes} x i32> <{mask}>"))
        pair = e.op(f"{add} {v} {halves[0]}, {halves[1]}")
        return e.op(f"{add} {v} {acc}, {pair}")


_DPBF16 = {
    4: "@llvm.x86.avx512bf16.dpbf16ps.128",
    8: "@llvm.x86.avx512bf16.dpbf16ps.256",
    16: "@llvm.x86.avx512bf16.dpbf16ps.512",
}
_PMADDWD = {4: "@llvm.x86.sse2.pmadd.wd", 8: "@llvm.x86.avx2.pmadd.wd", 16: "@llvm.x86.avx512.pmaddw.d.512"}


@dataclass(frozen=True)
class Panel:
    """`count` neighbouring panels from column `first` on, each of the columns `vectors` add up to.

    `row_blocks` is ((rows, how many blocks), ...): the partition of M.
    """

    first: int
    count: int
    vectors: tuple[int, ...]
    row_blocks: tuple[tuple[int, int], ...]

    @property
    def columns(self) -> int:
        return sum(self.vectors)


@dataclass(frozen=True)
class _Block:
    """Sizes in bytes that the innermost code needs."""

    step: Step
    vectors: tuple[int, ...]
    rows: int
    steps: int  # of K
    a_row: int | str  # a number of bytes, or the value that holds it
    acc_row: int

    @property
    def b_step(self) -> int:
        return sum(self.vectors) * self.step.kpack * self.step.element_bytes

    @property
    def a_step(self) -> int:
        return self.step.kpack * self.step.element_bytes


def function_text(symbol: str, step: Step, panels: list[Panel], k: int, a_row: int | None, acc_row: int) -> str:
    """The whole function; `k`, `a_row` and `acc_row` in elements. Without `a_row` the function has a fourth argument,
    the distance of A's rows in bytes."""
    e = Emitter()
    e.label("entry")
    for panel in panels:
        _panel(e, step, panel, k, a_row, acc_row)
    e.stmt("ret void")
    head = f"define internal void {symbol}(ptr noalias nocapture %acc, ptr noalias nocapture readonly %a, "
    stride = ", i64 %a_row" if a_row is None else ""
    return f"{head}ptr noalias nocapture readonly %b{stride}) nounwind noinline {{\n{e.text()}\n}}\n"


def _panel(e: Emitter, step: Step, panel: Panel, k: int, a_row: int | None, acc_row: int) -> None:
    """All panels of one width: loop over them, and in each over the row blocks."""
    b = offset(e, "%b", panel.first * k * step.element_bytes)
    acc = offset(e, "%acc", panel.first * step.acc_bytes)
    strides = (panel.columns * k * step.element_bytes, panel.columns * step.acc_bytes)
    panels = Loop(e, panel.count, [(b, strides[0]), (acc, strides[1])])
    a, (b, acc) = "%a", panels.pointers
    a_bytes = "%a_row" if a_row is None else a_row * step.element_bytes
    for rows, count in panel.row_blocks:
        block = _Block(step, panel.vectors, rows, k // step.kpack, a_bytes, acc_row * step.acc_bytes)
        blocks = Loop(e, count, [(a, _times(e, rows, a_bytes)), (acc, rows * block.acc_row)])
        _tile(e, block, blocks.pointers[1], blocks.pointers[0], b)
        a, acc = blocks.close([])[0]
    panels.close([])


class Loop:
    """`count` turns which advance `pointers` by their strides and carry `values`; one turn is no loop at all."""

    def __init__(
        self, e: Emitter, count: int, pointers: list[tuple[str, int | str]], values: list[tuple[str, str]] | None = None
    ) -> None:
        self.e, self.count = e, count
        self.strides = [stride for _, stride in pointers]
        self.pointers = [pointer for pointer, _ in pointers]
        self.values = [value for _, value in values or []]
        if count == 1:
            return
        types = ["i32", *("ptr" for _ in pointers), *(ty for ty, _ in values or [])]
        start = [str(count), *self.pointers, *self.values]
        before, self.body = e.block, e.fresh_label("loop")
        e.stmt(f"br label %{self.body}")
        e.label(self.body)
        self.header, self.incoming = len(e.lines), before
        names = [e.op(f"phi {ty} [ {first}, %{before} ]") for ty, first in zip(types, start, strict=True)]
        self.counter = names[0]
        self.pointers = names[1 : 1 + len(pointers)]
        self.values = names[1 + len(pointers) :]

    def close(self, values: list[str]) -> tuple[list[str], list[str]]:
        """End the loop; the pointers and the values after its last turn."""
        e = self.e
        after = [offset(e, p, stride) for p, stride in zip(self.pointers, self.strides, strict=True)]
        if self.count > 1:
            left = e.op(f"add nsw i32 {self.counter}, -1")
            done = e.op(f"icmp eq i32 {left}, 0")
            for i, name in enumerate((left, *after, *values), self.header):
                e.lines[i] += f", [ {name}, %{e.block} ]"
            out = e.fresh_label("done")
            e.stmt(f"br i1 {done}, label %{out}, label %{self.body}")
            e.label(out)
        return after, values


def _times(e: Emitter, count: int, size: int | str) -> int | str:
    if isinstance(size, int) or count == 1:
        return count * size if isinstance(size, int) else size
    return e.op(f"mul i64 {size}, {count}")


def offset(e: Emitter, pointer: str, size: int | str) -> str:
    """`pointer` advanced by `size` bytes, a number or a value."""
    return e.op(f"getelementptr inbounds i8, ptr {pointer}, i64 {size}") if size else pointer


def _tile(e: Emitter, block: _Block, acc: str, a: str, b: str) -> None:
    """Load the accumulators, walk K, store them."""
    step = block.step
    spots = []  # (address, type) of every accumulator register
    for row in range(block.rows):
        at = row * block.acc_row
        for lanes in block.vectors:
            spots.append((offset(e, acc, at), step.vector(lanes)))
            at += lanes * step.acc_bytes
    sums = [e.op(f"load {ty}, ptr {p}, align {step.acc_bytes}") for p, ty in spots]
    rows = _row_pointers(e, block, a)
    turns, rest = divmod(block.steps, _UNROLL)
    if turns:
        advance: list[tuple[str, int | str]] = [
            (b, _UNROLL * block.b_step),
            *((p, _UNROLL * block.a_step) for p in rows),
        ]
        loop = Loop(e, turns, advance, [(ty, value) for (_, ty), value in zip(spots, sums, strict=True)])
        sums = loop.values
        for i in range(_UNROLL):
            sums = _step(e, block, sums, loop.pointers[1:], loop.pointers[0], i)
        (b, *rows), sums = loop.close(sums)
    for i in range(rest):
        sums = _step(e, block, sums, rows, b, i)
    for value, (p, ty) in zip(sums, spots, strict=True):
        e.stmt(f"store {ty} {value}, ptr {p}, align {step.acc_bytes}")


def _row_pointers(e: Emitter, block: _Block, a: str) -> list[str]:
    """The pointers that walk along K: one for all rows if their distance is a constant, else one for each row."""
    if isinstance(block.a_row, int):
        return [a]
    return [offset(e, a, _times(e, row, block.a_row)) if row else a for row in range(block.rows)]


def _step(e: Emitter, block: _Block, sums: list[str], rows: list[str], b: str, index: int) -> list[str]:
    """One step of K: every accumulator once."""
    step, at = block.step, index * block.b_step
    registers = []
    for lanes in block.vectors:
        registers.append(step.load_b(e, offset(e, b, at), lanes))
        at += lanes * block.a_step
    result = []
    old = iter(sums)
    for row in range(block.rows):
        pointer, at = (rows[0], row * block.a_row) if isinstance(block.a_row, int) else (rows[row], 0)
        scalar = step.load_a(e, offset(e, pointer, at + index * block.a_step))
        by_width = {lanes: step.broadcast(e, scalar, lanes) for lanes in block.vectors}
        for lanes, register in zip(block.vectors, registers, strict=True):
            result.append(step.accumulate(e, next(old), by_width[lanes], register, lanes))
    return result
