"""Cut down nests: a loop or branch replaced by what stands in it, a shorter loop, a call replaced by what is called.

Each function takes the module of a kernel and yields modules that are a little simpler. Some of them are no programs any
more (a name is not defined): they do not fail as the program does.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

__all__ = ["flattened", "inlined_calls", "shortened", "suites", "without_unused"]

_LOOPS = (ast.For, ast.While)


def suites(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """All lists of statements in a tree, outer ones first."""
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            suite = getattr(node, name, None)
            if isinstance(suite, list) and suite:
                yield suite


class _WithoutJumps(ast.NodeTransformer):
    """Without what leaves a loop that is no more; jumps of loops inside stay."""

    def visit_For(self, node: ast.For) -> ast.For:
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        return node

    def visit_Break(self, node: ast.Break) -> ast.Pass:
        return ast.Pass()

    def visit_Continue(self, node: ast.Continue) -> ast.Pass:
        return ast.Pass()


def _once(loop: ast.For | ast.While) -> list[ast.stmt]:
    """The body of a loop, run once, with 0 for what counts."""
    body = [_WithoutJumps().visit(s) for s in loop.body]
    if not isinstance(loop, ast.For):
        return body
    return [ast.parse(f"{ast.unparse(loop.target)} = tl.full([], 0, tl.int32)").body[0], *body]


def flattened(tree: ast.Module) -> Iterator[ast.Module]:
    """A loop or branch replaced by what stands in it."""
    for k, suite in enumerate(list(suites(tree))):
        for i, s in enumerate(suite):
            for part in ("body", "orelse"):
                if isinstance(s, (ast.If, *_LOOPS)) and getattr(s, part):
                    new = copy.deepcopy(tree)
                    mine = list(suites(new))[k]
                    node = mine[i]
                    mine[i : i + 1] = (
                        _once(node) if isinstance(node, _LOOPS) and part == "body" else getattr(node, part)
                    )
                    yield ast.fix_missing_locations(new)


def shortened(tree: ast.Module) -> Iterator[ast.Module]:
    """A loop over fewer numbers; a loop that becomes a branch."""
    loops = [n for n in ast.walk(tree) if isinstance(n, _LOOPS)]
    for k, loop in enumerate(loops):
        heads = ("range(1)", "range(2)", "range(3)") if isinstance(loop, ast.For) else ("",)
        for h, head in enumerate(heads):
            if isinstance(loop, ast.For) and ast.unparse(loop.iter) in heads[: h + 1]:
                break
            new = copy.deepcopy(tree)
            mine = [n for n in ast.walk(new) if isinstance(n, _LOOPS)][k]
            if isinstance(mine, ast.For):
                mine.iter = ast.parse(head, mode="eval").body
            else:
                branch = ast.If(mine.test, [_WithoutJumps().visit(s) for s in mine.body], mine.orelse)
                suite = next(s for s in suites(new) if mine in s)
                suite[suite.index(mine)] = branch
            yield ast.fix_missing_locations(new)


def inlined_calls(tree: ast.Module) -> Iterator[ast.Module]:
    """A call of a function without branches that return, replaced by the function's statements.

    Names are those of one function only: they need no others.
    """
    functions = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef) and _returns_once(f)}
    for k, suite in enumerate(list(suites(tree))):
        for i, s in enumerate(suite):
            if not (isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and isinstance(s.value.func, ast.Name)):
                continue
            function = functions.get(s.value.func.id)
            if function is None or s.value.keywords or len(s.value.args) != len(function.args.args):
                continue
            new = copy.deepcopy(tree)
            names = [a.arg for a in function.args.args]
            given = [(n, ast.unparse(a)) for n, a in zip(names, s.value.args) if n != ast.unparse(a)]
            body = copy.deepcopy(function.body)
            result = ast.Assign(copy.deepcopy(s.targets), body[-1].value)  # type: ignore[attr-defined]
            list(suites(new))[k][i : i + 1] = [
                *(ast.parse(f"{n} = {a}").body[0] for n, a in given),
                *body[:-1],
                result,
            ]
            yield ast.fix_missing_locations(new)


def _returns_once(function: ast.FunctionDef) -> bool:
    returns = [n for n in ast.walk(function) if isinstance(n, ast.Return)]
    return returns == [function.body[-1]] and returns[0].value is not None


def without_unused(tree: ast.Module) -> ast.Module:
    """Without functions that nothing calls any more, in place."""
    while True:
        read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        unread = [f for f in tree.body[:-1] if isinstance(f, ast.FunctionDef) and f.name not in read]
        if not unread:
            return tree
        tree.body = [s for s in tree.body if s not in unread]
