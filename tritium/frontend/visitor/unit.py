"""The unit of compilation: one module, its functions, and the stack of calls being compiled."""

from __future__ import annotations

import re
from typing import Any

from ...dialects import builtin, tt
from ...ir import Block, FunctionType
from ...support import FileLineColLoc
from ...support.recursion import too_deep_text
from ...support.settings import compilation
from ..aggregate_types import type_of
from ..callee import SourceFunction
from ..errors import CallFrame, LanguageError
from ..semantics import Semantic
from .builder import NamingBuilder
from .calls import apply, bind_arguments, call_arguments
from .core import Outcome, Visitor
from .names import statements_of
from .values import flatten, has_handles, rebuild, set_hints, static_key, types_of

__all__ = ["Unit", "location_of"]

MAX_RECURSION = 64  # active calls of one function; more is a recursion with different arguments in each call
MAX_NAME = 200  # characters of a symbol
_NOT_IN_SYMBOLS = re.compile(r'[^ -~]|[\[\]"\\]')  # all but printable ASCII, brackets, quotes


class Compiled:
    """A function of the module: its symbol, and a value with the structure and types of its result."""

    __slots__ = ("result", "symbol")

    def __init__(self, symbol: str, result: Any) -> None:
        self.symbol = symbol
        self.result = result


class Unit:
    """State shared by the visitors of all functions of one module.

    `frames` and `callers` are the stack of calls being compiled (outermost first): position and calling function.
    `functions_in_order` are the functions in their order in the module, as in Triton: the kernel, then each at its
    first call; None until its body is compiled.
    """

    apply = staticmethod(apply)
    arguments = staticmethod(call_arguments)
    typing_rules: type[Semantic] = Semantic

    def __init__(self, options: Any) -> None:
        self.module = builtin.Module.empty()
        self.builder = NamingBuilder()
        self.options = self.builder.options = options
        self.semantic = self.typing_rules(self.builder, options)
        self.functions: dict[Any, Compiled] = {}
        self.active: set[Any] = set()
        self.functions_in_order: list[tt.Func | None] = [None]
        self.symbols: set[str] = set()
        self.frames: list[CallFrame] = []
        self.callers: list[SourceFunction] = []
        self.shared = 0

    @staticmethod
    def cause(e: BaseException) -> BaseException | None:
        """The cause that an error is chained to: none unless the frontend is being debugged."""
        return e if compilation.front_end_debugging else None

    def trial(self) -> Unit:
        """A unit with the same stack of calls, for a trial compile that finds types."""
        unit = self.__class__(self.options)
        unit.frames, unit.callers = list(self.frames), list(self.callers)
        return unit

    def surroundings(self) -> str:
        """The code around a call that its function is compiled for, as it ends the function's symbol; "" for none."""
        return ""

    # -- calls ------------------------------------------------------------------------------------------------

    def call(self, visitor: Visitor, callee: SourceFunction, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Emit a call at the insertion point; the function is compiled on its first call with such arguments."""
        bound = bind_arguments(callee, args, kwargs)
        key = (id(callee), self.surroundings(), *map(static_key, bound.values()))
        compiled = self.functions.get(key)
        if compiled is None:
            calls = (*self.callers, visitor.callee)
            if key in self.active or sum(c is callee for c in calls) > MAX_RECURSION:
                raise LanguageError(
                    f"recursion is not supported: {callee.__name__} calls itself",
                    "write it as a loop",
                )
            compiled = self._define(visitor, callee, bound, key)
        result = compiled.result
        handles = [h for v in bound.values() for h in flatten(v)]
        wanted = flatten(result)
        op = self.builder.insert(tt.Call(compiled.symbol, handles, results_=types_of(wanted)))
        return rebuild(result, list(op.results)) if wanted else result

    def _define(self, visitor: Visitor, callee: SourceFunction, bound: dict[str, Any], key: Any) -> Compiled:
        builder = self.builder
        state = builder.block, builder.before, builder.loc, builder.name
        self.active.add(key)
        self.frames.append(CallFrame(visitor.callee.__name__, visitor.callee.source, visitor.node))
        self.callers.append(visitor.callee)
        symbol, position = self._symbol(callee, bound), len(self.functions_in_order)
        self.functions_in_order.append(None)
        try:
            types = [t for v in bound.values() for t in types_of(flatten(v))]
            block = Block(types)
            env = self.parameters(bound, block)
            result = self.compile_body(callee, env, block)
            self.insert_function(self.function(callee, block, types_of(flatten(result)), symbol, "private"), position)
        finally:
            self.frames.pop()
            self.callers.pop()
            self.active.discard(key)
            builder.block, builder.before, builder.loc, builder.name = state
        compiled = self.functions[key] = Compiled(symbol, result)
        return compiled

    @staticmethod
    def parameters(bound: dict[str, Any], block: Block) -> dict[str, Any]:
        """Parameters inside a function: their run-time parts become arguments of its block."""
        env: dict[str, Any] = {}
        at = 0
        for name, value in bound.items():
            if has_handles(value):
                n = len(flatten(value))
                value = rebuild(value, list(block.args[at : at + n]))
                set_hints(value, name)
                at += n
            env[name] = value
        return env

    def compile_body(self, callee: SourceFunction, env: dict[str, Any], block: Block) -> Any:
        """Compile the statements of `callee` into `block`, with the `tt.return`; the value it returns."""
        tree = callee.parse()
        builder = self.builder
        builder.at_end(block)
        builder.loc = location_of(callee)
        builder.name = None
        visitor = Visitor(self, callee, env)
        try:
            statements = statements_of(tree)
        except RecursionError as e:
            raise visitor.error(tree, f"the program is {too_deep_text('the frontend')}") from self.cause(e)
        outcome = visitor.run(statements) or Outcome(None)
        builder.insert(tt.Return(flatten(outcome.value)))
        return outcome.value

    @staticmethod
    def function(callee: SourceFunction, block: Block, results: list[Any], symbol: str, visibility: str) -> tt.Func:
        """A `tt.func` with the entry `block`."""
        ty = FunctionType(tuple(a.type for a in block.args), tuple(results))
        func = tt.Func.build(symbol, ty, visibility, callee.noinline)
        region = func.regions[0]
        region.blocks.clear()
        region.append(block)
        func.loc = location_of(callee)
        return func

    def insert_function(self, func: tt.Func, position: int) -> None:
        """Insert a function into the module, before those of later positions."""
        self.functions_in_order[position] = func
        later = next((f for f in self.functions_in_order[position + 1 :] if f is not None), None)
        if later is None:
            self.module.body.append(func)
        else:
            self.module.body.insert_before(func, later)

    def _symbol(self, callee: SourceFunction, bound: dict[str, Any]) -> str:
        """Triton's readable name, made unique: function, then its argument types and constants."""
        text = "_".join(type_of(value).mangle() for value in bound.values()).replace("'", "_sq_")
        stem = symbol = f"{callee.fn_name}__{_NOT_IN_SYMBOLS.sub('_', text)}"[:MAX_NAME] + self.surroundings()
        count = 0
        while symbol in self.symbols:
            count += 1
            symbol = f"{stem}_{count}"
        self.symbols.add(symbol)
        return symbol


def location_of(callee: SourceFunction) -> FileLineColLoc:
    """Where a function is defined."""
    tree = callee.parse()
    return FileLineColLoc(callee.source.shown_file, tree.lineno, tree.col_offset + 1)
