"""`make check`: everything about the sources that is not a test. Runs all of it, then says what failed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

PAGES = sorted(path.name for path in ROOT.glob("*.md"))

#: name -> command. Every line is run; the exit status is that of the worst.
CHECKS: dict[str, list[str]] = {
    "format": [str(BIN / "ruff"), "format", "--check", "."],
    "lint": [str(BIN / "ruff"), "check", "."],
    "types": [str(BIN / "mypy")],
    "import contract": [str(BIN / "lint-imports"), "--no-cache"],
    "structure": [sys.executable, "scripts/structure.py"],
    "spelling": [
        str(BIN / "codespell"),
        "tritium",
        "explorer/src",
        "docs",
        "scripts",
        "examples",
        "benchmarks",
        "changes",
        *PAGES,
    ],
    "ratchets": [sys.executable, "scripts/ratchets.py"],
    "budgets": [sys.executable, "benchmarks/ir_core.py", "--gate"],
}


def run(name: str, command: list[str]) -> bool:
    """Run one check, print its verdict, and its output where it failed. Returns whether it passed."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    verdict = "ok" if done.returncode == 0 else "FAILED"
    print(f"{name:<16} {verdict:<7} {time.perf_counter() - start:5.1f} s", flush=True)
    if done.returncode != 0:
        print(done.stdout + done.stderr, flush=True)
    return done.returncode == 0


def main() -> int:
    chosen = sys.argv[1:] or list(CHECKS)
    unknown = [name for name in chosen if name not in CHECKS]
    if unknown:
        print(f"no such check: {', '.join(unknown)}; there are: {', '.join(CHECKS)}")
        return 2
    failed = [name for name in chosen if not run(name, CHECKS[name])]
    print(f"failed: {', '.join(failed)}" if failed else "all checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
