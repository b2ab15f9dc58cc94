"""Kernels that a program would launch on an H100, recorded on a machine without one; their registers beside Triton's.

    python -m tests.conformance.recorded record FILE SCRIPT [ARGUMENT ...]
    python -m tests.conformance.recorded compare FILE [FILE ...] [--only TEXT]

`record` runs a script with `import triton` answered by Tritium, on an emulated sm_90 whose launches run nothing: what is
compiled for them goes to FILE, a line of JSON each, with options and TTIR. Scripts that look at results may fail of it.
Drivers of public projects (`wild`, with THIRD_PARTY_ROOT set) are such scripts. `compare` has what Triton 3.9 makes of the
same TTIR, where `tests/triton_oracle.py` finds it, assembled by our `ptxas`. Rows that end in `*` are those in which we
need more: a fifth more spilled, a tenth more shared memory, or a fifth more registers.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import tritium
from tests.conformance.tutorial_registers import PTX, Usage, ours, triton_usage
from tests.triton_oracle import TritonOracle, find_interpreter
from tritium.compiler import CompiledKernel
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.runtime.emulated_driver import EmulatedLauncher

__all__ = ["Recorder", "compare", "main", "record"]

CHIP = 90
OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


class _Nothing(EmulatedLauncher):
    """A launcher that runs nothing."""

    def __call__(self, grid: Any, args: Sequence[Any], stream: Any = None) -> None:
        """Nothing."""


class Recorder(EmulatedCUDADriver):
    """An emulated GPU that writes what it would run into a file, each kernel once."""

    def __init__(self, file: Path) -> None:
        super().__init__(CHIP)
        self.file = file
        self.seen: set[tuple[Any, ...]] = set()

    def launcher(self, kernel: CompiledKernel) -> Any:
        """What runs nothing; the kernel is written."""
        options = {name: getattr(kernel.metadata, name, None) for name in OPTIONS}
        row = {"name": kernel.name, "options": options, "ttir": kernel.asm["ttir"]}
        if (key := (row["ttir"], *options.values())) not in self.seen:
            self.seen.add(key)
            with self.file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")
        return _Nothing(self, kernel)


def record(file: Path, script: str, arguments: Sequence[str]) -> int:
    """Run a script whose launches are recorded; how many kernels that were."""
    tritium.install()
    recorder = Recorder(file)
    driver.set_active(recorder)
    before = sys.argv, list(sys.path)
    sys.argv, sys.path[:] = [script, *arguments], [os.path.dirname(os.path.abspath(script)), *sys.path]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit:
        pass
    finally:
        sys.argv, sys.path[:] = before
        driver.reset_active()
    return len(recorder.seen)


def compare(rows: Iterable[dict[str, Any]], oracle: TritonOracle | None) -> Iterator[tuple[str, Usage, Usage | None]]:
    """What each recorded kernel needs here, and in Triton."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.ttir")
        for row in rows:
            options = {name: value for name, value in row["options"].items() if value is not None}
            path.write_text(row["ttir"])
            here = ours(str(path), CHIP, options)
            yield f"{row['name']} {options}", here, _theirs(oracle, row["ttir"], options)


def _theirs(oracle: TritonOracle | None, ttir: str, options: dict[str, Any]) -> Usage | None:
    if oracle is None:
        return None
    return triton_usage(
        oracle,
        lambda: oracle.compile_text(ttir, f"cuda:{CHIP}", "ttir", ptx_version=PTX, **options),
        CHIP,
        options["num_warps"],
    )


def needs_more(here: Usage, theirs: Usage | None) -> bool:
    """Whether a kernel needs clearly more here."""
    if theirs is None or theirs.error:
        return False
    return bool(
        here.error
        or here.stores > 1.2 * theirs.stores + 16
        or here.shared > 1.1 * theirs.shared + 512
        or here.registers > 1.2 * theirs.registers + 8
    )


def main(words: Sequence[str] | None = None) -> int:
    """The command line; 1 where a kernel does not compile here, and does in Triton if that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("file", type=Path)
    recording.add_argument("script")
    recording.add_argument("arguments", nargs=argparse.REMAINDER)
    comparing = commands.add_parser("compare")
    comparing.add_argument("files", type=Path, nargs="+")
    comparing.add_argument("--only", default="", help="kernels with this text in their name")
    chosen = parser.parse_args(words)
    if chosen.command == "record":
        print(f"{record(chosen.file, chosen.script, chosen.arguments)} kernels recorded")
        return 0
    rows = [json.loads(line) for file in chosen.files for line in file.read_text(encoding="utf-8").splitlines()]
    interpreter = find_interpreter()
    oracle = TritonOracle(interpreter) if interpreter else None
    bad = more = 0
    print(f"{'ours: registers, spill stores, loads, stack, shared, warps':>60} | Triton: the same")
    for name, here, theirs in compare([row for row in rows if chosen.only in row["name"]], oracle):
        bad += bool(here.error and not (theirs and theirs.error))
        more += needs_more(here, theirs)
        print(f"{name}\n{here!s:>60} | {theirs or ''}{' *' * needs_more(here, theirs)}", flush=True)
    if oracle is not None:
        oracle.close()
    print(f"{len(rows)} kernels: {more} need more than with Triton, {bad} do not compile")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
