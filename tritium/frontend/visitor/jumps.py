"""`break`, `continue`, and `return` inside a loop, in terms of flags: syntax that loops without them are written in.

    for i in range(n):                  live = True; k = 0
        if a: continue                  while live and k < count:
        if b: break                         i = first + k * step; k += 1; go = True
        rest                                if a: go = False
                                            if go:
                                                if b: go = False; live = False
                                                if go: rest

What follows a statement that may jump stands under `if go`; a `while` loop asks for its condition inside, so that it is
not asked again behind a `break`. Flags are compile-time values for as long as they can be: an `if` over a constant that
jumps costs nothing. A loop that only continues stays the loop it is. `return` also sets `returned` and keeps its value,
and the statement behind the loop returns it: always, where the loop is a `while True` that has no `break`.

`else` of a loop stands behind it: under `if not broke`, a flag that `break` sets, where the loop has a `break`.

Flags have names that no Python has: "go.12_4" for the loop at line 12, column 4.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...dialects import ub
from ...ir import Block
from ...support.namedtuples import NamedTuple
from ..language import core
from .branches import static_condition
from .core import Visitor, handles
from .values import constexpr, flatten, has_handles, is_value, materialize, rebuild, types_of

if TYPE_CHECKING:
    from .unit import Unit

__all__ = ["Jumps", "count_of", "jumps_of", "loop_and_else", "returning_loop"]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Jumps(NamedTuple):
    """A loop that jumps: its flags, its body with flags, and whether it may end before its time."""

    live: str
    go: str
    body: list[ast.stmt]
    leaves: bool


class _Set(ast.stmt):
    """`target` becomes a compile-time `value`."""

    _fields = ("target",)
    target: ast.Name
    value: bool


class _Keep(ast.stmt):
    """`target` becomes what a `return` in a loop returns."""

    _fields = ("target", "value")
    target: ast.Name
    value: ast.expr


class _Prepare(ast.stmt):
    """`target` gets a value of the type that the returns of `loop` keep there, so that the loop can carry it."""

    _fields = ("target",)
    target: ast.Name
    loop: ast.stmt


class _Holds(ast.expr):
    """Does a loop's condition hold?"""

    _fields = ("test",)
    test: ast.expr


class _Index(ast.expr):
    """first + k * step, in the type of the loop's bounds."""

    _fields = ("first", "step", "k")


def jumps_of(loop: ast.For | ast.While) -> Jumps | None:
    """The jumps of a loop without `return`; None where there are none."""
    try:
        return loop.tritium_jumps  # type: ignore[union-attr,no-any-return]
    except AttributeError:
        pass
    found = None
    if any(isinstance(j, (ast.Break, ast.Continue)) for j in _own_jumps(loop.body)):
        found = _lowered(loop, None)
    loop.tritium_jumps = found  # type: ignore[union-attr]
    return found


def returning_loop(loop: ast.For | ast.While) -> list[ast.stmt]:
    """A loop that returns, as statements: the loop with flags, and the `return` behind it."""
    try:
        return loop.tritium_returning  # type: ignore[union-attr,no-any-return]
    except AttributeError:
        pass
    place = f"{loop.lineno}_{loop.col_offset}"
    kept = _Returned(f"returned.{place}", f"result.{place}" if _returns_value(loop) else None)
    new = _with_flags(loop, kept)
    out = [_set(kept.flag, False, loop)]
    value = None
    if kept.value is not None:
        prepare = _at(_Prepare(target=_name(kept.value, loop, ast.Store())), loop)
        prepare.loop = new
        out.append(prepare)
        value = _name(kept.value, loop)
    out.append(new)
    leave = _at(ast.Return(value), loop)
    out.append(leave if _ends_by_return(loop) else _at(ast.If(_name(kept.flag, loop), [leave], []), loop))
    loop.tritium_returning = out  # type: ignore[union-attr]
    return out


def loop_and_else(loop: ast.For | ast.While) -> list[ast.stmt]:
    """A loop with `else`, as statements: the loop, and behind it what runs unless it was left by `break`."""
    try:
        return loop.tritium_else  # type: ignore[union-attr,no-any-return]
    except AttributeError:
        pass
    new = _without_else(loop)
    out = [new, *loop.orelse]
    if any(isinstance(j, ast.Break) for j in _own_jumps(loop.body)):
        broke = new.tritium_broke = f"broke.{loop.lineno}_{loop.col_offset}"
        otherwise = _at(ast.If(_name(broke, loop), [_at(ast.Pass(), loop)], loop.orelse), loop.orelse[0])
        out = [_set(broke, False, loop), new, otherwise]
    loop.tritium_else = out  # type: ignore[union-attr]
    return out


# -- rewriting ----------------------------------------------------------------------------------------------------


class _Returned(NamedTuple):
    """Where a function notes that a loop returned, and what; None for nothing."""

    flag: str
    value: str | None


def _at(node: Any, like: ast.AST) -> Any:
    return ast.copy_location(node, like)


def _name(name: str, like: ast.AST, context: ast.expr_context | None = None) -> ast.Name:
    return _at(ast.Name(name, context or ast.Load()), like)  # type: ignore[no-any-return]


def _set(name: str, value: bool, like: ast.AST) -> ast.stmt:
    node = _at(_Set(target=_name(name, like, ast.Store())), like)
    node.value = value
    return node  # type: ignore[no-any-return]


def _own_jumps(suite: Iterable[ast.AST]) -> list[ast.stmt]:
    """The jumps in statements that belong to the loop around them; the returns of loops inside, too."""
    found: list[ast.stmt] = []
    for node in suite:
        if isinstance(node, (ast.Break, ast.Continue, ast.Return)):
            found.append(node)
        elif isinstance(node, (ast.For, ast.While)):
            found += [j for j in _own_jumps(node.body) if isinstance(j, ast.Return)]
            found += _own_jumps(node.orelse)
        elif isinstance(node, ast.stmt) and not isinstance(node, _SCOPES):
            found += _own_jumps(ast.iter_child_nodes(node))
    return found


def _returns_value(loop: ast.AST) -> bool:
    return any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(loop))


def _ends_by_return(loop: ast.For | ast.While) -> bool:
    """`while True` without `break`: behind it is nothing."""
    endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    return endless and not any(isinstance(j, ast.Break) for j in _own_jumps(loop.body))


def _without_else(loop: ast.For | ast.While) -> Any:
    if isinstance(loop, ast.For):
        return _at(ast.For(loop.target, loop.iter, loop.body, []), loop)
    return _at(ast.While(loop.test, loop.body, []), loop)


def _with_flags(loop: ast.For | ast.While, kept: _Returned | None) -> Any:
    """A copy of the loop that knows its jumps."""
    new = _without_else(loop)
    jumps = _lowered(loop, kept)
    new.tritium_jumps = jumps
    new.body = jumps.body
    return new


def _lowered(loop: ast.For | ast.While, kept: _Returned | None) -> Jumps:
    place = f"{loop.lineno}_{loop.col_offset}"
    live, go = f"live.{place}", f"go.{place}"
    leaves = any(isinstance(j, (ast.Break, ast.Return)) for j in _own_jumps(loop.body))
    flags = _Flags(live, go, getattr(loop, "tritium_broke", None), kept)
    return Jumps(live, go, [_set(go, True, loop), *flags.suite(loop.body)], leaves)


def _flat(suite: list[ast.stmt]) -> list[ast.stmt]:
    """Statements without `else` of loops."""
    out: list[ast.stmt] = []
    for node in suite:
        out += loop_and_else(node) if isinstance(node, (ast.For, ast.While)) and node.orelse else [node]
    return out


class _Flags(NamedTuple):
    """What jumps set in the body of one loop."""

    live: str
    go: str
    broke: str | None
    kept: _Returned | None

    def suite(self, suite: list[ast.stmt]) -> list[ast.stmt]:
        """Statements with flags in the place of jumps; what comes behind a possible jump is under `if go`."""
        out: list[ast.stmt] = []
        suite = _flat(suite)
        for number, node in enumerate(suite):
            if isinstance(node, (ast.Break, ast.Continue, ast.Return)):
                return [*out, *self.jump(node)]
            inside = _own_jumps([node])
            if not inside:
                out.append(node)
                continue
            out += self.compound(node)
            rest = self.suite(suite[number + 1 :])
            if rest:
                out.append(_at(ast.If(_name(self.go, rest[0]), rest, []), rest[0]))
            return out
        return out

    def jump(self, node: ast.stmt) -> list[ast.stmt]:
        """The flags that a jump sets."""
        out = []
        if isinstance(node, ast.Return):
            assert self.kept is not None
            if self.kept.value is not None:
                value = node.value or _at(ast.Constant(None), node)
                out.append(_at(_Keep(target=_name(self.kept.value, node, ast.Store()), value=value), node))
            out.append(_set(self.kept.flag, True, node))
        if isinstance(node, ast.Break) and self.broke is not None:
            out.append(_set(self.broke, True, node))
        if not isinstance(node, ast.Continue):
            out.append(_set(self.live, False, node))
        return [*out, _set(self.go, False, node)]

    def compound(self, node: Any) -> list[ast.stmt]:
        """A statement that jumps somewhere inside."""
        if isinstance(node, ast.If):
            return [_at(ast.If(node.test, self.suite(node.body), self.suite(node.orelse)), node)]
        if isinstance(node, ast.With):
            return [_at(ast.With(node.items, self.suite(node.body)), node)]
        if isinstance(node, (ast.For, ast.While)):  # it returns
            assert self.kept is not None
            stop = [_set(self.live, False, node), _set(self.go, False, node)]
            return [_with_flags(node, self.kept), _at(ast.If(_name(self.kept.flag, node), stop, []), node)]
        return [node]  # what kernels cannot use: the visitor says so


def while_loop(loop: ast.While, jumps: Jumps) -> list[ast.stmt]:
    """A `while` loop that may end before its time: it runs for as long as it is live, and asks inside."""
    ended = [_set(jumps.live, False, loop)]
    ask = _at(ast.If(_at(_Holds(test=loop.test), loop.test), jumps.body, ended), loop)
    return [_set(jumps.live, True, loop), _at(ast.While(_name(jumps.live, loop), [ask], []), loop)]


def range_loop(loop: ast.For, jumps: Jumps) -> list[ast.stmt]:
    """A loop over numbers that may end before its time, counted; `count_of` says what the names here mean."""
    first, step, count, k = (f"{part}{jumps.live[4:]}" for part in ("first", "step", "count", "k"))

    number = _at(_Index(first=_name(first, loop), step=_name(step, loop), k=_name(k, loop)), loop)
    index = _at(ast.Assign([loop.target], number), loop.target)
    more = _at(ast.BinOp(_name(k, loop), ast.Add(), _at(ast.Constant(1), loop)), loop)
    advance = _at(ast.Assign([_name(k, loop, ast.Store())], more), loop)
    left = _at(ast.Compare(_name(k, loop), [ast.Lt()], [_name(count, loop)]), loop)
    test = _at(ast.BoolOp(ast.And(), [_name(jumps.live, loop), left]), loop)
    body = [index, advance, *jumps.body]
    return [_set(jumps.live, True, loop), _at(ast.While(test, body, []), loop)]


def count_of(visitor: Visitor, jumps: Jumps, bounds: tuple[Any, Any, Any, bool]) -> None:
    """Name what `range_loop` counts with: `first + k * step` for k from 0 to below `count`, whatever overflows."""
    lower, upper, step, down = bounds
    sem, place = visitor.semantic, jumps.live[4:]
    steps = _steps(visitor, bounds)
    count = sem.where(sem.lt(lower, upper), sem.add(steps, 1, False), 0)
    visitor.env[f"first{place}"] = upper if down else lower
    visitor.env[f"step{place}"] = sem.neg(step) if down else step
    visitor.env[f"count{place}"] = count
    visitor.env[f"k{place}"] = sem.cast(sem.to_tensor(constexpr(0)), steps.dtype)


def _steps(visitor: Visitor, bounds: tuple[Any, Any, Any, bool]) -> Any:
    """The steps from the first to the last number of a range that has any, unsigned, whatever overflows."""
    lower, upper, step, _ = bounds
    sem = visitor.semantic
    unsigned = getattr(core, f"uint{lower.dtype.int_bitwidth}")
    difference = sem.cast(sem.sub(upper, lower, False), unsigned)
    return sem.floordiv(sem.sub(difference, 1, False), sem.cast(step, unsigned))


def last_number(visitor: Visitor, bounds: tuple[Any, Any, Any, bool], otherwise: Any) -> Any:
    """The last number of a range: `first + steps * step`; `otherwise` (by default, the first) where there is none."""
    lower, upper, step, down = bounds
    sem, first = visitor.semantic, upper if down else lower
    way = sem.mul(sem.cast(_steps(visitor, bounds), first.dtype), step, False)
    last = sem.sub(first, way, False) if down else sem.add(first, way, False)
    return sem.where(sem.lt(lower, upper), last, first if otherwise is None else otherwise)


# -- what the visitor does with it --------------------------------------------------------------------------------


@handles(_Set)
def _set_flag(visitor: Visitor, node: _Set) -> None:
    visitor.env[node.target.id] = constexpr(node.value)


@handles(_Index)
def _index(visitor: Visitor, node: _Index) -> Any:
    first, step, k = (visitor.lookup(part.id) for part in (node.first, node.step, node.k))  # type: ignore[attr-defined]
    sem = visitor.semantic
    return sem.add(first, sem.mul(sem.cast(k, first.dtype), step, False), False)


@handles(_Holds)
def _holds(visitor: Visitor, node: _Holds) -> Any:
    value = visitor.visit(node.test)
    value = value.condition if isinstance(value, core.condition) else value
    known, condition = static_condition(visitor, node.test, value)
    return constexpr(known) if condition is None else condition


class _Seen(BaseException):
    """A return was met; ends the search for its type."""

    def __init__(self, value: Any) -> None:
        self.value = value


_UNKNOWN = object()


@handles(_Keep)
def _keep(visitor: Visitor, node: _Keep) -> None:
    value = visitor.visit(node.value)
    if visitor.env.get(node.target.id) is _UNKNOWN:
        raise _Seen(materialize(value, visitor.semantic))
    visitor.env[node.target.id] = value


@handles(_Prepare)
def _prepare(visitor: Visitor, node: _Prepare) -> None:
    """Compile the loop for nothing but the type of what it returns, then make an undefined value of that type."""
    found = _first_return(visitor, node)
    if has_handles(found):
        undefined = [visitor.builder.add(ub.Poison(result=h.type)) for h in flatten(found)]
        found = rebuild(found, undefined)
    visitor.env[node.target.id] = found


def _first_return(visitor: Visitor, node: _Prepare) -> Any:
    unit: Unit = visitor.unit.__class__(visitor.unit.options)
    unit.frames, unit.callers = list(visitor.unit.frames), list(visitor.unit.callers)
    env = {name: value for name, value in visitor.env.items() if is_value(value) and has_handles(value)}
    block = Block([t for value in env.values() for t in types_of(flatten(value))])
    copied = {**visitor.env, **unit._parameters(env, block), node.target.id: _UNKNOWN}
    inner = Visitor(unit, visitor.callee, copied)
    unit.builder.at_end(block)
    try:
        inner.visit(node.loop)
    except _Seen as seen:
        return seen.value
    return None
