"""python -m scripts.works: run tests and record which names of the language they show, in scripts/works/shown.json.

python -m scripts.works tests/e2e/cpu tests/interpreter      these tests
python -m scripts.works --emulated                           on the emulated GPU, what has been shown on CPUs only
python -m scripts.works --from FILE                          what a run elsewhere recorded (`--record-shown=FILE`)
python -m scripts.works --missing                            what has neither a test nor a reason
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .evidence import ROOT, exists, merge, read, write
from .gaps import gaps
from .names import all_names


def record(tests: Sequence[str]) -> int:
    """Run tests with the recorder and merge what they show; pytest's status."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "shown.json")
        command = ["-m", "pytest", "-q", "-n0", "-p", "scripts.works.recorder", f"--record-shown={file}", *tests]
        status = subprocess.run([sys.executable, *command], cwd=ROOT).returncode
        if file.exists():
            take(file)
    return status


def take(file: Path) -> None:
    """Merge a recorder's file."""
    write(merge(read(), json.loads(file.read_text()), all_names()))


def on_the_emulator() -> list[str]:
    """Tests of tests/gpu that are those of the CPU for names without a test on a GPU."""
    found = set()
    for shown in read().values():
        if "cpu" in shown and not {"emulated", "hardware"} & shown.keys():
            test = shown["cpu"].replace("tests/e2e/cpu/", "tests/gpu/")
            if test != shown["cpu"] and exists(test):
                found.add(test)
    return sorted(found)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", help="arguments for pytest")
    parser.add_argument("--emulated", action="store_true", help="run on the emulated GPU what it has not shown")
    parser.add_argument("--from", dest="file", type=Path, help="a file that a recorder wrote")
    parser.add_argument("--missing", action="store_true", help="list what has neither a test nor a reason")
    options = parser.parse_args()
    if options.missing:
        print("\n".join(gaps(read())))
        return 0
    if options.file:
        take(options.file)
        return 0
    return record(["--slow", *on_the_emulator()] if options.emulated else options.tests)


if __name__ == "__main__":
    sys.exit(main())
