"""Print a kernel of ttgir as a kernel in Gluon.

    %x = tt.load %p, %m : tensor<1024x!tt.ptr<f32>, #blocked>        =>        x = gl.load(p, mask=m)

One statement an operation, in its order, with names from the source; layouts are constants at the top. An operation
that is not in the tables of `operations` is an error at its line.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from ...dialects import tt
from ...ir import (
    Block,
    IntegerAttr,
    IntegerType,
    Operation,
    TensorType,
    Type,
    Value,
    element_type,
    functions_of,
    i1,
    i32,
)
from ...ir.passes import symbol_name
from ...support import UnsupportedOperation
from .layouts import Layouts, Names, type_text

__all__ = ["KernelPrinter", "NoGluon", "number_text", "print_kernel"]

Expressions: TypeAlias = Mapping[str, Callable[..., str]]
Statements: TypeAlias = Mapping[str, Callable[..., None]]
HEAD = "from tritium.experimental import gluon\nfrom tritium.experimental.gluon import language as gl\n"


class NoGluon(UnsupportedOperation):
    """An operation that cannot be written in Gluon yet."""

    def __init__(self, op: Operation, why: str = "") -> None:
        super().__init__(op, f"{why}{' ' * bool(why)}cannot be written in Gluon yet")


class KernelPrinter:
    """The text of one kernel: `expressions` and `statements` say what each operation is."""

    def __init__(self, expressions: Expressions, statements: Statements) -> None:
        self.expressions, self.statements = expressions, statements
        self.names = Names()
        self.layouts = Layouts(self.names)
        self.imports: set[str] = set()
        self.texts: dict[Value, str] = {}
        self.lines: list[str] = []
        self.helpers: dict[str, str] = {}
        self.depth = 1
        self.comments = True
        self.place: tuple[str, int] | None = None

    def line(self, text: str) -> None:
        """A statement of the kernel."""
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """The lines of a body, `pass` if there are none."""
        before = len(self.lines)
        self.depth += 1
        yield
        if all(line.lstrip().startswith("#") for line in self.lines[before:]):
            self.line("pass")
        self.depth -= 1

    def use(self, value: Value) -> str:
        """The text of a value that is defined."""
        return self.texts[value]

    def element(self, value: Value) -> Type:
        """The type of the elements of a tensor, or of a scalar."""
        return element_type(value.type)

    def type_of(self, value: Value) -> str:
        """The same, in Gluon."""
        found = type_text(value.type)
        if found is None:
            raise NoGluon(value.defining_op, f"with elements of {self.element(value)}")
        return found

    def scalar(self, value: float, ty: Type) -> str:
        """A constant: literals are int32."""
        if ty is i32 or ty is i1:
            return repr(bool(value) if ty is i1 else int(value))
        return f"gl.full([], {number_text(value)}, {type_text(ty)})"

    def filled(self, ty: TensorType, value: str) -> str:
        """A tensor of one value."""
        return f"gl.full({list(ty.shape)}, {value}, {type_text(ty)}, {self.layouts.of(ty)})"

    def assign(self, names: Sequence[str], values: Sequence[str]) -> None:
        """Assign all at once, those that change."""
        pairs = [(n, v) for n, v in zip(names, values) if n != v]
        if pairs:
            self.line(f"{', '.join(n for n, _ in pairs)} = {', '.join(v for _, v in pairs)}")

    def bind_all(self, op: Operation, text: str) -> None:
        """Names for all results of an operation."""
        names = [self.names.of(r) for r in op.results]
        self.texts.update(zip(op.results, names))
        self.line(f"{', '.join(names)} = {text}")

    # -- operations -----------------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """The statements of a block."""
        for op in block:
            self.operation(op)

    def operation(self, op: Operation) -> None:
        """The statement of an operation, after the line of the source that it comes from."""
        statement, expression = self.statements.get(op.name), self.expressions.get(op.name)
        if statement is None and expression is None:
            raise NoGluon(op)
        if statement is not None:
            self._comment(op)
            statement(self, op)
            return
        assert expression is not None
        text = expression(self, op)
        result = op.results[0]
        if op.name == "arith.constant" and not isinstance(result.type, TensorType):
            self.texts[result] = f"({text})" if text.startswith("-") else text
            return
        if text in self.texts.values() and text.isidentifier():
            self.texts[result] = text
            return
        self._comment(op)
        self.texts[result] = name = self.names.of(result)
        self.line(f"{name} = {text}")

    def _comment(self, op: Operation) -> None:
        position = op.loc.user_position()
        if not self.comments or position is None or (position.file, position.line) == self.place:
            return
        self.place = position.file, position.line
        text = linecache.getline(position.file, position.line).strip()
        self.line(f"# {os.path.basename(position.file)}:{position.line}: {text}".rstrip(": "))

    def combination(self, op: Operation) -> str:
        """The function that a reduction or scan combines with, written once for all that do the same."""
        inner = KernelPrinter(self.expressions, self.statements)
        inner.place = self.place
        block = op.regions[0].blocks[0]
        half = len(block.args) // 2
        arguments = [f"{'ab'[i // half]}{i % half if half > 1 else ''}" for i in range(2 * half)]
        inner.names.taken.update(arguments)
        inner.texts.update(zip(block.args, arguments))
        inner.comments = False
        *body, last = block
        for each in body:
            inner.operation(each)
        returned = ", ".join(map(inner.use, last.operands))
        text = f"({', '.join(arguments)}):\n" + "\n".join([*inner.lines, f"    return {returned}"])
        if text not in self.helpers:
            self.helpers[text] = self.names.new("combine")
        return self.helpers[text]


def number_text(value: float) -> str:
    """A number as a kernel may write it."""
    text = repr(value)
    return f'float("{text}")' if text in ("inf", "-inf", "nan") else text


def print_kernel(module: Operation, expressions: Expressions, statements: Statements) -> str:
    """The source of a module with one kernel. Raises UnsupportedOperation, at its line, for what cannot be written."""
    func, *others = functions_of(module)
    if others:
        raise NoGluon(others[0], "beside another function")
    p = KernelPrinter(expressions, statements)
    name = p.names.new(symbol_name(func).lstrip("@"))
    block = func.regions[0].blocks[0]
    for argument in block.args:
        if "tensordesc" in str(argument.type):
            raise NoGluon(func, "with descriptors as arguments")
        p.texts[argument] = name_of_argument = p.names.of(argument, "argument")
        if isinstance(argument.type, tt.PointerType) and isinstance(argument.type.pointee, IntegerType):
            ty = type_text(argument.type.pointee)  # the array may be of unsigned integers
            p.line(f"{name_of_argument} = {name_of_argument}.to(gl.pointer_type({ty}), bitcast=True)")
    p.block(block)
    warps = module.attributes["ttg.num-warps"]
    assert isinstance(warps, IntegerAttr)
    head = [HEAD + "".join(f"{line}\n" for line in sorted(p.imports))]
    if p.layouts.found:
        head.append("\n".join(p.layouts.lines()) + "\n")
    helpers = [f"\n@gluon.jit\ndef {helper}{text}\n" for text, helper in p.helpers.items()]
    arguments = ", ".join(p.texts[a] for a in block.args)
    kernel = f"\n@gluon.jit\ndef {name}({arguments}):\n    # launch with num_warps={warps.value}\n" + "\n".join(p.lines)
    return "\n".join([*head, *helpers, kernel]) + "\n"
