"""A launch of a kernel in Python: its function is run for one program after the other, line by line.

Loops and branches are Python's; what stands in a line is computed by the visitor of the compiler, whose builder runs
operations instead of collecting them (`immediate`). Functions that a kernel calls are run the same way; those of the
language itself (`tl.softmax`, `tl.sort`) are compiled once and evaluated.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..frontend.callee import LanguageFunction, SourceFunction
from ..frontend.errors import CallFrame, CompilationError, LanguageError
from ..frontend.language import core
from ..frontend.semantics import Semantic
from ..frontend.visitor import Visitor
from ..frontend.visitor.assign import bind_target
from ..frontend.visitor.branches import static_condition
from ..frontend.visitor.builtins import items_of
from ..frontend.visitor.calls import bind_arguments, call_arguments
from ..frontend.visitor.entry import Arguments, kernel_returns
from ..frontend.visitor.loops import iterator_of
from ..frontend.visitor.ranges import bounds_of
from ..frontend.visitor.unit import Unit as CompilationUnit
from ..frontend.visitor.values import constexpr, flatten, has_handles, tensor, unwrap, unwrap_deep
from ..support.errors import TritiumError, interrupts
from ..support.recursion import with_deep_recursion
from .evaluator import AssertionFailed, Evaluator, UndefinedError
from .immediate import ImmediateBuilder, PortableBuilder
from .memory import Memory, OutOfBoundsError
from .rewriting import Part, program_of

__all__ = ["FailedAssertion", "InterpreterError", "Launch", "Unit"]

_AT_RUN_TIME = (AssertionFailed, OutOfBoundsError, UndefinedError)


class InterpreterError(CompilationError):
    """A program does what it must not: it reads outside of every array, or what it does has no meaning.

    `program` is the (x, y, z) of the one that failed.
    """

    program: tuple[int, int, int] = (0, 0, 0)


class FailedAssertion(InterpreterError):
    """A `tl.device_assert`, `assert` or `tl.assume` does not hold."""


class _Visitor(Visitor):
    """The visitor of one call. Its `env` is what `locals()` says at each statement.

    All globals can be read, as in Triton's interpreter: nothing is compiled that they could make wrong later.
    """

    __slots__ = ()
    any_global = True

    def visit(self, node: Any) -> Any:
        own = _OWN.get(node.__class__)
        if own is not None:
            found, value = own(self, node)
            if found:
                return value
        return super().visit(node)

    def wrapped(self, node: ast.AST, e: Exception) -> Any:
        """Errors of the program get its line; what a debugger raises to stop it goes through."""
        if isinstance(e, _AT_RUN_TIME):
            program = self.unit.evaluator.program  # type: ignore[attr-defined]
            kind = FailedAssertion if isinstance(e, AssertionFailed) else InterpreterError
            hint = getattr(e, "hint", "")
            error = kind(str(e), self.frames(node), f"{hint}{'; ' * bool(hint)}this is program {program}")
            error.program = program
            return error
        return e if isinstance(e, TritiumError) and not isinstance(e, LanguageError) else super().wrapped(node, e)


def shown(value: Any) -> Any:
    """The value for `print` and f-strings: a NumPy array, or a Python number for a scalar."""
    if value.__class__ is tensor:
        data = np.asarray(value.handle.data)
        data = data.view(f"u{data.itemsize}") if value.dtype.is_int_unsigned() and data.dtype.kind == "i" else data
        return data if data.ndim else data.item()
    return unwrap_deep(value)


def _print(visitor: _Visitor, node: ast.Call) -> tuple[bool, Any]:
    """`print(...)` at once, of NumPy arrays."""
    if not (isinstance(node.func, ast.Name) and visitor.lookup(node.func.id) is builtins.print):
        return False, None
    args, kwargs = call_arguments(visitor, node)
    print(*map(shown, args), **{k: shown(v) for k, v in kwargs.items()})
    return True, None


def _f_string(visitor: _Visitor, node: ast.JoinedStr) -> tuple[bool, Any]:
    """An f-string, of run-time values too."""
    text = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            text.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        value = {115: str, 114: repr, 97: ascii}.get(part.conversion, lambda v: v)(shown(visitor.visit(part.value)))
        spec = "" if part.format_spec is None else str(unwrap(visitor.visit(part.format_spec)))
        text.append(format(value, spec))
    return True, constexpr("".join(text))


_OWN = {ast.Call: _print, ast.JoinedStr: _f_string}


class Frame:
    """The callbacks of the rewritten function of one call: each takes the index of a part, and `locals()`."""

    __slots__ = ("parts", "visitor")

    def __init__(self, unit: Unit, callee: SourceFunction, parts: list[Part]) -> None:
        self.visitor = _Visitor(unit, callee, {})
        self.parts = parts

    def _enter(self, number: int, names: dict[str, Any]) -> Part:
        part = self.parts[number]
        visitor = self.visitor
        visitor.env, visitor.node = dict(names), part.node
        return part

    def run(self, number: int, names: dict[str, Any]) -> Any:
        """Run a statement; what it assigns: a value, or a tuple of several."""
        part = self._enter(number, names)
        self.visitor.visit(part.node)
        if len(part.names) == 1:
            return self.visitor.env[part.names[0]]
        return tuple(self.visitor.env[n] for n in part.names)

    def value(self, number: int, names: dict[str, Any]) -> Any:
        """The value of an expression."""
        return self.visitor.visit(self._enter(number, names).node)

    def truth(self, number: int, names: dict[str, Any]) -> bool:
        """Does a condition hold?"""
        node = self._enter(number, names).node
        value = self.visitor.visit(node)
        value = value.condition if isinstance(value, core.condition) else value
        known, condition = self._in_line(number, lambda: static_condition(self.visitor, node, value))
        return bool(condition.handle.data) if known is None else known

    def assigned(self, number: int, name: str) -> Any:
        """The value that the last evaluated expression assigned to a name."""
        return self.visitor.env[name]

    def manager(self, number: int, names: dict[str, Any]) -> Any:
        """The context manager of a `with` statement."""
        return self.value(number, names)

    def iterate(self, number: int, names: dict[str, Any]) -> Iterator[Any]:
        """The successive values of the targets of a `for` statement."""
        node = self._enter(number, names).node
        items = self._in_line(number, lambda: self._items(iterator_of(self.visitor, node.iter)))
        if isinstance(node.target, ast.Name):
            yield from items
            return
        targets = list(_stored(node.target))
        for item in items:
            self.visitor.env = {}
            self._in_line(number, lambda item=item: bind_target(self.visitor, node.target, item))
            found = tuple(self.visitor.env[n] for n in targets)
            yield found[0] if len(found) == 1 else found

    def _items(self, iterator: Any) -> Iterator[Any]:
        if isinstance(iterator, core.static_range):
            return map(constexpr, range(*(int(unwrap(v)) for v in (iterator.start, iterator.end, iterator.step))))
        if not isinstance(iterator, core.range):
            return iter(items_of(iterator))
        lower, upper, step, down = bounds_of(self.visitor, iterator)
        numbers = range(*(int(v.handle.data) for v in (lower, upper, step)))
        if down:
            low, high = int(lower.handle.data), int(upper.handle.data)
            numbers = range(high, low, -int(step.handle.data))
        builder, ty = self.visitor.builder, lower.type
        return (tensor(builder.argument(ty.to_ir(), np.asarray(i)), ty) for i in numbers)  # type: ignore[attr-defined]

    def _in_line(self, number: int, work: Any) -> Any:
        """Do `work`; its errors get the place of the part."""
        try:
            return work()
        except (CompilationError, *interrupts()):
            raise
        except Exception as e:
            raise self.visitor.wrapped(self.parts[number].node, e) from None


def _stored(target: ast.AST) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            yield node.id


class Unit(CompilationUnit):
    """State shared by the calls of a launch. User functions run in Python, functions of the language are evaluated."""

    def __init__(
        self,
        options: Any,
        evaluator: Evaluator,
        builder: ImmediateBuilder | None = None,
        typing_rules: type[Semantic] = Semantic,
    ) -> None:
        super().__init__(options)
        self.evaluator = evaluator
        evaluator.module = self.module
        self.builder = ImmediateBuilder(evaluator) if builder is None else builder
        self.semantic = typing_rules(self.builder, options)

    def call(self, visitor: Visitor, callee: SourceFunction, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Run a call of the user's functions; compile others, and those that stand in a region."""
        if not (self.builder.immediate and self.runs_in_python(callee)):  # type: ignore[attr-defined]
            return super().call(visitor, callee, args, kwargs)
        bound = bind_arguments(callee, args, kwargs)
        self.frames.append(CallFrame(visitor.callee.__name__, visitor.callee.source, visitor.node))  # type: ignore[attr-defined]
        self.callers.append(visitor.callee)
        env, node, loc, name = visitor.env, visitor.node, self.builder.loc, self.builder.name
        try:
            return self.run(callee, bound)
        finally:
            self.frames.pop()
            self.callers.pop()
            visitor.env, visitor.node, self.builder.loc, self.builder.name = env, node, loc, name

    def runs_in_python(self, callee: SourceFunction) -> bool:
        """Run a call of `callee` statement by statement, instead of compiling and evaluating it."""
        return not isinstance(callee, LanguageFunction)

    def run(self, callee: SourceFunction, bound: Mapping[str, Any]) -> Any:
        """Run a function of the user; what it returns."""
        function, parts = program_of(callee)
        self.builder.name = None
        return function(Frame(self, callee, parts), **bound)


class _Values:
    """Stands for the block whose arguments a kernel's parameters are: each one takes the next value of the launch."""

    def __init__(self, builder: ImmediateBuilder, values: Iterator[Any]) -> None:
        self.builder = builder
        self.values = values

    def add_argument(self, ty: Any, loc: Any) -> Any:
        """The next value."""
        return self.builder.argument(ty, next(self.values), loc)


class _Native:
    """Options of arguments: descriptors are passed as such."""

    native_descriptors = True
    supported_fp8_dtypes = None


class Launch:
    """One launch of a kernel.

    `signature`, `constants` and `attrs` are those of a compile (see `ast_to_ttir`), `values` the run-time arguments in
    their order: addresses and numbers, for a descriptor a `TensorDesc` followed by its shape and its strides. `memory`
    has the arrays that may be reached, `typing_rules` are those of the language that `fn` is in.
    """

    def __init__(
        self,
        fn: SourceFunction,
        signature: Mapping[str, Any],
        constants: Mapping[Any, Any],
        attrs: Mapping[Any, Any],
        options: Any,
        memory: Memory,
        values: Sequence[Any],
        typing_rules: type[Semantic] = Semantic,
    ) -> None:
        self.fn = fn
        self.values = values
        self.signature = signature
        self.arguments = Arguments(fn, constants, attrs, _Native())
        self.evaluator = Evaluator(None, (1, 1, 1), memory, masked_zeros=True)  # type: ignore[arg-type]
        builder = None if typing_rules is Semantic else PortableBuilder(self.evaluator)
        self.unit = Unit(options, self.evaluator, builder, typing_rules)

    @with_deep_recursion("the interpreter")
    def run(self, grid: Sequence[int]) -> None:
        """Run all programs, x fastest. CompilationError (InterpreterError) with the place in the source."""
        sizes = (*map(int, grid), 1, 1, 1)[:3]
        self.evaluator.grid = sizes
        with np.errstate(all="ignore"):
            for z, y, x in itertools.product(*(range(n) for n in reversed(sizes))):
                self.evaluator.program = (x, y, z)
                self._program()

    @cached_property
    def _bound(self) -> dict[str, Any]:
        """The values of the parameters, made by the first program: none changes them, a name is only bound anew."""
        block: Any = _Values(self.unit.builder, iter(self.values))  # type: ignore[arg-type]
        signature, make = self.signature, self.arguments.make
        return {p.name: make(p.name, (i,), signature.get(p.name), block) for i, p in enumerate(self.fn.params)}

    def _program(self) -> None:
        result = self.unit.run(self.fn, dict(self._bound))
        if has_handles(result) and flatten(result):
            raise kernel_returns(self.fn)
