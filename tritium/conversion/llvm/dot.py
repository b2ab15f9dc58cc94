"""Matrix multiplication of tiles: acc[M][N] += A[M][K] @ B[K][N], as register-tiled LLVM text.

The micro-kernel holds `rows x (vectors * lanes)` accumulators in registers, walks K, and for each step multiplies
`vectors` registers of B by one broadcast element of A per row (Goto and van de Geijn, "Anatomy of High-Performance
Matrix Multiplication", 2008). What it reads must be laid out for it:

- A: row-major, element (m, k) at `m * a_row_stride + k` (M rows of `k_padded` elements by default). With
  `a_in_place` the distance of rows is an argument instead, so that an A of the right type is read where it lies: for
  tiles of 64x64x32 that is 20 % faster than copying it first;
- B: panels of `nr` columns, each contiguous: `[N/nr][K/kpack][nr][kpack]`, so that one step of K reads consecutive
  registers. The last panel is narrower if `nr` does not divide N. `DotPlan.b_offset(k, n)` says where an element is;
- acc: row-major `[M][acc_row_stride]` (N by default), updated in place.

`kpack` consecutive K elements are multiplied and added by one instruction (pairs of 16-bit integers or bf16 numbers);
K is padded to a multiple of it with zeros (`k_padded`), by the code that fills the buffers.

Operands are converted to `compute_type` while they are packed: f16, bf16 and tf32 are multiplied as f32 (exact
products, f32 sums), 8-bit integers as 16-bit pairs, summed exactly in 32 bits, wrapping. Machines with AMX multiply
8-bit integers as they are, where M and N are multiples of 16.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

from ...support.dataclasses import dataclass
from .dot_amx import TILE_K_BYTES, TILE_ROWS, amx_declares, amx_function_text, amx_instruction
from .dot_kernel import Panel, Step, function_text

__all__ = ["DotPlan", "CPUFeatures", "plan_dot"]


class CPUFeatures(Protocol):
    """The properties of a CPU that generated code depends on."""

    @property
    def arch(self) -> str: ...
    @property
    def vector_bits(self) -> int: ...
    @property
    def vector_registers(self) -> int: ...
    @property
    def has_fma(self) -> bool: ...
    @property
    def has_avx2(self) -> bool: ...
    @property
    def has_avx512(self) -> bool: ...
    @property
    def has_bf16(self) -> bool: ...
    @property
    def has_amx(self) -> bool: ...


_BITS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "tf32": 32, "i8": 8, "u8": 8, "i16": 16, "i32": 32}
_SHORT_FLOATS = ("f32", "tf32", "f16", "bf16", "fp8")


@dataclass(frozen=True)
class DotPlan:
    """How one shape of `dot` is computed. Buffers hold `compute_type` elements and are 64-byte aligned."""

    m: int
    n: int
    k: int
    compute_type: str  # of the elements of the packed A and B: f32, f64, bf16, i8 (of either sign), i16, i32
    acc_type: str  # f32, f64, i32
    kpack: int
    nr: int
    mr: int
    lanes: int
    k_padded: int
    a_row_stride: int  # 0 if a_in_place
    acc_row_stride: int
    step: Step
    a_in_place: bool = False

    @property
    def symbol(self) -> str:
        """The function's name; equal names mean equal functions."""
        strides = f"a{self.a_row_stride or 'p'}.c{self.acc_row_stride}"
        shape = f"{self.m}x{self.n}x{self.k}.{strides}.t{self.mr}x{self.nr}.v{self.lanes}"
        return f"@tt.dot.{self.step.name}.{shape}"

    @property
    def a_elements(self) -> int:
        """Elements of the A buffer; none if A is read in place."""
        return self.m * self.a_row_stride

    @property
    def b_elements(self) -> int:
        """Elements of the B buffer."""
        return self.n * self.k_padded

    @property
    def acc_elements(self) -> int:
        """Elements of the accumulator."""
        return self.m * self.acc_row_stride

    def a_offset(self, m: int, k: int) -> int:
        """Where A[m][k] belongs, in elements."""
        return m * self.a_row_stride + k

    def b_offset(self, k: int, n: int) -> int:
        """Where B[k][n] belongs, in elements: panel n // nr, then k // kpack, then column, then k % kpack."""
        panel, column = divmod(n, self.nr)
        width = min(self.nr, self.n - panel * self.nr)
        return panel * self.nr * self.k_padded + (k // self.kpack * width + column) * self.kpack + k % self.kpack

    def call(self, acc: str, a: str, b: str, a_row_bytes: str = "") -> str:
        """The call instruction, given three pointer values, and the i64 distance of A's rows if A is read in place."""
        if bool(a_row_bytes) != self.a_in_place:
            raise ValueError("a_row_bytes belongs to plans that read A in place, and only to them")
        stride = f", i64 {a_row_bytes}" if self.a_in_place else ""
        return f"call void {self.symbol}(ptr {acc}, ptr {a}, ptr {b}{stride})"

    @cached_property
    def function_text(self) -> str:
        """`define internal void @tt.dot...(ptr noalias %acc, ptr noalias %a, ptr noalias %b)`."""
        a_row = None if self.a_in_place else self.a_row_stride
        if self.step.is_amx:
            args = (self.step.instruction, self.step.element_bytes, self._panels(), self.k_padded)
            return amx_function_text(self.symbol, *args, a_row, self.acc_row_stride)
        return function_text(self.symbol, self.step, self._panels(), self.k_padded, a_row, self.acc_row_stride)

    @property
    def declares(self) -> frozenset[str]:
        """`declare` lines the function needs."""
        if self.step.is_amx:
            return amx_declares(self.step.instruction)
        widths = {w for panel in self._panels() for w in panel.vectors}
        return frozenset(d for w in widths for d in self.step.declares(w))

    def _panels(self) -> list[Panel]:
        full, rest = divmod(self.n, self.nr)
        unit = TILE_ROWS if self.step.is_amx else 1
        rows = _row_blocks(self.m // unit, self.mr // unit)
        panels = [Panel(0, full, _chunks(self.nr, self.lanes), rows)] if full else []
        if rest:
            panels.append(Panel(full * self.nr, 1, _chunks(rest, self.lanes), rows))
        return panels


def _chunks(width: int, lanes: int) -> tuple[int, ...]:
    """`width` columns as vectors of at most `lanes`, each a power of two wide: 20 -> (16, 4)."""
    sizes = [lanes] * (width // lanes)
    rest = width % lanes
    sizes += [1 << i for i in reversed(range(rest.bit_length())) if rest >> i & 1]
    return tuple(sizes)


def _row_blocks(m: int, mr: int) -> tuple[tuple[int, int], ...]:
    """`m` rows as (rows, how many blocks of them), rows <= mr, sizes differing by at most one."""
    blocks = -(-m // mr)
    small, larger = divmod(m, blocks)
    return tuple((rows, count) for rows, count in ((small + 1, larger), (small, blocks - larger)) if count)


def plan_dot(
    target: CPUFeatures,
    m: int,
    n: int,
    k: int,
    a_type: str,
    b_type: str,
    acc_type: str,
    *,
    allow_bf16_pairs: bool = False,
    a_row_stride: int | None = None,
    acc_row_stride: int | None = None,
    a_in_place: bool = False,
    tile: tuple[int, int] | None = None,
) -> DotPlan:
    """A plan for acc[m][n] += a[m][k] @ b[k][n] on `target`.

    Types: f64; f32, tf32, f16, bf16 (any mix) with acc f32; i8, u8, i16 with acc i32; i32. `allow_bf16_pairs` uses
    the bf16 dot product where both operands are bf16 and the target has it: twice as fast, but it flushes denormals
    and rounds odd and even elements of K separately. `a_in_place` reads A through a pointer and a distance of rows in
    bytes that each call gives; its elements must be of `compute_type`, and K must not need padding. `tile` = (rows,
    columns) overrides the choice of register tile.
    Raises ValueError for sizes below 1 or types that cannot be multiplied.
    """
    if min(m, n, k) < 1:
        raise ValueError(f"a dot of shape {m}x{n}x{k} has nothing to multiply")
    step = _choose_step(target, (m, n), a_type, b_type, acc_type, allow_bf16_pairs)
    kpack = step.kpack
    lanes = max(1, target.vector_bits // step.acc_bits)
    lanes = min(lanes, 1 << (n.bit_length() - 1))
    mr, nr = tile or _choose_tile(target, m, n, lanes)
    k_padded = -(-k // kpack) * kpack
    if step.is_amx:
        mr, nr, lanes = min(m, 2 * TILE_ROWS), min(n, 2 * TILE_ROWS), TILE_ROWS
        whole = TILE_K_BYTES // step.element_bytes
        k_padded = k_padded if k_padded <= whole else -(-k // whole) * whole
    if a_in_place and k_padded != k:
        raise ValueError(f"A cannot be read in place: K = {k} must be padded to {k_padded}")
    return DotPlan(
        m,
        n,
        k,
        step.compute_type,
        step.acc_type,
        kpack,
        min(nr, n),
        min(mr, m),
        lanes,
        k_padded,
        0 if a_in_place else a_row_stride or k_padded,
        acc_row_stride or n,
        step,
        a_in_place,
    )


def _choose_step(
    target: CPUFeatures, size: tuple[int, int], a_type: str, b_type: str, acc_type: str, pairs: bool
) -> Step:
    for name in (a_type, b_type):
        if name not in _BITS:
            raise ValueError(f"dot cannot multiply {name}")
    kinds = {a_type, b_type}
    tiles = target.has_amx and size[0] % TILE_ROWS == 0 and size[1] % TILE_ROWS == 0
    if acc_type == "f64" and kinds <= {"f64", "f32"}:
        return Step("f64", "f64", "fma" if target.has_fma else "muladd")
    if acc_type == "f32" and kinds <= set(_SHORT_FLOATS):
        if pairs and kinds == {"bf16"} and target.has_bf16 and target.arch == "x86_64":
            return Step("bf16", "f32", amx_instruction(a_type, b_type) if tiles else "dpbf16ps")
        return Step("f32", "f32", "fma" if target.has_fma else "muladd")
    if acc_type == "i32" and kinds <= {"i8", "u8"} and tiles:
        return Step("i8", "i32", amx_instruction(a_type, b_type))
    if acc_type == "i32" and kinds <= {"i8", "u8", "i16"}:
        return Step("i16", "i32", "pmaddwd" if target.arch == "x86_64" else "widen")
    if acc_type == "i32" and kinds <= {"i8", "u8", "i16", "i32"}:
        return Step("i32", "i32", "imul")
    raise ValueError(f"dot cannot multiply {a_type} by {b_type} into {acc_type}")


# Rows x vectors of accumulators by size of the register file. Measured 2026-11 on Zen 5 (GFLOP/s of the whole blocked
# 1024^3 matmul, BM x BN x BK = 128x128x64): AVX-512 8x2 222, 12x2 221, 14x2 220, 8x3 219, 6x4 210, 16x1 206;
# AVX2 6x2 119, 4x3 115, 5x2 115, 2x4 107, 4x2 106, 8x1 102. More accumulators than two FMA units can keep in flight
# (2 x 4 cycles) buy nothing, and 8 rows divide the powers of two that tiles are made of.
_TILES = {32: (8, 2), 16: (6, 2)}


def _choose_tile(target: CPUFeatures, m: int, n: int, lanes: int) -> tuple[int, int]:
    """(rows, columns) of accumulators: the measured best, stretched along the other side where M or N is short."""
    registers = 32 if target.vector_registers >= 32 else 16
    rows, vectors = _TILES[registers]
    accumulators = rows * vectors
    if m < rows:
        rows = m
        vectors = accumulators // rows
    vectors = min(vectors, max(1, n // lanes), 8)
    if vectors == 1:
        rows = min(m, accumulators)
    return rows, vectors * lanes
