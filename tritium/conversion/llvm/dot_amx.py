"""The dot micro-kernel for machines with AMX: tiles of 16 rows by 64 bytes, 16 x 16 sums an instruction.

Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18. Tile registers 0 to 3 hold a 2 x 2
block of accumulator tiles, 4 and 5 the two A tiles of a step, 6 and 7 the two B tiles. A step of K is 64 bytes of a
row of A (64 bytes elements or 32 bf16), or all of K where it is shorter. B's panels are what the vector kernels
read too, with `kpack` elements of K together in each 4 bytes.

The operating system must have granted the process the use of tiles (the backend asks for it).
"""

from __future__ import annotations

from .dot_kernel import Loop, Panel, offset
from .emitter import Emitter

__all__ = ["TILE_K_BYTES", "TILE_ROWS", "amx_declares", "amx_function_text", "amx_instruction"]

TILE_ROWS = 16
TILE_K_BYTES = 64
_TILE_COLUMN_BYTES = 64  # 16 sums of 4 bytes


def amx_declares(instruction: str) -> frozenset[str]:
    """`declare` lines that a function of `instruction` needs."""
    return frozenset(
        (
            "declare void @llvm.x86.ldtilecfg(ptr)",
            "declare void @llvm.x86.tilerelease()",
            "declare void @llvm.x86.tileloadd64(i8 immarg, ptr, i64)",
            "declare void @llvm.x86.tilestored64(i8 immarg, ptr, i64)",
            f"declare void @llvm.x86.{instruction}(i8 immarg, i8 immarg, i8 immarg)",
        )
    )


def amx_instruction(a_type: str, b_type: str) -> str:
    """The multiply-accumulate of two element types: tdpbf16ps, or one of the four for signed and unsigned bytes.

    >>> amx_instruction("u8", "i8")
    'tdpbusd'
    """
    if a_type == b_type == "bf16":
        return "tdpbf16ps"
    return f"tdpb{'u' if a_type == 'u8' else 's'}{'u' if b_type == 'u8' else 's'}d"


def amx_function_text(
    symbol: str, instruction: str, element_bytes: int, panels: list[Panel], k: int, a_row: int | None, acc_row: int
) -> str:
    """The whole function; `k`, `a_row` and `acc_row` in elements. Without `a_row`, the distance of A's rows in bytes is
    a fourth argument."""
    k_bytes = k * element_bytes
    step = min(k_bytes, TILE_K_BYTES)
    e = Emitter()
    e.label("entry")
    config = f"{symbol}.config"
    e.stmt(f"call void @llvm.x86.ldtilecfg(ptr {config})")
    a_bytes = "%a_row" if a_row is None else str(a_row * element_bytes)
    for panel in panels:
        _panel(e, instruction, panel, (k_bytes, step), a_bytes, acc_row * 4)
    e.stmt("call void @llvm.x86.tilerelease()")
    e.stmt("ret void")
    stride = ", i64 %a_row" if a_row is None else ""
    head = f"define internal void {symbol}(ptr noalias nocapture %acc, ptr noalias nocapture readonly %a, "
    head += f"ptr noalias nocapture readonly %b{stride}) nounwind noinline {{"
    return f"{config} = private constant [64 x i8] {_configuration(step)}, align 64\n{head}\n{e.text()}\n}}\n"


def _configuration(step: int) -> str:
    """The 64 bytes that LDTILECFG reads: palette 1, bytes a row (16-bit, from byte 16), rows (from byte 48)."""
    data = bytearray(64)
    data[0] = 1
    shapes = [(TILE_ROWS, _TILE_COLUMN_BYTES)] * 4 + [(TILE_ROWS, step)] * 2 + [(step // 4, _TILE_COLUMN_BYTES)] * 2
    for tile, (rows, columns) in enumerate(shapes):
        data[16 + 2 * tile] = columns
        data[48 + tile] = rows
    return "[" + ", ".join(f"i8 {b}" for b in data) + "]"


def _panel(e: Emitter, instruction: str, panel: Panel, k: tuple[int, int], a_row: str, acc_row: int) -> None:
    """All panels of one width; `panel.vectors` are its tiles, `row_blocks` counts rows in tiles."""
    k_bytes, step = k
    columns = panel.columns
    b_size = columns * k_bytes
    b, acc = offset(e, "%b", panel.first * k_bytes), offset(e, "%acc", panel.first * 4)
    panels = Loop(e, panel.count, [(b, b_size), (acc, columns * 4)])
    a, (b, acc) = "%a", panels.pointers
    for rows, count in panel.row_blocks:
        a_stride = e.op(f"mul i64 {a_row}, {rows * TILE_ROWS}")
        blocks = Loop(e, count, [(a, a_stride), (acc, rows * TILE_ROWS * acc_row)])
        _block(
            e, instruction, (rows, columns // TILE_ROWS), (k_bytes // step, step), blocks.pointers, b, a_row, acc_row
        )
        a, acc = blocks.close([])[0]
    panels.close([])


def _block(
    e: Emitter,
    instruction: str,
    tiles: tuple[int, int],
    steps: tuple[int, int],
    pointers: list[str],
    b: str,
    a_row: str,
    acc_row: int,
) -> None:
    """Up to 2 x 2 accumulator tiles: load, walk K, store."""
    (rows, columns), (turns, step), (a, acc) = tiles, steps, pointers
    spots = [
        (2 * i + j, offset(e, acc, i * TILE_ROWS * acc_row + j * _TILE_COLUMN_BYTES))
        for i in range(rows)
        for j in range(columns)
    ]
    for tile, at in spots:
        e.stmt(f"call void @llvm.x86.tileloadd64(i8 {tile}, ptr {at}, i64 {acc_row})")
    below = e.op(f"mul i64 {a_row}, {TILE_ROWS}")
    loop = Loop(e, turns, [(a, step), (b, columns * TILE_ROWS * step)])
    a_at, b_at = loop.pointers
    for i in range(rows):
        at = offset(e, a_at, below) if i else a_at
        e.stmt(f"call void @llvm.x86.tileloadd64(i8 {4 + i}, ptr {at}, i64 {a_row})")
    for j in range(columns):
        at = offset(e, b_at, j * _TILE_COLUMN_BYTES)
        e.stmt(f"call void @llvm.x86.tileloadd64(i8 {6 + j}, ptr {at}, i64 {columns * _TILE_COLUMN_BYTES})")
    for i in range(rows):
        for j in range(columns):
            e.stmt(f"call void @llvm.x86.{instruction}(i8 {2 * i + j}, i8 {4 + i}, i8 {6 + j})")
    loop.close([])
    for tile, at in spots:
        e.stmt(f"call void @llvm.x86.tilestored64(i8 {tile}, ptr {at}, i64 {acc_row})")
