"""Lower `break`, `continue`, early `return` and `else` of loops to structured statements, before they are compiled.

A function that exits early is rewritten once (`structured`), and the result kept on its syntax tree. In the result

1. there is no `break`, no `continue`, and no loop has an `else`;
2. `return` is the last statement of the function or of a branch of a `ReturningIf`, which is itself the last statement
   of the function or of such a branch;
3. bodies of loops and of `with` contain no `return`.

**In loops, exits become flags.** What follows a statement that may exit is guarded by `if go`; a loop that may end
early runs while it is `live`, and asks for its condition inside, so that it is not evaluated again after a `break`:

    while c:                            live = True
        if a: continue                  while live:
        if b: break                         if Holds(c):
        rest                                    go = True
                                                if a: go = False
                                                if go:
                                                    if b: live = False; go = False
                                                    if go: rest
                                            else: live = False

A `for` becomes an `EarlyExitFor` with such a body: whether it is unrolled or counted depends on what it iterates over.
A loop that only continues stays a plain loop. Flags are compile-time values for as long as they can be: an `if` over a
constant that exits costs nothing. Each has a name that no Python variable has: "go.12_4" for the loop at line 12,
column 4.

**`return` in a loop** (or in a `with`) also sets `returned` and keeps its value in `result`. The statement after the
outermost loop returns it: always where that loop is a `while True` without `break`. `else` of a loop becomes the
statements after it: under `if not broke`, a flag that `break` sets, where the loop has a `break`.

**Elsewhere `return` moves to the end.** The statements that follow an `if` which returns on some of its paths become
the end of its other branches, so that the function stays structured and can be inlined anywhere:

    if a: return x                      if a: return x          (ReturningIf)
    rest                                else: rest

They are shared, not copied: compiled once for each run-time branch that reaches them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

__all__ = [
    "ClearFlags",
    "EarlyExitFor",
    "Holds",
    "IterationIndex",
    "KeepResult",
    "PrepareResult",
    "ReturningIf",
    "SetFlag",
    "counted_loop",
    "structured",
]

_Node = TypeVar("_Node", bound=ast.AST)
_Loop = (ast.For, ast.While)
_EXITS = (ast.Break, ast.Continue, ast.Return)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


# -- statements that Python does not have -------------------------------------------------------------------------


class SetFlag(ast.stmt):
    """`target` becomes the compile-time constant `value`."""

    _fields = ("target",)
    target: ast.Name
    value: bool

    def __init__(self, name: str, value: bool, like: ast.AST) -> None:
        super().__init__()
        self.target, self.value = _name(name, like, ast.Store()), value
        _at(self, like)


class ClearFlags(ast.stmt):
    """The flags of a loop go out of scope."""

    _fields = ()
    names: tuple[str, ...]

    def __init__(self, names: tuple[str, ...], like: ast.AST) -> None:
        super().__init__()
        self.names = names
        _at(self, like)


class KeepResult(ast.stmt):
    """`target` becomes the value of a `return` in a loop."""

    _fields = ("target", "value")
    target: ast.Name
    value: ast.expr

    def __init__(self, name: str, value: ast.expr, like: ast.AST) -> None:
        super().__init__()
        self.target, self.value = _name(name, like, ast.Store()), value
        _at(self, like)


class PrepareResult(ast.stmt):
    """`target` gets an undefined value of the type that `body` keeps there, so that loops in it can carry the name."""

    _fields = ("target",)
    target: ast.Name
    body: list[ast.stmt]

    def __init__(self, name: str, body: list[ast.stmt], like: ast.AST) -> None:
        super().__init__()
        self.target, self.body = _name(name, like, ast.Store()), body
        _at(self, like)


class ReturningIf(ast.If):
    """An `if` that ends the function: what its branches do not return, the function does not return.

    `shares` says that both branches end with the statements that followed the `if`.
    """

    shares: bool


class EarlyExitFor(ast.For):
    """A `for` whose iterations end when the flag `live` is not set."""

    live: str


class Holds(ast.expr):
    """The condition of a `while` loop as the condition of an `if`."""

    _fields = ("test",)
    test: ast.expr

    def __init__(self, test: ast.expr) -> None:
        super().__init__()
        self.test = test
        _at(self, test)


class IterationIndex(ast.expr):
    """first + k * step, in the type of the bounds of the loop."""

    _fields = ("first", "step", "k")
    first: ast.Name
    step: ast.Name
    k: ast.Name

    def __init__(self, first: ast.Name, step: ast.Name, k: ast.Name, like: ast.AST) -> None:
        super().__init__()
        self.first, self.step, self.k = first, step, k
        _at(self, like)


# -- functions ----------------------------------------------------------------------------------------------------


def structured(function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of `function` with its early exits lowered."""
    return _tail(function.body, [])


def _tail(suite: list[ast.stmt], rest: list[ast.stmt]) -> list[ast.stmt]:
    """`suite`, at the end of which the function ends, followed by `rest`, which is lowered already."""
    following = rest
    before: list[ast.stmt] = []  # what comes before `following`, reversed
    for node in reversed(_without_else(suite)):
        if isinstance(node, ast.Return):
            following, before = [node], []
        elif not _has(ast.Return, [node]):
            before += reversed(_plain(node))
        else:
            following, before = _returning(node, [*reversed(before), *following]), []
    return [*reversed(before), *following]


def _returning(node: Any, after: list[ast.stmt]) -> list[ast.stmt]:
    """A statement that returns somewhere inside, followed by the lowered statements `after`."""
    if isinstance(node, ast.If):
        new = _returning_if(node.test, node, _tail(node.body, after), _tail(node.orelse, after))
        new.shares = bool(after) and not _always_returns(node.body) and not _always_returns(node.orelse)
        return [new]
    if not isinstance(node, (*_Loop, ast.With)):
        return [node, *after]  # what kernels cannot use: the visitor says so
    place = _place(node)
    result = f"result.{place}" if _returns_value(node) else None
    kept = _Returned(f"returned.{place}", result)
    lowered = _loop(node, kept) if isinstance(node, _Loop) else _with(node, kept)
    out: list[ast.stmt] = [SetFlag(kept.flag, False, node)]
    if result is not None:
        out.append(PrepareResult(result, lowered, node))
    leave = _at(ast.Return(None if result is None else _name(result, node)), node)
    if _ends_by_return(node):
        return [*out, *lowered, leave]
    return [*out, *lowered, _returning_if(_name(kept.flag, node), node, [leave], after)]


def _returning_if(test: ast.expr, like: ast.stmt, body: list[ast.stmt], orelse: list[ast.stmt]) -> ReturningIf:
    node = _at(ReturningIf(test, body, orelse), like)
    node.shares = False
    return node


def _always_returns(suite: list[ast.stmt]) -> bool:
    """True when the text alone shows that control never reaches the end of `suite`."""
    last = suite[-1] if suite else None
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, ast.Return)


class _Returned(NamedTuple):
    """Where a function notes that a loop returned, and what; None for nothing."""

    flag: str
    value: str | None


def _returns_value(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(node))


def _ends_by_return(node: ast.stmt) -> bool:
    """`while True` without `break`: control never reaches what follows."""
    if not isinstance(node, ast.While) or _has(ast.Break, node.body):
        return False
    return isinstance(node.test, ast.Constant) and bool(node.test.value)


# -- statements ---------------------------------------------------------------------------------------------------


def _plain(node: Any) -> list[ast.stmt]:
    """A statement whose exits, if it has any, are those of loops inside it."""
    if isinstance(node, _Loop):
        return _loop(node, None)
    if not isinstance(node, (ast.If, ast.With)) or not _has_loop_exits(node):
        return [node]
    if isinstance(node, ast.With):
        return [_at(ast.With(node.items, _suite(node.body)), node)]
    return [_at(ast.If(node.test, _suite(node.body), _suite(node.orelse)), node)]


def _suite(suite: list[ast.stmt]) -> list[ast.stmt]:
    """Statements without exits of their own."""
    return [new for node in _without_else(suite) for new in _plain(node)]


def _has_loop_exits(node: ast.AST) -> bool:
    """Is there a loop in `node` that exits early or has an `else`?"""
    return any(
        isinstance(part, _Loop) and (part.orelse or any(isinstance(e, _EXITS) for e in ast.walk(part)))
        for part in ast.walk(node)
    )


def _own_exits(suite: Iterable[ast.AST]) -> list[ast.stmt]:
    """The exits in statements that belong to the loop around them; the returns of loops inside, too."""
    found: list[ast.stmt] = []
    for node in suite:
        if isinstance(node, _EXITS):
            found.append(node)
        elif isinstance(node, _Loop):
            found += [exit_ for exit_ in _own_exits(node.body) if isinstance(exit_, ast.Return)]
            found += _own_exits(node.orelse)
        elif isinstance(node, ast.stmt) and not isinstance(node, _SCOPES):
            found += _own_exits(ast.iter_child_nodes(node))
    return found


def _has(kind: type[ast.stmt], suite: list[ast.stmt]) -> bool:
    return any(isinstance(exit_, kind) for exit_ in _own_exits(suite))


def _without_else(suite: list[ast.stmt]) -> list[ast.stmt]:
    """Statements without `else` of loops."""
    out: list[ast.stmt] = []
    for node in suite:
        out += _loop_and_else(node) if isinstance(node, _Loop) and node.orelse else [node]
    return out


def _loop_and_else(loop: ast.For | ast.While) -> list[ast.stmt]:
    """A loop with `else`, as statements: the loop, and after it what runs unless it was left by `break`."""
    new = _copy(loop, loop.body)
    if not _has(ast.Break, loop.body):
        return [new, *_without_else(loop.orelse)]
    broke = new.tritium_broke = f"broke.{_place(loop)}"
    otherwise = _at(ast.If(_name(broke, loop), [_at(ast.Pass(), loop)], loop.orelse), loop.orelse[0])
    return [SetFlag(broke, False, loop), new, otherwise]


# -- loops --------------------------------------------------------------------------------------------------------


def _loop(loop: Any, kept: _Returned | None) -> list[ast.stmt]:
    """A loop without `else`: its exits as flags, which are cleared after it."""
    exits = _own_exits(loop.body)
    if not exits:
        return [_copy(loop, _suite(loop.body))] if _has_loop_exits(loop) else [loop]
    place = _place(loop)
    live, go = f"live.{place}", f"go.{place}"
    flags = _Flags(live, go, getattr(loop, "tritium_broke", None), kept)
    body = [SetFlag(go, True, loop), *flags.suite(loop.body)]
    if all(isinstance(exit_, ast.Continue) for exit_ in exits):
        return [_copy(loop, body), ClearFlags((go,), loop)]
    if isinstance(loop, ast.For):
        new = _at(EarlyExitFor(loop.target, loop.iter, body, []), loop)
        new.live = live
        return [new, ClearFlags((live, go, *_counters(live)), loop)]
    ask = _at(ast.If(Holds(loop.test), body, [SetFlag(live, False, loop)]), loop)
    repeat = _at(ast.While(_name(live, loop), [ask], []), loop)
    return [SetFlag(live, True, loop), repeat, ClearFlags((live, go), loop)]


def _with(node: ast.With, kept: _Returned) -> list[ast.stmt]:
    """A `with` that returns: its managers exit before the function does."""
    go = f"go.{_place(node)}"
    body = _Flags(None, go, None, kept).suite(node.body)
    return [SetFlag(go, True, node), _at(ast.With(node.items, body), node), ClearFlags((go,), node)]


def counted_loop(loop: EarlyExitFor) -> list[ast.stmt]:
    """An `EarlyExitFor` over a range as a `while` that counts: k from 0 to below `count`, the target first + k * step.

    Counting its iterations cannot overflow, whatever the bounds are.
    """
    first, step, count, k = _counters(loop.live)
    index = IterationIndex(_name(first, loop), _name(step, loop), _name(k, loop), loop)
    assign = _at(ast.Assign([loop.target], index), loop.target)
    next_k = _at(ast.BinOp(_name(k, loop), ast.Add(), _at(ast.Constant(1), loop)), loop)
    advance = _at(ast.Assign([_name(k, loop, ast.Store())], next_k), loop)
    more = _at(ast.Compare(_name(k, loop), [ast.Lt()], [_name(count, loop)]), loop)
    test = _at(ast.BoolOp(ast.And(), [_name(loop.live, loop), more]), loop)
    return [SetFlag(loop.live, True, loop), _at(ast.While(test, [assign, advance, *loop.body], []), loop)]


def _counters(live: str) -> tuple[str, str, str, str]:
    """The names that the counted form of a loop reads."""
    place = live.removeprefix("live")
    return f"first{place}", f"step{place}", f"count{place}", f"k{place}"


class _Flags(NamedTuple):
    """What exits set in the body of one loop; `live` is None for the body of a `with`, which runs once."""

    live: str | None
    go: str
    broke: str | None
    kept: _Returned | None

    def suite(self, suite: list[ast.stmt]) -> list[ast.stmt]:
        """Statements with flags in the place of exits; what follows a possible exit is guarded by `if go`."""
        out: list[ast.stmt] = []
        suite = _without_else(suite)
        for number, node in enumerate(suite):
            if isinstance(node, _EXITS):
                return [*out, *self.exit(node)]
            if not _own_exits([node]):
                out += _plain(node)
                continue
            out += self.compound(node)
            rest = self.suite(suite[number + 1 :])
            if rest:
                out.append(_at(ast.If(_name(self.go, rest[0]), rest, []), rest[0]))
            return out
        return out

    def exit(self, node: ast.stmt) -> list[ast.stmt]:
        """The flags that an exit sets."""
        out: list[ast.stmt] = []
        if isinstance(node, ast.Return):
            assert self.kept is not None
            if self.kept.value is not None:
                out.append(KeepResult(self.kept.value, node.value or _at(ast.Constant(None), node), node))
            out.append(SetFlag(self.kept.flag, True, node))
        if isinstance(node, ast.Break) and self.broke is not None:
            out.append(SetFlag(self.broke, True, node))
        return [*out, *(self.stop(node) if not isinstance(node, ast.Continue) else [SetFlag(self.go, False, node)])]

    def stop(self, like: ast.stmt) -> list[ast.stmt]:
        """End the loop."""
        flags = [self.go] if self.live is None else [self.live, self.go]
        return [SetFlag(flag, False, like) for flag in flags]

    def compound(self, node: Any) -> list[ast.stmt]:
        """A statement that exits somewhere inside."""
        if isinstance(node, ast.If):
            return [_at(ast.If(node.test, self.suite(node.body), self.suite(node.orelse)), node)]
        if isinstance(node, ast.With):
            return [_at(ast.With(node.items, self.suite(node.body)), node)]
        if isinstance(node, _Loop):  # it returns
            assert self.kept is not None
            return [*_loop(node, self.kept), _at(ast.If(_name(self.kept.flag, node), self.stop(node), []), node)]
        return [node]  # what kernels cannot use: the visitor says so


# -- nodes --------------------------------------------------------------------------------------------------------


def _at(node: _Node, like: ast.AST) -> _Node:
    return ast.copy_location(node, like)


def _name(name: str, like: ast.AST, context: ast.expr_context | None = None) -> ast.Name:
    return _at(ast.Name(name, context or ast.Load()), like)


def _place(node: ast.stmt) -> str:
    return f"{node.lineno}_{node.col_offset}"


def _copy(loop: ast.For | ast.While, body: list[ast.stmt]) -> Any:
    """The loop with another body and without `else`."""
    if isinstance(loop, ast.For):
        new: Any = ast.For(loop.target, loop.iter, body, [])
    else:
        new = ast.While(loop.test, body, [])
    if hasattr(loop, "tritium_broke"):
        new.tritium_broke = loop.tritium_broke
    return _at(new, loop)
