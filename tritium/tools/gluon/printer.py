"""Print a kernel of ttgir as a kernel in Gluon.

    %x = tt.load %p, %m : tensor<1024x!tt.ptr<f32>, #blocked>        =>        x = gl.load(p, mask=m)

One statement an operation, in its order, with names from the source; layouts are constants at the top. An operation
that is not in the tables of `operations` is an error at its line.
"""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from ...dialects import tt, ttg
from ...dialects.tt_types import TensorDescType
from ...ir import (
    Block,
    DenseElementsAttr,
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
    i64,
)
from ...ir.passes import symbol_name
from ...support import UnsupportedOperation
from .layouts import Layouts, Names, type_text

__all__ = ["Expressions", "KernelPrinter", "NoGluon", "Statements", "keywords", "number_text", "policy", "print_kernel"]

Expressions: TypeAlias = Mapping[str, Callable[..., str]]
Statements: TypeAlias = Mapping[str, Callable[..., None]]
_HINTS = {
    "tt.divisibility": "multiple_of",
    "tt.contiguity": "max_contiguous",
    "tt.constancy": "max_constancy",
}
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
        self.functions: list[str] = []
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
            assert value.defining_op is not None
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
        result = op.results[0]
        text = self._hinted(op, expression(self, op))
        if op.name == "arith.constant" and not isinstance(result.type, TensorType):
            self.texts[result] = f"({text})" if text.startswith("-") else text
            return
        if text in self.texts.values() and text.isidentifier():
            self.texts[result] = text
            return
        self._comment(op)
        self.texts[result] = name = self.names.of(result)
        self.line(f"{name} = {text}")

    def _hinted(self, op: Operation, text: str) -> str:
        """An expression with what the source states about its value."""
        for attribute, function in _HINTS.items():
            found = op.attributes.get(attribute)
            if isinstance(found, DenseElementsAttr):
                count = found.type.shape[0]
                values = [found.splat] * count if found.is_splat else found.values
                text = f"gl.{function}({text}, {[v.value for v in values]})"
            elif isinstance(found, IntegerAttr):
                text = f"gl.{function}({text}, {found.value})"
        return text

    def _comment(self, op: Operation) -> None:
        position = op.loc.user_position()
        if not self.comments or position is None or (position.file, position.line) == self.place:
            return
        self.place = position.file, position.line
        text = linecache.getline(position.file, position.line).strip()
        self.line(f"# {os.path.basename(position.file)}:{position.line}: {text}".rstrip(": "))

    # -- functions ------------------------------------------------------------------------------------------------

    def nested(self) -> KernelPrinter:
        """The printer of a function that this kernel calls: the same values, names and layouts, and no lines yet."""
        inner = KernelPrinter(self.expressions, self.statements)
        inner.names, inner.layouts, inner.imports = self.names, self.layouts, self.imports
        inner.helpers, inner.functions, inner.place = self.helpers, self.functions, self.place
        inner.texts = dict(self.texts)
        return inner

    def captured(self, blocks: Sequence[Block]) -> list[str]:
        """The names of the values defined so far that the blocks use, in the order of their first use."""
        values = (v for block in blocks for op in block for inner in op.walk() for v in inner.operands)
        texts = (re.match(r"[A-Za-z_]\w*", self.texts[v]) for v in values if v in self.texts)
        return list(dict.fromkeys(m[0] for m in texts if m and m[0] not in ("True", "False", "gl", "float")))

    def define(self, name: str, parameters: Sequence[str]) -> str:
        """Write the lines as a function; the name that it got."""
        found = self.names.new(name)
        self.functions.append(f"\n@gluon.jit\ndef {found}({', '.join(parameters)}):\n" + "\n".join(self.lines) + "\n")
        return found

    def combination(self, op: Operation) -> str:
        """The function that a reduction or scan combines with, written once for all that do the same."""
        inner = KernelPrinter(self.expressions, self.statements)
        inner.place = self.place
        block = op.regions[0].blocks[0]
        half = len(block.args) // 2
        arguments = [f"{'ab'[i // half]}{i % half if half > 1 else ''}" for i in range(2 * half)]
        inner.names.taken.update(arguments)
        inner.texts |= {v: t for v, t in self.texts.items() if v.defining_op and v.defining_op.name == "arith.constant"}
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


def keywords(p: KernelPrinter, **values: Value | None) -> str:
    """Arguments by name, those that are given."""
    return "".join(f", {name}={p.use(value)}" for name, value in values.items() if value is not None)


def policy(op: tt.Load | tt.Store | ttg.AsyncCopyGlobalToLocal) -> str:
    """The cache policy of an access as arguments."""
    found = op.cachePolicy
    if found is None:
        return ""
    if not isinstance(found, tt.CachePolicy):
        raise NoGluon(op, f"with the policy {found}")
    modifier, eviction = found.cache_modifier.name, found.eviction_policy.name
    text = "" if modifier == "none" else f', cache_modifier=".{modifier}"'
    return text + ("" if eviction == "evict_normal" else f', eviction_policy="{eviction}"')


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
    parameters, parts = [], 0  # of a descriptor that is a parameter: its shape and strides follow it
    for i, argument in enumerate(block.args):
        if parts:
            parts -= 1
            continue
        name_of_argument = p.names.of(argument, "argument")
        parameters.append(name_of_argument)
        p.texts[argument] = name_of_argument
        if isinstance(argument.type, TensorDescType):
            parts = _descriptor(p, func, block, i, name_of_argument)
        if isinstance(argument.type, tt.PointerType) and isinstance(argument.type.pointee, IntegerType):
            ty = type_text(argument.type.pointee)  # the array may be of unsigned integers
            p.line(f"{name_of_argument} = {name_of_argument}.to(gl.pointer_type({ty}), bitcast=True)")
    p.block(block)
    head = [HEAD + "".join(f"{line}\n" for line in sorted(p.imports))]
    if p.layouts.found:
        head.append("\n".join(p.layouts.lines()) + "\n")
    helpers = [f"\n@gluon.jit\ndef {helper}{text}\n" for text, helper in p.helpers.items()]
    head_of_kernel = f"\n@gluon.jit\ndef {name}({', '.join(parameters)}):\n    # {_launch(module)}\n"
    return "\n".join([*head, *helpers, *p.functions, head_of_kernel + "\n".join(p.lines)]) + "\n"


def _launch(module: Operation) -> str:
    """The options to launch with."""
    values = {
        option: attribute.value
        for option, name in (("num_warps", "ttg.num-warps"), ("num_ctas", "ttg.num-ctas"), ("maxnreg", "ttg.maxnreg"))
        if isinstance(attribute := module.attributes.get(name), IntegerAttr)
    }
    options = (f"{n}={v}" for n, v in values.items() if n != "num_ctas" or v != 1)
    return f"launch with {', '.join(options)}"


def _descriptor(p: KernelPrinter, func: Operation, block: Block, index: int, name: str) -> int:
    """A parameter that is a descriptor, and how many parameters after it are its shape and strides."""
    ty = block.args[index].type
    assert isinstance(ty, TensorDescType)
    rank = len(ty.block.shape)
    rest = block.args[index + 1 : index + 1 + 2 * rank]
    if [a.type for a in rest] != [i32] * rank + [i64] * rank:
        raise NoGluon(func, "with descriptors that are not the host's")
    for i, value in enumerate(rest):
        p.texts[value] = f"{name}.{'shape' if i < rank else 'strides'}[{i % rank}]"
    made = f"gluon.nvidia.hopper.TensorDescriptor.from_tensor(…, {list(ty.block.shape)}, {p.layouts.of(ty.block)})"
    p.line(f"# {name}: {made}")
    return len(rest)
