"""Cut a failing kernel down: statements, branches and loops, operands, sizes and options, while it fails alike.

A candidate fails alike when the same pair of targets disagrees, or the same kind of error is raised by the same target
in the same words (numbers and names apart). One whose results are not its own (it stores a pointer) does not count. The result is the text of a pytest file.
"""

from __future__ import annotations

import ast
import copy
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .compare import Mismatch, arrays_of, check, run_on
from .generate import HEAD, generate
from .runner import load
from .unnest import flattened, inlined_calls, shortened, suites, without_unused
from .writer import ANY, Case, Wishes

__all__ = ["failure_of", "reduced", "reproducer"]

SECONDS = 120.0
"""How long one program may be cut."""


class _Late(BaseException):
    """A candidate takes too long."""


def _late(*_: object) -> None:
    raise _Late


def failure_of(case: Case, targets: Sequence[str], folder: Path, patience: int = 20) -> str | None:
    """How a case fails, without what may differ between programs that fail alike; None where it does not."""
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(patience)
    try:
        return _failure(case, targets, folder)
    except _Late:
        return "late"
    finally:
        signal.alarm(0)


def _failure(case: Case, targets: Sequence[str], folder: Path) -> str | None:
    try:
        kernel = load(case.text, folder, "candidate").kernel
        check(kernel, case.grid, case.scalars, case.outputs, case.tolerances, case.seed, targets, **case.options)
    except Mismatch as e:
        if differs_by_itself(kernel, case, targets[0]):
            return "other results in each run"
        return str(e).split(":")[0] + (" guards" if "-" in str(e).split("at [")[1].split("]")[0] else "")
    except Exception as e:
        lines = [line for line in str(e).splitlines() if line.strip()]
        text = re.sub(r"^\S*\.py:[\d:]*", "", lines[0] if lines else "")
        return f"{type(e).__name__} {re.sub(r'[a-z]?[0-9]+', 'N', text)[:80]}"
    return None


def differs_by_itself(kernel: Any, case: Case, target: str) -> bool:
    """Does one target give two results?"""
    arrays = arrays_of(kernel.arg_names, case.outputs, case.seed)
    one, other = (run_on(target, kernel, case.grid, case.scalars, arrays, case.options) for _ in range(2))
    return any(one[k].tobytes() != other[k].tobytes() for k in arrays)


# -- candidates --------------------------------------------------------------------------------------------------------


def _dropped(tree: ast.Module) -> Iterator[ast.Module]:
    """Without some statements in a row, many at once first."""
    for n in (16, 8, 4, 2, 1):
        for k, suite in enumerate(list(suites(tree))):
            if suite is tree.body:
                continue
            for at in range(len(suite) - 1, -1, -n):
                new = copy.deepcopy(tree)
                mine = list(suites(new))[k]
                first = max(at - n + 1, 0)
                mine[first : at + 1] = [] if len(mine) > at - first + 1 else [ast.Pass()]
                yield new


def _only_stores(tree: ast.Module) -> Iterator[ast.Module]:
    """With one of the stores, and without what nobody reads then."""
    kernel = tree.body[-1]
    assert isinstance(kernel, ast.FunctionDef)
    stores = [s for s in kernel.body if isinstance(s, ast.Expr) and "store" in ast.unparse(s)]
    for one in stores if len(stores) > 1 else []:
        new = copy.deepcopy(tree)
        text = ast.unparse(one)
        new.body[-1].body = [
            s
            for s in new.body[-1].body
            if not (isinstance(s, ast.Expr) and "store" in ast.unparse(s)) or ast.unparse(s) == text
        ]  # type: ignore[attr-defined]
        yield _swept(new)
    yield from [] if ast.unparse(swept := _swept(copy.deepcopy(tree))) == ast.unparse(tree) else [swept]


def _swept(tree: ast.Module) -> ast.Module:
    """Without assignments of the kernel that nothing reads."""
    body = tree.body[-1].body  # type: ignore[attr-defined]
    while True:
        read = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        unread = [
            s for s in body if isinstance(s, ast.Assign) and "atomic" not in ast.unparse(s) and not read & _stored(s)
        ]
        unread += [s for s in body if isinstance(s, ast.Expr) and "static_assert" in ast.unparse(s)]
        if not unread or len(unread) == len(body):
            return tree
        body[:] = [s for s in body if s not in unread]


def _stored(s: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


class _Replace(ast.NodeTransformer):
    """Replaces expression number `at` by one of its operands."""

    def __init__(self, at: int, which: int) -> None:
        self.at, self.which, self.count = at, which, -1
        self.done = False

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.BinOp, ast.Call, ast.Compare, ast.UnaryOp, ast.Subscript, ast.IfExp)):
            self.count += 1
            if self.count == self.at:
                parts = [
                    c
                    for c in ast.iter_child_nodes(node)
                    if isinstance(c, ast.expr) and not isinstance(c, ast.Attribute)
                ]
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    parts.append(node.func.value)
                if self.which < len(parts):
                    self.done = True
                    return parts[self.which]
                return node
        return self.generic_visit(node)


def _simpler(tree: ast.Module) -> Iterator[ast.Module]:
    """An expression replaced by one of its operands."""
    kinds = ast.BinOp, ast.Call, ast.Compare, ast.UnaryOp, ast.Subscript, ast.IfExp
    count = sum(isinstance(n, kinds) for n in ast.walk(tree))
    for at in range(count):
        for which in range(2):
            new = copy.deepcopy(tree)
            change = _Replace(at, which)
            new = change.visit(new)
            if change.done:
                yield ast.fix_missing_locations(new)


def _without_keywords(tree: ast.Module) -> Iterator[ast.Module]:
    """A call without one of its keywords."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    for k, call in enumerate(calls):
        for i in range(len(call.keywords)):
            new = copy.deepcopy(tree)
            del [n for n in ast.walk(new) if isinstance(n, ast.Call)][k].keywords[i]
            yield new


def _inlined(tree: ast.Module) -> Iterator[ast.Module]:
    """A name replaced by what was assigned to it once."""
    body = tree.body[-1].body  # type: ignore[attr-defined]
    for i, s in enumerate(body):
        if not (isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and isinstance(s.value, ast.Name)):
            continue
        new = copy.deepcopy(tree)
        name, value = s.targets[0].id, s.value.id
        for n in ast.walk(new):
            if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load):
                n.id = value
        del new.body[-1].body[i]  # type: ignore[attr-defined]
        yield new


def _smaller(tree: ast.Module) -> Iterator[ast.Module]:
    """A size halved wherever it stands, alone or with its multiples."""
    numbers = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int and n.value > 1}
    for d in sorted((n for n in numbers if n & (n - 1) == 0), reverse=True):
        for multiples in (False, True):
            new = copy.deepcopy(tree)
            for n in ast.walk(new):
                if isinstance(n, ast.Constant) and type(n.value) is int and n.value > 1:
                    if n.value == d or (multiples and n.value > d and n.value % d == 0):
                        n.value //= 2
            yield new


TREES: list[Callable[[ast.Module], Iterator[ast.Module]]] = [
    _only_stores,
    _dropped,
    flattened,
    inlined_calls,
    shortened,
    _simpler,
    _inlined,
    _without_keywords,
    _smaller,
]


def _launches(case: Case) -> Iterator[Case]:
    """The same kernel, launched in a plainer way."""
    for name in list(case.options):
        yield replace(case, options={k: v for k, v in case.options.items() if k != name})
    if case.grid != (1,):
        yield replace(case, grid=(1,))
    for name, value in case.scalars.items():
        if value != 5:
            yield replace(case, scalars={**case.scalars, name: 5})


def _with_tree(case: Case, tree: ast.Module) -> Case:
    """A case with another text, whose parameters are those that are still used."""
    kernel = without_unused(tree).body[-1]
    assert isinstance(kernel, ast.FunctionDef)
    used = {n.id for n in ast.walk(kernel) if isinstance(n, ast.Name)}
    kernel.args.args = [a for a in kernel.args.args if a.arg in used]
    names = {a.arg for a in kernel.args.args}
    return replace(
        case,
        text=ast.unparse(tree),
        outputs={k: v for k, v in case.outputs.items() if k in names},
        scalars={k: v for k, v in case.scalars.items() if k in names},
        tolerances={k: v for k, v in case.tolerances.items() if k in names},
    )


def reduced(case: Case, targets: Sequence[str], seconds: float = SECONDS) -> Case:
    """The smallest case found that fails as this one does (itself where it does not fail)."""
    deadline = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wanted = failure_of(case, targets, folder)
        if wanted is None:
            return case
        patience = 5 if wanted != "late" else 10
        changed = True
        while changed:
            changed = False
            for step in [_launches, *TREES]:
                again = True
                while again and time.monotonic() < deadline:
                    again = _try(case, step, targets, folder, wanted, patience, deadline)
                    if again:
                        case, changed = again, True
    return case


def _try(case, step, targets, folder, wanted, patience, deadline) -> Case | None:
    """The first candidate of a step that fails as wanted."""
    candidates = step(case) if step is _launches else (_with_tree(case, t) for t in step(ast.parse(case.text)))
    for candidate in candidates:
        if time.monotonic() > deadline:
            return None
        if candidate.text == case.text and step is not _launches:
            continue
        if failure_of(candidate, targets, folder, patience) == wanted:
            return candidate
    return None


def reproducer(failure: dict, targets: Sequence[str], wishes: Wishes = ANY) -> str:
    """A pytest file with the program of a failure, cut down where it fails in this process, too."""
    case = generate(failure["seed"], wishes)
    if failure["error"] != "Died":
        case = reduced(case, targets)
    first = failure["message"].splitlines()[0] if failure["message"] else ""
    arguments = [
        f"grid={case.grid}",
        f"scalars={case.scalars}",
        f"outputs={case.outputs}",
        f"tolerances={case.tolerances}",
    ]
    arguments += [f"seed={case.seed}", f"targets={tuple(targets)!r}", *(f"{k}={v!r}" for k, v in case.options.items())]
    body = case.text.removeprefix(HEAD)
    library = "from tritium.language.extra import libdevice\n" if "libdevice." in body else ""
    return (
        f'"""{failure["error"]}: {first[:100]}"""\n\nimport tritium\nimport tritium.language as tl\n'
        f"from tests.fuzz.kernels.compare import check\n{library}\n{body}\n\n\n"
        f"def test_seed_{case.seed}():\n    check(kernel, {', '.join(arguments)})\n"
    )
