"""A kernel made ready to run: device functions inlined, variables given addresses, instructions cut into segments.

A segment is a straight-line run of instructions and one *terminator*: a branch, an exit, a barrier, or an instruction
that the threads of a warp execute together. The index of a segment is a thread's program counter. Segments are in the
order of the text, so that running the lowest index first makes diverged threads reconverge.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .errors import PTXError, UnknownInstruction
from .ptx import Address, Function, Instruction, Labels, Module, Name, Operand, Pair, Register, Tuple, Variable

__all__ = ["RUNTIME_FUNCTIONS", "Program", "Segment", "Symbol", "build"]

#: Device functions that the runtime provides, and no module defines. (`instructions.control` has what is emulated.)
RUNTIME_FUNCTIONS = ("vprintf", "__assertfail", "malloc", "free")
#: Opcodes of terminators.
TERMINATOR_OPCODES = frozenset(
    (
        "bra",
        "brx",
        "ret",
        "exit",
        "bar",
        "barrier",
        "shfl",
        "vote",
        "match",
        "redux",
        "elect",
        "mma",
        "ldmatrix",
        "stmatrix",
        "wgmma",
        "movmatrix",
        "setmaxnreg",
    )
)


class Symbol(NamedTuple):
    """Where a variable is: its space and its offset in that space."""

    space: str
    offset: int
    variable: Variable


class Segment(NamedTuple):
    """Instructions in order, then the terminator; None where control falls through to the next segment."""

    instructions: list[Instruction]
    terminator: Instruction | None


class Program(NamedTuple):
    """A kernel without calls. `targets` maps the labels to segments, `registers` the names to their types."""

    name: str
    kernel: Function
    module: Module
    registers: dict[str, str]
    symbols: dict[str, Symbol]
    segments: list[Segment]
    targets: dict[str, int]
    tables: dict[str, Labels]
    param_size: int
    shared_size: int
    local_size: int
    globals: tuple[Variable, ...]


def _align(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


class _Inliner:
    """Writes the instructions of a function and of what it calls into one list, with names that do not clash."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.registers: dict[str, str] = {}
        self.variables: dict[str, Variable] = {}
        self.instructions: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, Labels] = {}
        self.calls = 0

    def add(self, function: Function, prefix: str, names: dict[str, str], active: tuple[str, ...]) -> None:
        """Append the body of `function`; `names` says what its formal parameters are called here."""
        if function.instructions is None:
            raise PTXError(f"the function {function.name} is declared but not defined")
        names = dict(names)
        for register, type_ in function.registers.items():
            if register not in names:
                names[register] = prefix + register
                self.registers[prefix + register] = type_
        for variable in function.variables.values():
            names[variable.name] = prefix + variable.name
            self.variables[prefix + variable.name] = variable._replace(name=prefix + variable.name)
        for label in function.labels:
            names[label] = prefix + label
        for table, labels in function.tables.items():
            names[table] = prefix + table
            self.tables[prefix + table] = Labels(tuple(prefix + n for n in labels.names))
        starts: dict[int, list[str]] = {}
        for label, index in function.labels.items():
            starts.setdefault(index, []).append(prefix + label)
        after = f"{prefix}/return"
        for index, i in enumerate(function.instructions):
            self.mark(starts.get(index, ()))
            if prefix and i.opcode == "ret":
                i = i._replace(opcode="bra", operands=(Name(after),))
            elif prefix:
                i = rename(i, names)
            if i.opcode == "call":
                self.call(i, prefix, active)
            else:
                self.instructions.append(i)
        self.mark(starts.get(len(function.instructions), ()))
        if prefix:
            self.mark([after])

    def mark(self, labels: Iterable[str]) -> None:
        for label in labels:
            self.labels[label] = len(self.instructions)

    def call(self, i: Instruction, prefix: str, active: tuple[str, ...]) -> None:
        operands = list(i.operands)
        results = operands.pop(0) if isinstance(operands[0], Tuple) else Tuple(())
        callee = operands.pop(0)
        arguments = operands.pop(0) if operands else Tuple(())
        if not isinstance(callee, Name) or not isinstance(results, Tuple) or not isinstance(arguments, Tuple):
            raise UnknownInstruction("a call through a pointer is not emulated", i)
        if callee.name in RUNTIME_FUNCTIONS:
            self.instructions.append(i._replace(operands=(results, callee, arguments)))
            return
        function = self.module.functions.get(callee.name)
        if function is None:
            raise PTXError(f"the function {callee.name} is not declared", i)
        if callee.name in active:
            raise UnknownInstruction(f"{callee.name} calls itself: recursion is not emulated", i)
        if i.guard is not None:
            skip = f"{prefix}/skip{self.calls}"
            negated = i.guard._replace(negated=not i.guard.negated)
            self.instructions.append(i._replace(opcode="bra", modifiers=(), operands=(Name(skip),), guard=negated))
        self.calls += 1
        inner = f"{callee.name}#{self.calls}/"
        names: dict[str, str] = {}
        formals = (*function.results, *function.parameters)
        actuals = (*results.items, *arguments.items)
        if len(formals) != len(actuals):
            raise PTXError(f"{callee.name} takes {len(formals)} parameters and results, not {len(actuals)}", i)
        for formal, actual in zip(formals, actuals):
            if isinstance(actual, (Name, Register)):
                names[formal.name] = actual.name
            else:
                names[formal.name] = self.constant(inner, formal, actual, i)
        self.add(function, inner, names, (*active, callee.name))
        if i.guard is not None:
            self.mark([skip])

    def constant(self, prefix: str, formal: Variable, actual: Operand, i: Instruction) -> str:
        """A register that holds a constant which is passed for a register."""
        name = prefix + formal.name
        self.registers[name] = formal.type
        move = i._replace(opcode="mov", modifiers=(formal.type,), operands=(Register(name), actual), guard=None)
        self.instructions.append(move)
        return name


def rename(i: Instruction, names: dict[str, str]) -> Instruction:
    """`i` with the names of its operands changed."""

    def one(o: Operand) -> Operand:
        if isinstance(o, (Register, Name)):
            return o._replace(name=names.get(o.name, o.name))
        if isinstance(o, Pair):
            return Pair(one(o.first), one(o.second))
        if isinstance(o, Tuple):
            return Tuple(tuple(one(x) for x in o.items))
        if isinstance(o, Address):
            return Address(one(o.base), o.offset, tuple(one(x) for x in o.rest))
        return o

    guard = i.guard._replace(name=names.get(i.guard.name, i.guard.name)) if i.guard is not None else None
    return i._replace(operands=tuple(one(o) for o in i.operands), guard=guard)


def kernel_of(module: Module, name: str | None) -> Function:
    """The kernel called `name`; without a name, the only one."""
    kernels = {f.name: f for f in module.functions.values() if f.entry}
    if name is None and len(kernels) == 1:
        return next(iter(kernels.values()))
    if name not in kernels:
        wanted = f"no kernel {name!r}" if name is not None else "several kernels, or none: say which by name="
        raise PTXError(f"the PTX has {wanted}; its kernels: {', '.join(kernels) or 'none'}")
    return kernels[name]


def build(module: Module, name: str | None) -> Program:
    """The program of a kernel of `module`."""
    kernel = kernel_of(module, name)
    inliner = _Inliner(module)
    inliner.add(kernel, "", {}, (kernel.name,))
    symbols, sizes = place(kernel, module, inliner.variables)
    segments, starts = cut(inliner.instructions, set(inliner.labels.values()))
    return Program(
        kernel.name,
        kernel,
        module,
        inliner.registers,
        symbols,
        segments,
        {label: starts[index] for label, index in inliner.labels.items()},
        inliner.tables,
        sizes["param"],
        sizes["shared"],
        sizes["local"],
        tuple(v for v in module.variables.values() if v.space in ("global", "const")),
    )


def place(kernel: Function, module: Module, locals_: dict[str, Variable]) -> tuple[dict[str, Symbol], dict[str, int]]:
    """Addresses for every variable: symbols, and the sizes of the spaces.

    Shared arrays without a size of their own (`.extern .shared`) begin where the others end, all at the same
    place, as on hardware. `.param` variables of a body carry the arguments of calls: they are memory of each thread.
    """
    symbols: dict[str, Symbol] = {}
    sizes = {"param": 0, "shared": 0, "local": 0}

    def put(variable: Variable, space: str) -> None:
        offset = _align(sizes[space], variable.align)
        symbols[variable.name] = Symbol(space, offset, variable)
        sizes[space] = offset + variable.size

    for variable in kernel.parameters:
        put(variable, "param")
    variables = [*module.variables.values(), *locals_.values()]
    shared = [v for v in variables if v.space == "shared"]
    for variable in shared:
        if variable.size:
            put(variable, "shared")
    dynamic = [v for v in shared if not v.size]
    if dynamic:
        sizes["shared"] = _align(sizes["shared"], max(v.align for v in dynamic))
    for variable in dynamic:
        symbols[variable.name] = Symbol("shared", sizes["shared"], variable)
    for variable in variables:
        if variable.space in ("global", "const"):
            symbols[variable.name] = Symbol(variable.space, 0, variable)
        elif variable.space in ("local", "param"):
            put(variable, "local")
    sizes["local"] = _align(sizes["local"], 16)
    return symbols, sizes


def cut(instructions: list[Instruction], labels: set[int]) -> tuple[list[Segment], dict[int, int]]:
    """Segments, and the segment that begins at each label. Instructions of a warp stand in a segment of their own."""
    segments: list[Segment] = []
    starts: dict[int, int] = {}
    pending: list[Instruction] = []

    def close(terminator: Instruction | None) -> None:
        nonlocal pending
        segments.append(Segment(pending, terminator))
        pending = []

    for index, i in enumerate(instructions):
        if index in labels:
            if pending:
                close(None)
            starts[index] = len(segments)
        if i.opcode in TERMINATOR_OPCODES or (i.opcode == "mbarrier" and i.modifiers[:1] == ("try_wait",)):
            if pending and i.opcode not in ("bra", "brx", "ret", "exit"):
                close(None)
            close(i)
        else:
            pending.append(i)
    starts[len(instructions)] = len(segments) + bool(pending)
    if pending:
        close(None)
    end = Instruction("ret", (), (), None, instructions[-1].line if instructions else 0, None, "ret")
    segments.append(Segment([], end))
    return segments, starts
