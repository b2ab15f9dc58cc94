"""Kernels of public repositories, unchanged, on this compiler: `python -m tritium run` on a driver for each project.

    python -m tests.conformance.third_party liger=CHECKOUT attorch=CHECKOUT ... [--folder F] [--device cuda] [--jobs N]

NAME=CHECKOUT gives the folder of a project's sources; `--folder F` finds all that lie in F under the names in PROJECTS.
None of their code is here: drivers (`tests/conformance/wild`) import it from there, call what users call, and compare
results and gradients with torch in float64. A row is a case of a driver; a driver that dies
says in which. The exit status is 1 where a case fails that is not in KNOWN, or one of KNOWN passes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

__all__ = ["KNOWN", "PROJECTS", "Row", "cases_of", "found_in", "main", "run_project", "table"]

DRIVERS = Path(__file__).with_name("wild")
ROOT = Path(__file__).resolve().parents[2]

# driver -> the folder that a clone makes
PROJECTS = {
    "liger": "Liger-Kernel",
    "attorch": "attorch",
    "mamba": "mamba",
    "flash_attention": "flash-attention",
    "bnb": "bitsandbytes",
    "unsloth": "unsloth",
    "fla": "flash-linear-attention",
    "lightllm": "lightllm",
    "xformers": "xformers",
    "ao": "ao",
    "flaggems": "FlagGems",
    "kernl": "kernl",
    "gptq": "GPTQ-triton",
    "sageattention": "SageAttention",
    "flag_attention": "FlagAttention",
    "cross_entropy": "ml-cross-entropy",
    "conch": "conch",
    "sglang": "sglang",
    "vllm": "vllm",
    "deepseek": "DeepSeek-V3",
    "native_sparse_attention": "native-sparse-attention-triton",
    "stk": "stk",
}

# "project.case" -> why it cannot pass, where the cause is not ours
KNOWN: dict[str, str] = {}


@dataclass(frozen=True)
class Row:
    """A case of a project: its result in words ("passed", or the error), and how long it took."""

    project: str
    case: str
    passed: bool
    error: str
    seconds: float

    @property
    def name(self) -> str:
        """`liger.geglu`."""
        return f"{self.project}.{self.case}"


def found_in(folder: Path) -> dict[str, Path]:
    """Projects whose checkout lies in `folder`."""
    return {name: folder / clone for name, clone in PROJECTS.items() if (folder / clone).is_dir()}


def _start(project: str, checkout: Path, device: str, cases: list[str]) -> subprocess.Popen[str]:
    site = checkout.parent / "site"
    environment = {
        **os.environ,
        "THIRD_PARTY_ROOT": str(checkout),
        "THIRD_PARTY_DEVICE": device,
        "THIRD_PARTY_SITE": str(site) if site.is_dir() else "",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", "")))),
    }
    command = [sys.executable, "-W", "ignore", "-m", "tritium", "run", str(DRIVERS / f"{project}.py"), *cases]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
    )


def cases_of(project: str) -> list[str]:
    """The names of a driver's cases, in order."""
    return re.findall(r"^@case\ndef (\w+)", (DRIVERS / f"{project}.py").read_text(), re.MULTILINE)


def run_project(
    project: str, checkout: Path, device: str = "cpu", cases: list[str] | None = None, limit: float = 1800
) -> list[Row]:
    """The rows of one driver; one named "import" where it cannot begin, one for a case in which it died.

    It is ended after `limit` seconds, which the row of the case that was running says.
    """
    rows: list[Row] = []
    process = _start(project, checkout, device, cases or [])
    timer = threading.Timer(limit, process.kill)
    timer.start()
    running, began, tail = "import", time.perf_counter(), ""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("BEGIN "):
            running, began = line.split()[1], time.perf_counter()
        elif line.startswith("END "):
            row = json.loads(line[4:])
            rows.append(Row(project, row["case"], row["ok"], row.get("error", ""), row["seconds"]))
            print(f"{rows[-1].name}: {rows[-1].error or 'passed'}", file=sys.stderr, flush=True)
            running = ""
        else:
            tail = line.strip() or tail
    timer.cancel()
    if process.wait() and running:
        seconds = round(time.perf_counter() - began, 2)
        rows.append(Row(project, running, False, f"exit status {process.returncode}: {tail}", seconds))
    return rows


def table(rows: list[Row]) -> str:
    """A line a case, a line with sums."""
    lines = [f"{'case':<52} {'seconds':>8}  result"]
    for row in rows:
        said = "passed" if row.passed else row.error
        known = f"  (known: {KNOWN[row.name]})" if row.name in KNOWN else ""
        lines.append(f"{row.name:<52} {row.seconds:>8.1f}  {said}{known}")
    passed = sum(row.passed for row in rows)
    lines.append(f"{passed} of {len(rows)} cases of {len({row.project for row in rows})} projects passed")
    return "\n".join(lines)


def _arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.third_party")
    parser.add_argument("projects", nargs="*", metavar="NAME=CHECKOUT", help=f"NAME is one of {', '.join(PROJECTS)}")
    parser.add_argument("--folder", type=Path, help="a folder with checkouts, under the names that clones get")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--only", default="", help="projects, comma between them")
    parser.add_argument("--jobs", type=int, default=1, help="processes that run at the same time")
    parser.add_argument("--parts", type=int, default=1, help="processes that share the cases of a project")
    parser.add_argument("--limit", type=float, default=1800, help="seconds for a project")
    parser.add_argument("--json", type=Path, help="write the rows there, too")
    arguments = parser.parse_args(given)
    chosen = found_in(arguments.folder) if arguments.folder else {}
    for item in arguments.projects:
        name, _, path = item.partition("=")
        if name not in PROJECTS or not Path(path or "?").is_dir():
            parser.error(f"{item}: NAME=CHECKOUT wants a project of ours and a folder")
        chosen[name] = Path(path)
    if not chosen:
        parser.error("no project: give NAME=CHECKOUT, or --folder with checkouts under the names that clones get")
    arguments.projects = chosen
    return arguments


def main(given: list[str] | None = None) -> int:
    """Run what is asked for, print the table; 1 where something unexpected happened."""
    arguments = _arguments(given)
    chosen = arguments.projects
    wanted = set(arguments.only.split(",")) if arguments.only else set(chosen)
    work = [
        (name, checkout.resolve(), arguments.device, part, arguments.limit)
        for name, checkout in chosen.items()
        if name in wanted
        for part in (cases_of(name)[first :: arguments.parts] for first in range(arguments.parts))
        if part
    ]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        parts = pool.map(lambda item: run_project(*item), work)
        rows = [row for part in parts for row in part]
    print(table(rows))
    if arguments.json:
        arguments.json.write_text(json.dumps([vars(row) for row in rows], indent=1))
    return int(not rows or any(row.passed == (row.name in KNOWN) for row in rows))


if __name__ == "__main__":
    sys.exit(main())
