"""Random functions of blocks that branch to one another, as text; they end, whatever the arguments are.

Every block takes `fuel` and a few numbers; with no fuel left it goes to the exit. On the way blocks write to memory.
"""

from __future__ import annotations

import random

__all__ = ["random_graph"]

_OPERATIONS = ("addi", "subi", "muli", "andi", "xori", "maxsi")


class _Function:
    def __init__(self, seed: int, blocks: int) -> None:
        self.random = random.Random(seed)
        self.arguments = [self.random.randrange(4) for _ in range(blocks)]
        self.lines: list[str] = []
        self.fresh = 0

    def name(self) -> str:
        self.fresh += 1
        return f"%v{self.fresh}"

    def step(self, known: list[str]) -> None:
        """An operation on values in scope, or a write of one."""
        if self.random.random() < 0.25:
            at = self.name()
            self.lines.append(f"  {at} = tt.addptr %p, %c{self.random.randrange(4)} : !tt.ptr<i32>, i32")
            self.lines.append(f"  tt.store {at}, {self.random.choice(known)} : !tt.ptr<i32>")
            return
        made = self.name()
        a, b = self.random.choice(known), self.random.choice(known)
        self.lines.append(f"  {made} = arith.{self.random.choice(_OPERATIONS)} {a}, {b} : i32")
        known.append(made)

    def target(self, fuel: str, known: list[str]) -> str:
        """A branch's successor with its operands."""
        block = self.random.randrange(len(self.arguments))
        values = [fuel, *(self.random.choice(known) for _ in range(self.arguments[block]))]
        return f"^b{block}({', '.join(values)} : {', '.join(['i32'] * len(values))})"

    def block(self, number: int, outside: list[str]) -> None:
        args = [f"%a{number}_{i}" for i in range(self.arguments[number])]
        listed = ", ".join(f"{a}: i32" for a in (f"%fuel{number}", *args))
        self.lines.append(f"^b{number}({listed}):")
        self.lines.append(f"  %empty{number} = arith.cmpi sle, %fuel{number}, %c0 : i32")
        self.lines.append(f"  %less{number} = arith.subi %fuel{number}, %c1 : i32")
        result = self.random.choice([*outside, *args])
        self.lines.append(f"  cf.cond_br %empty{number}, ^exit({result} : i32), ^go{number}")
        self.lines.append(f"^go{number}:")
        known = [*outside, *args]
        for _ in range(self.random.randrange(4)):
            self.step(known)
        if self.random.random() < 0.4:
            self.lines.append(f"  cf.br {self.target(f'%less{number}', known)}")
            return
        condition = self.name()
        a, b = self.random.choice(known), self.random.choice(known)
        self.lines.append(f"  {condition} = arith.cmpi slt, {a}, {b} : i32")
        ways = ", ".join(self.target(f"%less{number}", known) for _ in range(2))
        self.lines.append(f"  cf.cond_br {condition}, {ways}")


def random_graph(seed: int, blocks: int = 5) -> str:
    """The text of a function `@k(%p: !tt.ptr<i32>, %x: i32, %y: i32)` that writes `%p[0 .. 3]`."""
    f = _Function(seed, blocks)
    outside = ["%x", "%y", "%c0", "%c1", "%c2", "%c3"]
    constants = [f"  %c{n} = arith.constant {n} : i32" for n in range(4)]
    entry = f"  cf.br {f.target('%c3', outside)}" if seed % 2 else f"  cf.br {f.target('%fuel', outside)}"
    for number in range(blocks):
        f.block(number, outside)
    head = ["tt.func public @k(%p: !tt.ptr<i32>, %x: i32, %y: i32, %fuel: i32) {", *constants, entry]
    return "\n".join([*head, *f.lines, "^exit(%r: i32):", "  tt.store %p, %r : !tt.ptr<i32>", "  tt.return", "}"])
