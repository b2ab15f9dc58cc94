"""Compare the code that the compiler generates with a recorded set: the check of a change that must not change any.

    python -m scripts.generated_code record FILE [--tutorials CHECKOUT] [--only TEXT]
    python -m scripts.generated_code check FILE [--tutorials CHECKOUT] [--only TEXT] [--keep FOLDER]

Compiles each kernel of examples/ for sm_80, sm_90 (PTX) and a CPU with AVX2 (assembly), and with `--tutorials` those of
Triton's published tutorials, in the configuration that a tutorial launches first. `record` writes a hash per kernel and
target to FILE; `check` compiles them again and exits with 1 where one differs, is missing or is new, naming it.
`--keep` writes the texts to a folder, to be compared by `diff`. Needs no GPU and no ptxas. Debug information is left
out: lines of the compiled sources may move. A set is valid for the version of LLVM that it names.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from llvmlite import binding

from tests.conformance.tutorial_registers import configurations, examples
from tests.conformance.tutorials import source_of
from tests.example_kernels import load
from tritium.backends.errors import BackendError
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.support import TritiumError, settings

__all__ = ["compiled", "differences", "main", "work"]

GPUS = (80, 90)
CPU = "x86-64-v3"
_DEBUG_LINES = re.compile(r"^\s*(\.loc|\.file|\.section\s+\.debug|//).*\n", re.MULTILINE)


def work(tutorials: Path | None, only: str) -> list[tuple[str, int, str]]:
    """What is compiled: whether it is an example or a tutorial, its number there, and `kernel configuration target`."""
    out = []
    for i, example in enumerate(examples()):
        label = f"example {example.name} {example.options.get('num_warps', 4)} warps"
        out += [("example", i, f"{label} sm_{gpu}") for gpu in GPUS if gpu >= example.capability]
        if example.capability < 100:
            out.append(("example", i, f"{label} cpu"))
    for i, one in enumerate(configurations() if tutorials else ()):
        if one.first:
            out += [("tutorial", i, f"tutorial {one.case.name} {one.label} sm_{gpu}") for gpu in GPUS if one.fits(gpu)]
    return [row for row in out if only in row[2]]


def compiled(row: tuple[str, int, str], tutorials: Path | None) -> tuple[str, str]:
    """A row of `work` and its code; a refused kernel's is the first line of the error."""
    kind, index, name = row
    with tempfile.TemporaryDirectory() as folder, settings.cache.scope(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings.cache.dir = folder
        if kind == "example":
            case = examples()[index]
            source: Any = ASTSource(
                getattr(load(case.example), case.kernel), case.signature, case.constants, case.attrs
            )
            options = case.options
        else:
            one = configurations()[index]
            assert tutorials is not None
            source, _, _ = source_of(one.case, tutorials, Path(folder))
            options = one.case.options
        target, stage = ("cpu", "asm") if name.endswith("cpu") else (name[-2:], "ptx")
        try:
            if target == "cpu":
                text = compile(source, target=GPUTarget("cpu", CPU, 1), options=options).asm[stage]
            else:
                text = compile(source, target=GPUTarget("cuda", int(target), 32), options=options, until=stage).asm[
                    stage
                ]
        except (TritiumError, BackendError) as error:
            text = f"error: {str(error).strip().splitlines()[0]}"
    return name, _DEBUG_LINES.sub("", str(text))


def _texts(chosen: argparse.Namespace) -> Iterator[tuple[str, str]]:
    rows = work(chosen.tutorials, chosen.only)
    if chosen.jobs == 1:
        yield from (compiled(row, chosen.tutorials) for row in rows)
        return
    with ProcessPoolExecutor(chosen.jobs) as pool:
        yield from pool.map(partial(compiled, tutorials=chosen.tutorials), rows)


def differences(recorded: dict[str, str], found: dict[str, str]) -> list[str]:
    """A line for each kernel whose code is not as recorded."""
    out = [f"differs: {name}" for name, digest in found.items() if recorded.get(name, digest) != digest]
    out += [f"not recorded: {name}" for name in found if name not in recorded]
    return out + [f"no longer compiled: {name}" for name in recorded if name not in found]


def _llvm() -> str:
    return f"LLVM {'.'.join(map(str, binding.llvm_version_info))}"


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 where code differs from the recorded set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "check"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--tutorials", type=Path, help="a checkout of Triton, whose python/tutorials are compiled, too")
    parser.add_argument("--only", default="", help="rows that contain this text")
    parser.add_argument("--keep", type=Path, help="a folder for the texts")
    parser.add_argument("--jobs", type=int, default=1, help="processes that compile")
    chosen = parser.parse_args(arguments)
    found: dict[str, str] = {}
    for name, text in _texts(chosen):
        found[name] = hashlib.sha256(text.encode()).hexdigest()
        print(f"\r{len(found)} {name:<100.100}", end="", file=sys.stderr, flush=True)
        if chosen.keep:
            chosen.keep.mkdir(parents=True, exist_ok=True)
            (chosen.keep / f"{name.replace(' ', '_').replace('/', '_')}.s").write_text(text)
    print(file=sys.stderr)
    if chosen.action == "record":
        chosen.file.write_text(json.dumps({"llvm": _llvm(), "code": found}, indent=1) + "\n")
        print(f"recorded {len(found)} kernels ({_llvm()})")
        return 0
    recorded = json.loads(chosen.file.read_text())
    if recorded["llvm"] != _llvm():
        print(f"recorded with {recorded['llvm']}, this is {_llvm()}: the sets cannot be compared")
        return 2
    code = {name: digest for name, digest in recorded["code"].items() if chosen.only in name}
    if not chosen.tutorials:
        code = {name: digest for name, digest in code.items() if not name.startswith("tutorial")}
    lines = differences(code, found)
    print("\n".join(lines) or f"all {len(found)} kernels are as recorded")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
