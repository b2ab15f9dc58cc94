"""Integers that differ between registers by constants: `x + c`, where x is the same in all of them.

Positions are such (`lane part | register part`), and so are their sums, products and extensions. What the registers
have in common is written once:

    %y + (%x | 512)        ->   %s = add %y, %x     add %s, 512        one %s for all registers
    %s * (%x | 512)        ->   %p = mul %x, %s     add %p, (512 * %s)

Addresses then are one base and constants, which fit into the instructions that access memory. LLVM does not get there
by itself: its loop-invariant code motion takes sums apart the other way, and its strength reduction (LLVM 22) leaves
products of 64 bits.
"""

from __future__ import annotations

from ...support.patterns import pattern
from .context import FunctionContext

__all__ = ["extended", "product", "shared", "sum_of"]

_NUMBER = pattern(r"-?\d+")


def shared(e: FunctionContext, text: str) -> str:
    """The value of an instruction without effects, written once a block."""
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
    out = shared(e, f"add i{width} {base}, {number}")
    e.offsets[out] = base, constant, False
    return out


def sum_of(e: FunctionContext, width: int, a: str, b: str) -> str:
    """a + b"""
    if _NUMBER.fullmatch(a):
        a, b = b, a
    x, c = _split(e, a)
    if _NUMBER.fullmatch(b) and not _NUMBER.fullmatch(a):
        return _plus(e, width, x, c + int(b))
    y, d = _split(e, b)
    return _plus(e, width, shared(e, f"add i{width} {x}, {y}"), c + d)


def product(e: FunctionContext, width: int, a: str, b: str) -> str:
    """a * b. Two variables of up to 32 bits are multiplied as they are: that is one instruction in any case."""
    if a in e.offsets:
        a, b = b, a
    x, c = _split(e, b)
    number = _NUMBER.fullmatch(a)
    if c == 0 or not (number or width == 64):
        return shared(e, f"mul i{width} {a}, {b}")
    common = shared(e, f"mul i{width} {x}, {a}")
    if number:
        return _plus(e, width, common, c * int(a))
    return shared(e, f"add i{width} {common}, {shared(e, f'mul i{width} {a}, {c}')}")


def extended(e: FunctionContext, name: str, operand: str, width: int, wide: int) -> str:
    """`operand` of i`width` with more bits, by sext or zext."""
    base, constant, disjoint = e.offsets.get(operand, (operand, 0, False))
    if not disjoint or (name == "sext" and constant >> (width - 1)):
        return shared(e, f"{name} i{width} {operand} to i{wide}")
    out = shared(e, f"or disjoint i{wide} {shared(e, f'{name} i{width} {base} to i{wide}')}, {constant}")
    e.offsets[out] = shared(e, f"{name} i{width} {base} to i{wide}"), constant, True
    return out
