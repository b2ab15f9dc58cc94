"""PTX text as data: a module, its variables and functions, their instructions.

The grammar is that of the PTX ISA, section "Syntax". Statements end with a semicolon, except those of the debugger
(`.loc`, `.file`) and a module's head. Names declared in an inner scope `{ … }` are made unique (`name@3`), so that
the rest of the emulator knows one flat set of names a function.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "Address",
    "Function",
    "Immediate",
    "Instruction",
    "Labels",
    "Module",
    "Name",
    "Operand",
    "Pair",
    "Register",
    "Special",
    "Tuple",
    "Variable",
]


class Register(NamedTuple):
    """A declared register; `negated` for `!%p`."""

    name: str
    negated: bool = False


class Special(NamedTuple):
    """A register that the machine defines: `%tid.x`."""

    name: str


class Immediate(NamedTuple):
    """A constant: an integer, a number (`1.5`), or the bits of one (`0f3F800000`: 32, `0d…`: 64 bits)."""

    value: int | float
    float_bits: int = 0


class Name(NamedTuple):
    """A variable, function or label."""

    name: str


class Pair(NamedTuple):
    """Two results in one operand: `%r1|%p1`."""

    first: Operand
    second: Operand


class Tuple(NamedTuple):
    """Operands in braces or parentheses."""

    items: tuple[Operand, ...]


class Address(NamedTuple):
    """`[base + offset]`; base is a register, a name or None; `rest` are further operands inside the brackets."""

    base: Operand | None
    offset: int
    rest: tuple[Operand, ...] = ()


Operand = Register | Special | Immediate | Name | Pair | Tuple | Address | None  # None is the sink `_`

Location = tuple[str, int, int]


class Instruction(NamedTuple):
    """One instruction: `opcode` up to the first dot, the suffixes as `modifiers`, an optional guard, operands."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None
    line: int
    loc: Location | None
    text: str

    @property
    def name(self) -> str:
        return ".".join((self.opcode, *self.modifiers))

    @property
    def language(self) -> str:
        return "PTX"


class Variable(NamedTuple):
    """A variable or parameter of `count` elements (0: its size is given at the launch) in a state space.

    `initial` holds integers, or (symbol, offset) for addresses. `pointer` says that a parameter is declared `.ptr`.
    """

    name: str
    space: str
    type: str
    count: int  # type: ignore[assignment]  # shadows tuple.count
    align: int
    size: int
    initial: tuple[object, ...] | None = None
    pointer: bool = False


class Labels(NamedTuple):
    """The targets of a `brx.idx`."""

    names: tuple[str, ...]


class Function(NamedTuple):
    """A kernel (`entry`) or device function; `instructions` is None where it is only declared.

    `labels` maps a name to the number of the instruction that follows it. `directives` has `.reqntid` and the like.
    """

    name: str
    entry: bool
    parameters: tuple[Variable, ...]
    results: tuple[Variable, ...]
    directives: dict[str, tuple[int, ...]]
    registers: dict[str, str]
    variables: dict[str, Variable]
    instructions: list[Instruction] | None
    labels: dict[str, int]
    tables: dict[str, Labels]
    line: int


class Module(NamedTuple):
    """A PTX file."""

    version: tuple[int, int]
    target: str
    variables: dict[str, Variable]
    functions: dict[str, Function]
