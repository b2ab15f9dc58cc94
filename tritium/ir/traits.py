"""What passes may assume of an operation, as bits of `Op.traits`.

Passes ask for traits, never for lists of op classes, so that a new op needs no pass edited.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "ALLOC",
    "COMMUTATIVE",
    "CONSTANT",
    "ELEMENTWISE",
    "IDEMPOTENT",
    "INVOLUTION",
    "ISOLATED",
    "LOOP",
    "NAMED_RESULTS",
    "NO_TERMINATOR",
    "PURE",
    "READ",
    "RECURSIVE_EFFECTS",
    "RETURN_LIKE",
    "SAME_TYPE",
    "SINGLE_BLOCK",
    "SYMBOL",
    "SYMBOL_TABLE",
    "TERMINATOR",
    "TRAPS",
    "WRITE",
    "has_trait",
    "is_pure",
    "memory_effects",
]

PURE = 1 << 0  # no effect, may be duplicated, moved and removed (and speculated, unless TRAPS)
COMMUTATIVE = 1 << 1
ELEMENTWISE = 1 << 2  # acts per element; operands and results have one shape (scalars included)
SAME_TYPE = 1 << 3  # all operands and results have one type
TERMINATOR = 1 << 4  # ends its block
ISOLATED = 1 << 5  # regions use no value from outside
SYMBOL = 1 << 6  # has a `sym_name`
SYMBOL_TABLE = 1 << 7  # holds symbols
CONSTANT = 1 << 8  # its `value` attribute is its result
READ = 1 << 9  # reads memory
WRITE = 1 << 10  # writes memory, or has another effect that must stay in order
ALLOC = 1 << 11  # makes fresh memory
RECURSIVE_EFFECTS = 1 << 12  # its effects are those of the ops in its regions
SINGLE_BLOCK = 1 << 13  # every region has at most one block
NO_TERMINATOR = 1 << 14  # blocks of its regions end without a terminator
LOOP = 1 << 15  # its regions may run several times
IDEMPOTENT = 1 << 16  # f(f(x)) = f(x)
INVOLUTION = 1 << 17  # f(f(x)) = x
RETURN_LIKE = 1 << 18  # hands its operands to the parent operation
TRAPS = 1 << 19  # may stop the program for some operands (integer division): must not run where it did not before
NAMED_RESULTS = 1 << 20  # several declared results, which text calls as the definition does (set by the definition)


def has_trait(op: Any, trait: int) -> bool:
    """True when all bits of `trait` are set on the op's class."""
    return op.traits & trait == trait


def memory_effects(op: Any) -> int:
    """READ, WRITE, ALLOC bits; an op that says nothing is taken to read and write."""
    override = getattr(op, "effects", None)
    if override is not None:
        return override
    traits = op.traits
    if traits & (PURE | CONSTANT):
        return 0
    bits = traits & (READ | WRITE | ALLOC)
    if traits & RECURSIVE_EFFECTS:
        for region in op.regions:
            for block in region.blocks:
                for inner in block:
                    bits |= memory_effects(inner)
        return bits
    if bits or traits & TERMINATOR:
        return bits
    return READ | WRITE


def is_pure(op: Any) -> bool:
    """True when the op has no memory effect, nested ones included."""
    return bool(op.traits & PURE) or memory_effects(op) == 0
