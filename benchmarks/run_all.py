"""The table of CPU figures, measured here: every script in its own process, one after another.

python benchmarks/run_all.py            print the table
python benchmarks/run_all.py --write    and put it into docs/performance.md, between its markers
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from measure import ROOT, Row, show

SCRIPTS = ("first_result", "launch", "elementwise", "rows", "matmul_f32")
MARKERS = ("<!-- figures: benchmarks/run_all.py --write -->", "<!-- end of figures -->")


def run(script: str) -> list[Row]:
    """The rows of one script; a row that says so where it failed."""
    command = [sys.executable, str(Path(__file__).with_name(f"{script}.py")), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return [Row(f"{script}.py failed", float("nan"), "s", 0.0, done.stderr.strip().splitlines()[-1][:120])]
    return [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]


def processor() -> str:
    """The processor's name, as the system gives it."""
    try:
        return re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())[1]
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


def heading() -> str:
    """What the figures were measured on."""
    versions = [f"Python {platform.python_version()}"]
    for name in ("torch", "numpy", "numba", "llvmlite"):
        probe = f"from importlib.metadata import version; print(version('{name}'))"
        done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
        if done.returncode == 0:
            versions.append(f"{name} {done.stdout.strip()}")
    return f"{processor()}, {os.cpu_count()} cores; {', '.join(versions)}. Medians."


def main() -> int:
    rows = []
    for script in SCRIPTS:
        print(f"{script} ...", file=sys.stderr, flush=True)
        rows += run(script)
    table = f"{heading()}\n\n{show(rows)}"
    print(table)
    if "--write" in sys.argv:
        page = ROOT / "docs" / "performance.md"
        before, rest = page.read_text().split(MARKERS[0])
        after = rest.split(MARKERS[1])[1]
        page.write_text(f"{before}{MARKERS[0]}\n{table}\n{MARKERS[1]}{after}")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
