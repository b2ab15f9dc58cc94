"""Early exits are lowered once: what `desugar` makes of a function, and what it leaves as it is."""

import ast
from textwrap import dedent

import numpy as np
import pytest
from native import compile_scalar
from programs import Generator

import tritium
import tritium.language as tl
from tritium.dialects import scf
from tritium.frontend.callee import SourceFunction
from tritium.frontend.desugar import EarlyExitFor, ReturningIf, structured
from tritium.frontend.visitor.names import exits_early, statements_after, statements_of


def function(text):
    return ast.parse(dedent(text)).body[0]


def check_structured(suite, may_return):
    """The three invariants that `desugar` states."""
    for number, node in enumerate(suite):
        last = number == len(suite) - 1
        assert not isinstance(node, (ast.Break, ast.Continue))
        assert not isinstance(node, ast.Return) or (may_return and last)
        if isinstance(node, (ast.For, ast.While)):
            assert not node.orelse
        inside = may_return and last and isinstance(node, ReturningIf)
        for field in ("body", "orelse"):
            check_structured(getattr(node, field, []), inside)


@pytest.mark.parametrize("seed", range(60))
def test_structured_functions_satisfy_the_invariants(seed):
    for node in ast.parse(Generator(seed).module()).body:
        if isinstance(node, ast.FunctionDef):
            before = ast.dump(node)
            check_structured(structured(node), True)
            assert ast.dump(node) == before  # the tree of the source does not change


def test_functions_without_early_exits_keep_their_statements():
    plain = function("""
        def f(n):
            for i in range(n):
                if i: pass
            return n
    """)
    assert not exits_early(plain.body) and statements_of(plain) is plain.body


@pytest.mark.parametrize(
    "body",
    [
        "if n: return",
        "for i in range(n): break",
        "while n: continue",
        "for i in r: pass\n    else: pass",
        "with n: return",
    ],
)
def test_every_early_exit_is_found(body):
    exits = function(f"def f(n):\n    {body}\n    n = 1")
    assert exits_early(exits.body)
    assert statements_of(exits) is statements_of(exits) is not exits.body


def test_statements_after_a_returning_if_are_shared_by_its_branches():
    (first, branch) = structured(
        function("""
        def f(n):
            n = 1
            if n:
                n = 2
                if n == 3:
                    return 5
            else:
                n = 4
            n = 6
            return n
    """)
    )
    inner = branch.body[1]
    assert isinstance(branch, ReturningIf) and branch.shares and isinstance(inner, ReturningIf) and not inner.shares
    assert branch.orelse[1:] == inner.orelse and len(inner.orelse) == 2


def test_a_loop_that_only_continues_stays_plain():
    loop, *_ = structured(function("def f(n):\n    for i in range(n):\n        if i: continue\n        n = i"))
    assert type(loop) is ast.For
    loop, *_ = structured(function("def f(n):\n    for i in range(n):\n        if i: break\n        n = i"))
    assert type(loop) is EarlyExitFor


def test_statements_after_a_loop_include_those_of_the_suites_around():
    tree = function("""
        def f(n):
            if n:
                for i in range(n): pass
                n = 1
            else:
                n = 2
            n = 3
    """)
    branch, last = tree.body
    assert statements_after(branch.body[0], tree.body) == [branch.body[1], last]


def test_statements_that_branches_share_are_searched_once():
    ifs = "".join(f"    if n == {i}:\n        if n > {i}: return\n" for i in range(200))
    tree = function(f"def f(n):\n{ifs}    for i in range(n): pass\n    n = 2")
    suite = structured(tree)
    assert statements_after(ast.Pass(), suite) == []
    assert statements_after(tree.body[-2], suite) == tree.body[-1:]


class Recording:
    """A context manager that notes when the compiler enters and leaves it."""

    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enter")

    def __exit__(self, *error):
        self.log.append("exit")


LOG: list[str] = []


@tl.core.builtin
def recorded(_semantic=None):
    return Recording(LOG)


@tl.core.builtin
def noted(_semantic=None):
    LOG.append("noted")


@SourceFunction
def returns_in_with(out, n, KNOWN: tl.constexpr):
    with recorded():
        if KNOWN:
            return
        if n > 3:
            tl.store(out, 1)
            return
        tl.store(out, 2)
    noted()
    tl.store(out + 1, 3)


@pytest.mark.parametrize("known, log", [(False, ["enter", "exit", "noted"]), (True, ["enter", "exit"])])
def test_context_managers_exit_before_the_statements_after_them(known, log):
    LOG.clear()
    module = compile_scalar(returns_in_with, 3, KNOWN=known)
    assert log == LOG
    assert len([op for op in module.walk() if isinstance(op, scf.If)]) == (0 if known else 3)


@tritium.jit
def found_in_with(x, n):
    with recorded():
        for i in range(n):
            if tl.load(x + i) == 5:
                return i
    return -1


@tritium.jit
def finds_in_with(x, out, n):
    tl.store(out, found_in_with(x, n))


@pytest.mark.parametrize("n, found", [(0, -1), (2, -1), (3, 2)])
def test_a_value_is_returned_from_a_loop_in_a_with(n, found):
    x, out = np.array([1, 2, 5], np.int32), np.zeros(1, np.int32)
    finds_in_with[(1,)](x, out, n)
    assert out[0] == found
