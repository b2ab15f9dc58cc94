"""The unit of compilation: one module, the functions in it, the calls under way."""

from __future__ import annotations

import re
from typing import Any

from ...dialects import builtin, tt
from ...ir import Block, FunctionType, Value
from ...support import FileLineColLoc
from ...support.settings import compilation
from ..callee import SourceFunction
from ..errors import CallFrame, LanguageError
from ..semantics import Semantic
from .builder import NamingBuilder
from .calls import apply, bind_arguments, call_arguments
from .core import Outcome, Visitor
from .values import flatten, has_handles, rebuild, set_hints, static_key, types_of

__all__ = ["Unit", "location_of"]

MAX_DEPTH = 64  # of calls; a deeper chain is a recursion whose arguments change every time


class Compiled:
    """A function that is in the module: its symbol, and a value whose structure and types its result has."""

    __slots__ = ("result", "symbol")

    def __init__(self, symbol: str, result: Any) -> None:
        self.symbol = symbol
        self.result = result


class Unit:
    """State shared by the visitors of all functions of one module.

    `frames` and `callers` hold the calls under way (outermost first): where each was made, and from which function.
    """

    apply = staticmethod(apply)
    arguments = staticmethod(call_arguments)

    def __init__(self, options: Any) -> None:
        self.module = builtin.Module.empty()
        self.builder = NamingBuilder()
        self.options = options
        self.semantic = Semantic(self.builder, options)
        self.functions: dict[Any, Compiled] = {}
        self.active: set[Any] = set()
        self.symbols: set[str] = set()
        self.frames: list[CallFrame] = []
        self.callers: list[SourceFunction] = []
        self.copies = 0

    @staticmethod
    def cause(e: BaseException) -> BaseException | None:
        """What an error is chained to: nothing, unless the compiler itself is being debugged."""
        return e if compilation.front_end_debugging else None

    # -- calls ------------------------------------------------------------------------------------------------

    def call(self, visitor: Visitor, callee: SourceFunction, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Emit a call at the builder's place; the function is compiled on its first call with such arguments."""
        bound = bind_arguments(callee, args, kwargs)
        key = (id(callee), *map(static_key, bound.values()))
        compiled = self.functions.get(key)
        if compiled is None:
            if key in self.active or len(self.frames) >= MAX_DEPTH:
                raise LanguageError(
                    f"recursion is not supported: {callee.__name__} calls itself",  # type: ignore[attr-defined]
                    "write it as a loop",
                )
            compiled = self._define(visitor, callee, bound, key)
        result = compiled.result
        handles = [h for v in bound.values() for h in flatten(v)]
        wanted = flatten(result)
        if compiled.symbol:
            op = self.builder.insert(tt.Call(compiled.symbol, handles, results_=types_of(wanted)))
            if wanted:
                return rebuild(result, list(op.results))
        return result

    def _define(self, visitor: Visitor, callee: SourceFunction, bound: dict[str, Any], key: Any) -> Compiled:
        builder = self.builder
        state = builder.block, builder.before, builder.loc, builder.name
        self.active.add(key)
        self.frames.append(CallFrame(visitor.callee.__name__, visitor.callee.source, visitor.node))  # type: ignore[attr-defined]
        self.callers.append(visitor.callee)
        try:
            types = [t for v in bound.values() for t in types_of(flatten(v))]
            block = Block(types)
            env = self._parameters(bound, block)
            result = self.compile_body(callee, env, block)
            symbol = self._add(callee, block, flatten(result), self._symbol(callee, key), "private")
        finally:
            self.frames.pop()
            self.callers.pop()
            self.active.discard(key)
            builder.block, builder.before, builder.loc, builder.name = state
        compiled = self.functions[key] = Compiled(symbol, result)
        return compiled

    @staticmethod
    def _parameters(bound: dict[str, Any], block: Block) -> dict[str, Any]:
        """The parameters inside the function: run-time parts are the block's arguments."""
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
        """Compile the statements of `callee` into `block`, the return included; the value it returns."""
        tree = callee.parse()
        builder = self.builder
        builder.at_end(block)
        builder.loc = location_of(callee)
        builder.name = None
        visitor = Visitor(self, callee, env)
        outcome = visitor.run(tree.body) or Outcome(None)
        builder.insert(tt.Return(flatten(outcome.value)))
        return outcome.value

    def _add(self, callee: SourceFunction, block: Block, results: list[Value], symbol: str, visibility: str) -> str:
        """Put the function into the module. One that only computes constants is left out: its symbol is ""."""
        if visibility == "private" and not results and block.first is block.last:
            return ""
        self.add_function(callee, block, types_of(results), symbol, visibility)
        return symbol

    def add_function(
        self, callee: SourceFunction, block: Block, results: list[Any], symbol: str, visibility: str
    ) -> tt.Func:
        """A `tt.func` with the entry `block`, at the end of the module."""
        ty = FunctionType(tuple(a.type for a in block.args), tuple(results))
        func = tt.Func.build(symbol, ty, visibility, callee.noinline)
        region = func.regions[0]
        region.blocks.clear()
        region.append(block)
        func.loc = location_of(callee)
        self.module.body.append(func)
        return func

    def _symbol(self, callee: SourceFunction, key: Any) -> str:
        """A readable unique name: function, then its argument types and constants."""
        parts = [re.sub(r"[^A-Za-z0-9_]+", "_", _key_text(k)) for k in key[1:]]
        stem = symbol = f"{callee.fn_name}__{'_'.join(parts)}"[:200]
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


def _key_text(key: Any) -> str:
    if not isinstance(key, tuple):
        return str(key)
    if key and key[0] == "function":
        return str(key[1])
    return "_".join("c" + _key_text(k) if isinstance(k, tuple) else str(k) for k in key)
