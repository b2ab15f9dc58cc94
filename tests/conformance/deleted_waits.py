"""Delete each wait and fence of the tutorials of Gluon in turn, and run what is left on an emulated H100.

    python -m tests.conformance.deleted_waits CHECKOUT [--only TEXT] [--verbose]

For each call of `NAMES` that a case of `gluon_tutorials` compiles, the case runs without it. Either the emulator reports an
error, with the line of the access that came too early; or the compiler refuses the kernel; or it makes the same code, since
it inserts the fence itself; or `UNAFFECTED` says why the kernel is still right. The exit status is 1 for anything else.
"""

from __future__ import annotations

import argparse
import ast
import linecache
import re
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance.gluon_tutorials import CASES, emulated, loaded
from tritium.emulator import EmulationError
from tritium.frontend.errors import CompilationError
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver

__all__ = ["NAMES", "UNAFFECTED", "Site", "kind_of", "main", "outcomes", "sites_of", "without"]

NAMES = frozenset(
    ("mbarrier.wait", "fence_async_shared", "warpgroup_mma_wait", "wait_group", "commit_group", "store_wait")
)
"""Functions whose calls are deleted, by the end of their names."""

UNAFFECTED = {
    ("08-warp-specialization", "compute_partition", "fence_async_shared", 0): (
        "orders reads that have returned their values with a later TMA load, which the mbarrier does"
    ),
    ("13-conv-im2col", "store_output_tile", "store_wait", 0): (
        "the kernel overwrites operands that a WGMMA reads, with and without it, which is reported first"
    ),
}
"""(tutorial, function, call, its index among those calls) -> why a kernel without it is right."""


class Site(NamedTuple):
    """A call in a source: its function, the lines of its statement, and what is left of that."""

    line: int
    end: int
    name: str
    function: str
    ordinal: int
    left: str


def sites_of(source: str) -> list[Site]:
    """The calls of `NAMES` that are statements, or the value of an assignment."""
    lines = source.splitlines()
    found: list[Site] = []
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        seen: Counter[str] = Counter()
        for node in sorted(ast.walk(function), key=lambda n: getattr(n, "lineno", 0)):
            if not isinstance(node, (ast.Expr, ast.Assign)) or not isinstance(node.value, ast.Call):
                continue
            full = ast.unparse(node.value.func)
            name = next((n for n in NAMES if full == n or full.endswith(f".{n}")), None)
            if name is None:
                continue
            left = "pass"
            if isinstance(node, ast.Assign):
                left = f"{ast.unparse(node.targets[0])} = {', '.join(_dependences(node.value))}"
            indent = lines[node.lineno - 1][: node.col_offset]
            assert node.end_lineno is not None
            found.append(Site(node.lineno, node.end_lineno, name, function.name, seen[name], indent + left))
            seen[name] += 1
    return sorted(found)


def _dependences(call: ast.Call) -> list[str]:
    """The values that a wait passes on."""
    deps = next((k.value for k in call.keywords if k.arg == "deps"), None) or call.args[-1]
    assert isinstance(deps, (ast.Tuple, ast.List))
    return [ast.unparse(value) for value in deps.elts]


def without(source: str, site: Site) -> str:
    """The source without a call; other lines keep their numbers."""
    lines = source.splitlines()
    lines[site.line - 1 : site.end] = [site.left, *[""] * (site.end - site.line)]
    return "\n".join(lines) + "\n"


class Recorder(EmulatedCUDADriver):
    """An emulated H100 that records the code of the kernels, and the lines of the source that it comes from."""

    def __init__(self) -> None:
        super().__init__(capability=90)
        self.lines: set[tuple[str, int]] = set()
        self.code: list[str] = []

    def emulate(self, kernel: Any, grid: Any, params: Any, memory: Any) -> Any:
        """Record, and emulate."""
        places = re.findall(r'loc\("([^"]+)":(\d+):', kernel.asm["ttgir"])
        self.lines.update((Path(file).name, int(line)) for file, line in places)
        ptx = re.sub(r"^\s*\.loc.*\n|^\s*//.*\n|\$L\w+|%\w+|//.*", "", kernel.asm["ptx"], flags=re.MULTILINE)
        self.code.append(re.sub(r"[ \t]+|^\s*\.(?:file|reg).*\n", " ", ptx, flags=re.MULTILINE))
        return super().emulate(kernel, grid, params, memory)


class Outcome(NamedTuple):
    """What a run led to: the error, and the code that ran."""

    error: Exception | None
    code: list[str]
    lines: set[tuple[str, int]]


def outcome_of(run: Callable[[], object]) -> Outcome:
    """Run on a new emulated H100."""
    linecache.clearcache()
    machine = Recorder()
    driver.set_active(machine)
    error = None
    try:
        run()
    except Exception as raised:
        error = raised
    finally:
        driver.reset_active()
    return Outcome(error, machine.code, machine.lines)


def kind_of(before: Outcome, after: Outcome) -> str:
    """`reported`, `refused`, `inserted` by the compiler, `as before`, `wrong` result, or `passes`."""
    if after.code and sorted(after.code) == sorted(before.code):
        return "inserted"
    if before.error is not None and _without_ptx(before.error) == _without_ptx(after.error):
        return "as before"
    if isinstance(after.error, EmulationError):
        return "reported" if after.error.instruction is not None and after.error.instruction.loc else "without a line"
    if isinstance(after.error, CompilationError):
        return "refused"
    return "passes" if after.error is None else "wrong"


def _without_ptx(error: Exception | None) -> str:
    """A message without the lines of PTX, which other code has elsewhere."""
    return "" if error is None else re.sub(r"^ *PTX line.*\n?", "", str(error), flags=re.MULTILINE)


def outcomes(checkout: Path, only: str) -> Iterator[tuple[str, str, Site, str, str]]:
    """(tutorial, case, site, kind, text of the error) of each call that a case compiles."""
    with tempfile.TemporaryDirectory() as folder, emulated(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copy = Path(folder)
        tutorials = copy / "python" / "tutorials" / "gluon"
        shutil.copytree(checkout / "python" / "tutorials" / "gluon", tutorials)
        for name, (tutorial, case) in CASES.items():
            if only not in f"{tutorial} {name}":
                continue
            path = tutorials / f"{tutorial}.py"
            source = path.read_text()
            before = outcome_of(lambda case=case, at=tutorial: case(loaded(copy, at)))  # type: ignore[misc]
            for site in sites_of(source):
                if (path.name, site.line) not in before.lines:
                    continue
                path.write_text(without(source, site))
                after = outcome_of(lambda case=case, at=tutorial: case(loaded(copy, at)))  # type: ignore[misc]
                yield tutorial, name, site, kind_of(before, after), str(after.error or "")
            path.write_text(source)


def main() -> int:
    """The command line; 1 where a deletion is neither reported, refused, made good, nor explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--only", default="", help="cases that contain this text")
    parser.add_argument("--verbose", action="store_true", help="the error of each deletion")
    chosen = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    failed = 0
    for tutorial, name, site, kind, text in outcomes(chosen.checkout, chosen.only):
        reason = UNAFFECTED.get((tutorial, site.function, site.name, site.ordinal))
        kind = "explained" if kind in ("passes", "as before") and reason else kind
        counts.setdefault(tutorial, Counter())[kind] += 1
        failed += kind not in ("reported", "refused", "inserted", "explained")
        print(f"{tutorial} {name}: {site.name} of line {site.line}: {kind}", flush=True)
        if chosen.verbose and text:
            print("    " + text.replace("\n", "\n    "))
    kinds = sorted(set().union(*counts.values()))
    print("tutorial", *kinds, sep=" | ")
    for tutorial, found in counts.items():
        print(tutorial, *(found[kind] for kind in kinds), sep=" | ")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
