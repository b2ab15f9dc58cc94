"""Integers that differ between registers by constants: `x + c` with a common base x.

Element indices have this form (`lane part | register part`), and so do their sums, multiples and extensions. The base
is emitted once:

    %y + (%x | 512)        ->   %s = add %y, %x     add %s, 512        one %s for all registers
    %s * (%x | 512)        ->   %p = mul %x, %s     add %p, (512 * %s)

Addresses then are one base and constant offsets, which are immediates of the memory instructions. LLVM does not do
this: its loop-invariant code motion reassociates sums the other way, and its strength reduction (LLVM 22) skips 64-bit
multiplications.
"""

from __future__ import annotations

from ...support.patterns import pattern
from .context import FunctionContext

__all__ = ["add_offsets", "emit_once", "extend_offset", "multiply_offsets"]

_NUMBER = pattern(r"-?\d+")


def emit_once(e: FunctionContext, text: str) -> str:
    """The value of a pure instruction, emitted once per basic block."""
    found = e.known_values.get(text)
    if found is None:
        found = e.known_values[text] = e.op(text)
    return found


def _split(e: FunctionContext, operand: str) -> tuple[str, int]:
    """`base, constant` with operand = base + constant, modulo its width."""
    base, constant, _ = e.offsets.get(operand, (operand, 0, False))
    return base, constant


def _plus(e: FunctionContext, width: int, base: str, constant: int) -> str:
    constant &= (1 << width) - 1
    if constant == 0:
        return base
    number = constant - (1 << width) if constant >> (width - 1) else constant
    out = emit_once(e, f"add i{width} {base}, {number}")
    e.offsets[out] = base, constant, False
    return out


def add_offsets(e: FunctionContext, width: int, a: str, b: str) -> str:
    """a + b"""
    if _NUMBER.fullmatch(a):
        a, b = b, a
    x, c = _split(e, a)
    if _NUMBER.fullmatch(b) and not _NUMBER.fullmatch(a):
        return _plus(e, width, x, c + int(b))
    y, d = _split(e, b)
    return _plus(e, width, emit_once(e, f"add i{width} {x}, {y}"), c + d)


def multiply_offsets(e: FunctionContext, width: int, a: str, b: str) -> str:
    """a * b. Two variables of up to 32 bits are not split: that is one instruction in any case."""
    if a in e.offsets:
        a, b = b, a
    x, c = _split(e, b)
    number = _NUMBER.fullmatch(a)
    if c == 0 or not (number or width == 64):
        return emit_once(e, f"mul i{width} {a}, {b}")
    common = emit_once(e, f"mul i{width} {x}, {a}")
    if number:
        return _plus(e, width, common, c * int(a))
    return emit_once(e, f"add i{width} {common}, {emit_once(e, f'mul i{width} {a}, {c}')}")


def extend_offset(e: FunctionContext, name: str, operand: str, width: int, wide: int) -> str:
    """`operand` of i`width` with more bits, by sext or zext."""
    base, constant, disjoint = e.offsets.get(operand, (operand, 0, False))
    if not disjoint or (name == "sext" and constant >> (width - 1)):
        return emit_once(e, f"{name} i{width} {operand} to i{wide}")
    out = emit_once(e, f"or disjoint i{wide} {emit_once(e, f'{name} i{width} {base} to i{wide}')}, {constant}")
    e.offsets[out] = emit_once(e, f"{name} i{width} {base} to i{wide}"), constant, True
    return out
