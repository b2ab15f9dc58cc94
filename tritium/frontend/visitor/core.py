"""The visitor of one function: local names, dispatch on the class of a syntax node, positions of errors.

The other files of the package compile the node classes, by functions registered with `handles`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ...support import FileLineColLoc, NameLoc
from ...support.errors import interrupts
from ...support.lazy import LazyModule, load
from ...support.recursion import too_deep_text
from ..callee import LanguageFunction, SourceFunction
from ..errors import (
    CallFrame,
    CompilationError,
    LanguageError,
    Note,
    UnsupportedLanguageConstruct,
    UnsupportedUse,
    cause_of_call,
)
from ..semantics.errors import OperandError
from .names import assignment_of
from .scope import Binding, Poisoned, lookup

if TYPE_CHECKING:
    from ...ir import Block
    from ..semantics import Semantic
    from .builder import NamingBuilder

__all__ = ["HANDLERS", "LATER", "Outcome", "UnitContext", "Visitor", "handles"]

Handler = Callable[["Visitor", Any], Any]
_names = LazyModule(".operand_names", __package__)

HANDLERS: dict[type[ast.AST], Handler] = {}
"""The handler of each class of syntax nodes."""

LATER: dict[str, str] = {
    "For": ".loops",
    "While": ".loops",
    **dict.fromkeys(("ClearFlags", "EarlyExitFor", "Holds", "IterationIndex"), ".early_exits"),
    **dict.fromkeys(("KeepResult", "PrepareResult", "ReturningIf", "SetFlag"), ".early_exits"),
}
"""Files with the handlers of nodes of these class names, imported when a kernel has such a node."""

HINTS: dict[type[ast.AST], str] = {
    ast.Try: "kernels raise no exceptions",
    ast.Raise: "use tl.static_assert for compile-time checks and tl.device_assert for run-time ones",
    ast.Lambda: "define a function with @jit and pass it by name",
    ast.FunctionDef: "define it at module level with @jit and call it",
    ast.ClassDef: "define it outside the kernel",
    ast.Dict: "use separate variables or a tuple",
    ast.Set: "use a tuple",
    ast.GeneratorExp: "use a list comprehension over a tuple or a constant range",
    ast.Global: "pass the value as an argument",
    ast.Nonlocal: "pass the value as an argument",
    ast.Import: "import the module outside the kernel",
    ast.ImportFrom: "import the module outside the kernel",
    ast.Delete: "names need no deletion",
    ast.Match: "use if and elif; conditions on tl.constexpr values are decided at compile time",
    ast.Yield: "return a tuple",
    ast.YieldFrom: "return a tuple",
    ast.Await: "a kernel is a plain function",
}
NAMES: dict[type[ast.AST], str] = {
    ast.FunctionDef: "nested function definition",
    ast.AsyncFunctionDef: "nested function definition",
    ast.ClassDef: "class definition",
}


class Outcome:
    """How a function ended: `value` is what it returns, None for nothing, at the statement `node`."""

    __slots__ = ("node", "value")

    def __init__(self, value: Any, node: ast.AST | None = None) -> None:
        self.value = value
        self.node = node


class UnitContext(Protocol):
    """The part of a compilation unit that visitors use; `unit.Unit` implements it."""

    builder: NamingBuilder
    semantic: Semantic
    frames: list[CallFrame]
    callers: list[SourceFunction]
    shared: int

    def call(self, visitor: Visitor, callee: SourceFunction, args: list[Any], kwargs: dict[str, Any], /) -> Any:
        """Emit a call of a function of the language at the insertion point."""

    def apply(self, visitor: Visitor, fn: Any, args: list[Any], kwargs: dict[str, Any], /) -> Any:
        """Call any callable of a kernel."""

    def arguments(self, visitor: Visitor, node: ast.Call, /) -> tuple[list[Any], dict[str, Any]]:
        """The values of the arguments of a call."""

    def trial(self) -> UnitContext:
        """A unit with the same calls under way, for code that is compiled to learn its types."""

    def parameters(self, bound: dict[str, Any], block: Block, /) -> dict[str, Any]:
        """Parameters inside a function: their run-time parts become arguments of its block."""

    def cause(self, e: BaseException, /) -> BaseException | None:
        """The cause that an error is chained to."""


def handles(*kinds: type[ast.AST]) -> Callable[[Handler], Handler]:
    """Register the function that compiles nodes of `kinds`."""

    def register(handler: Handler) -> Handler:
        for kind in kinds:
            HANDLERS[kind] = handler
        return handler

    return register


class Visitor:
    """Compiles the body of one function. `env` maps local names to values, `bound` to their assignments."""

    __slots__ = (
        "bound",
        "builder",
        "callee",
        "constexpr_nodes",
        "declared",
        "env",
        "file",
        "node",
        "semantic",
        "unit",
        "unused",
    )
    any_global = False  # True allows reading globals that are not constexpr

    def __init__(self, unit: UnitContext, callee: SourceFunction, env: dict[str, Any]) -> None:
        self.unit = unit
        self.callee = callee
        self.env = env
        self.bound: dict[str, Binding] = {}
        self.builder = unit.builder
        self.semantic = unit.semantic
        self.file = callee.source.shown_file
        self.node: ast.AST = callee.parse()
        self.unused: ast.AST | None = None  # the call whose result is not used
        self.constexpr_nodes: dict[str, ast.AST] = {}
        self.declared: set[str] = set()  # names declared constexpr: assignments keep compile-time values

    # -- dispatch ---------------------------------------------------------------------------------------------

    def visit(self, node: Any) -> Any:
        """Compile `node`; the value of an expression, an `Outcome` of a statement that returns, else None."""
        kind = node.__class__
        handler = HANDLERS.get(kind)
        if handler is None:
            if kind.__name__ not in LATER:
                raise self.unsupported(node)
            load(LATER[kind.__name__], __package__)
            handler = HANDLERS[kind]
        builder = self.builder
        before = builder.loc
        loc = FileLineColLoc(self.file, node.lineno, node.col_offset + 1)
        builder.loc = loc if builder.name is None else NameLoc(builder.name, loc)
        try:
            return handler(self, node)
        except CompilationError:
            raise
        except RecursionError as e:
            raise self.error(node, f"the program is {too_deep_text('the frontend')}") from self.unit.cause(e)
        except interrupts():
            raise
        except Exception as e:
            raise self.wrapped(node, e) from self.unit.cause(e) or cause_of_call(node, e)
        finally:
            builder.loc = before

    def run(self, suite: Sequence[ast.stmt]) -> Outcome | None:
        """Compile statements in order; an outcome when the function has returned on every path."""
        for statement in suite:
            outcome = self.visit(statement)
            if outcome is not None:
                return outcome  # type: ignore[no-any-return]
        return None

    # -- names ------------------------------------------------------------------------------------------------

    def bind(self, name: str, value: object, node: ast.AST) -> None:
        """Assign `value` to a local name; errors about the name's type point at `node`."""
        kind = getattr(value, "type", value.__class__)
        before = self.bound.get(name)
        typed = before.typed if before is not None and before.kind == kind else node
        self.bound[name] = Binding(node, typed, kind)
        self.env[name] = value

    def lookup(self, name: str, node: ast.AST | None = None) -> Any:
        """The value of a name read at `node`: local, of an enclosing function, of the module, builtin.

        Raises LanguageError.
        """
        try:
            value = self.env[name]
        except KeyError:
            try:
                return lookup(self.callee, name, self.env, self.any_global)
            except LanguageError as error:
                raise self._unassigned(name, node) or error from None
        if value.__class__ is Poisoned:
            raise value.read(name, node)
        return value

    def _unassigned(self, name: str, node: ast.AST | None) -> LanguageError | None:
        """The error of reading a local name before its assignment; None for a name that is not local."""
        assignment = assignment_of(self.callee.parse(), name)
        if assignment is None:
            return None
        at, here = getattr(assignment, "lineno", 0), getattr(node, "lineno", 0)
        why = "it is assigned later" if at > here else "it is assigned on a path that is not compiled"
        why = "this statement is its first assignment" if at == here else why
        notes = [] if at == here else [(f"{name} is assigned here", assignment)]
        return LanguageError(f"NameError: {name} is not defined here: {why}", f"assign {name} before", notes=notes)

    def call_callee(self, fn: Any, args: list[Any], kwargs: dict[str, Any] | None = None) -> Any:
        """Call a function of the language at the insertion point; its value."""
        return self.unit.call(self, fn, args, kwargs or {})

    # -- errors -----------------------------------------------------------------------------------------------

    def frames(self, node: ast.AST) -> list[CallFrame]:
        """The calls that led to `node`; frames of library functions called by user functions are left out."""
        frames = [*self.unit.frames, CallFrame(self.callee.__name__, self.callee.source, node)]
        inside = [*self.unit.callers, self.callee]
        while len(frames) > 1 and isinstance(inside[-1], LanguageFunction):
            frames.pop()
            inside.pop()
        return frames

    def located(self, error: CompilationError, notes: Sequence[Note]) -> CompilationError:
        """`error` with notes about this function, unless it is one of the library that the user did not write."""
        if error.frames[-1].source is self.callee.source:
            error.notes = notes
        return error

    def error(self, node: ast.AST, message: str, hint: str | None = None) -> CompilationError:
        """A compilation error at `node`."""
        return CompilationError(message, self.frames(node), hint)

    def wrapped(self, node: ast.AST, e: Exception) -> CompilationError:
        """An error raised by a library function or an operator on constants, as an error at `node`."""
        if isinstance(e, LanguageError):
            kind = UnsupportedLanguageConstruct if isinstance(e, UnsupportedUse) else CompilationError
            known: LanguageError = _names.named(self, node, e) if isinstance(e, OperandError) else e
            return self.located(kind(known.message, self.frames(known.node or node), known.hint), known.notes)
        return CompilationError(f"{type(e).__name__}: {e}", self.frames(node), getattr(e, "hint", None))

    def unsupported(self, node: ast.AST, what: str | None = None, hint: str | None = None) -> CompilationError:
        """An error for syntax that kernels cannot use."""
        kind = type(node)
        what = what or NAMES.get(kind) or f"the Python construct {kind.__name__}"
        hint = hint or HINTS.get(kind)
        return UnsupportedLanguageConstruct(f"{what} is not supported in a kernel", self.frames(node), hint)
