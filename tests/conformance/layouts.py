"""How many conversions between layouts are left, beside Triton: our passes of the `ttgir` stage and Triton's on one text.

    TRITIUM_TEST_TRITON=… python -m tests.conformance.layouts [--targets 80,90] [--record] [--compile] [FOLDER]

FOLDER holds `*.ttir.mlir` texts (default: those that Triton made of our examples). Each goes through our table of
passes and through Triton's, in the same order and without those that we do not have yet. Counted is what moves tensors
between threads: conversions, and buffers that are filled from registers; their bytes, an access in a loop counting ten
times. `--record` writes what Triton leaves to conversions.json, which the tests hold us to without Triton; with
`--compile` Triton makes machine code of what we leave.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import tritium.conversion  # noqa: F401  (the passes that are named below)
import tritium.dialects.all
import tritium.transforms  # noqa: F401
from tests.triton_oracle import TritonError, TritonOracle, find_interpreter
from tritium.hardware.nvidia import nvidia_gpu
from tritium.ir import PASSES, LoopLike, Operation, Pass, parse_module, print_op, run_pipeline, verify
from tritium.transforms.ttgir.pipelines import nvidia_ttgir_pipeline

__all__ = ["RECORD", "TEXTS", "Moved", "Row", "moved", "our_text", "rows", "texts", "their_text"]

TEXTS = Path(__file__).parents[1] / "corpus" / "triton-3.9"
RECORD = Path(__file__).parent / "conversions.json"
WARPS = 4


@dataclass(frozen=True)
class Moved:
    """What moves between threads: how many tensors, and how many bytes, ten times for each loop around."""

    tensors: int
    size: int

    def __str__(self) -> str:
        return f"{self.tensors} ({self.size / 1024:.0f} KiB)"


@dataclass
class Row:
    """One text for one target. `problem`: why there is nothing to compare."""

    name: str
    capability: int
    ours: Moved | None = None
    theirs: Moved | None = None
    problem: str = ""
    compiled: str = ""

    @property
    def fine(self) -> bool:
        """Whether we leave no more than Triton."""
        if self.ours is None or self.theirs is None:
            return False
        return self.ours.tensors <= self.theirs.tensors and self.ours.size <= self.theirs.size


def texts(folder: Path = TEXTS) -> list[Path]:
    """The texts of kernels for NVIDIA's GPUs, one of each."""
    return sorted(p for p in folder.glob("*.sm90.ttir.mlir"))


def moved(module: Operation) -> Moved:
    """What a program moves between threads."""
    tensors = size = 0
    for op in module.walk():
        if op.name == "ttg.convert_layout" or (op.name == "ttg.local_alloc" and op.operands):
            ty: Any = op.operands[0].type
            around, times = op.parent_op, 1
            while around is not None:
                times *= 10 if isinstance(around, LoopLike) else 1
                around = around.parent_op
            tensors += 1
            size += times * prod(ty.shape) * getattr(ty.element, "width", 64) // 8
    return Moved(tensors, size)


def our_text(text: str, capability: int) -> str:
    """A `ttir` text after our passes."""
    module = parse_module(text)
    convert: Any = PASSES.lookup("convert-triton-to-tritongpu").fn
    options = convert.options_type(target=f"cuda:{capability}", num_warps=WARPS)
    rows: list[Any] = [PASSES.lookup("rewrite-tensor-descriptor-to-pointer").row()]
    rows.append(PASSES.lookup("decompose-scaled-dot").row())
    rows.append(Pass("convert-triton-to-tritongpu", convert, "", options))
    run_pipeline(module, [*rows, *nvidia_ttgir_pipeline(nvidia_gpu(capability))], verifier=verify)
    return print_op(module)


def their_text(text: str, capability: int, oracle: TritonOracle) -> str:
    """The same text after Triton's passes of those names."""
    loops = ["canonicalizer", "triton_licm", "canonicalizer", "combine_tensor_select_and_if"]
    names: list[Any] = [
        "rewrite_tensor_descriptor_to_pointer",
        ["convert_to_ttgpuir", f"cuda:{capability}", WARPS, 32, 1],
        "coalesce",
        ["f32_dot_tc", capability >= 80],
        "remove_layout_conversions",
        "optimize_thread_locality",
        "accelerate_matmul",
        "remove_layout_conversions",
        ["optimize_dot_operands", capability >= 80],
        "loop_aware_cse",
        *(loops if capability >= 80 else ["triton_licm"]),
        "canonicalizer",
        "loop_aware_cse",
        *(["prefetch"] if 80 <= capability < 90 else []),
        ["optimize_dot_operands", capability >= 80],
        "remove_layout_conversions",
        "reduce_data_duplication",
        "reorder_instructions",
        "loop_aware_cse",
        "symbol_dce",
        "sccp",
        "cse",
        "canonicalizer",
    ]
    return oracle.run_passes(text, names)


def rows(folder: Path, capabilities: list[int], oracle: TritonOracle, compiling: bool = False) -> Iterator[Row]:
    """Every text for every target."""
    for path in texts(folder):
        for capability in capabilities:
            row = Row(path.name.removesuffix(".sm90.ttir.mlir"), capability)
            text = path.read_text()
            try:
                ours = our_text(text, capability)
                row.ours = moved(parse_module(ours))
                oracle.read(ours)
                row.theirs = moved(parse_module(their_text(text, capability, oracle)))
                if compiling:
                    oracle.compile_text(ours, f"cuda:{capability}", kind="ttgir", num_warps=WARPS)
                    row.compiled = ", ".join(f"{k} {v}" for k, v in oracle.resources.items())
            except TritonError as error:
                row.problem = next((line for line in str(error).splitlines() if "error" in line), str(error))[:200]
            yield row


def table(found: list[Row]) -> str:
    """Markdown."""
    lines = ["| kernel | target | ours | Triton's | |", "|---|---|---:|---:|---|"]
    for row in found:
        note = row.problem or row.compiled or ("" if row.fine else "more")
        lines.append(f"| {row.name} | sm_{row.capability} | {row.ours} | {row.theirs} | {note} |")
    return "\n".join(lines)


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=TEXTS)
    parser.add_argument("--targets", default="80")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--compile", action="store_true", dest="compiling")
    args = parser.parse_args()
    interpreter = find_interpreter()
    if interpreter is None:
        raise SystemExit("TRITIUM_TEST_TRITON must name an interpreter that has Triton 3.9")
    oracle = TritonOracle(interpreter)
    try:
        found = list(rows(args.folder, [int(c) for c in args.targets.split(",")], oracle, args.compiling))
    finally:
        oracle.close()
    print(table(found))
    if args.record:
        # Products with scales are decomposed into other types here than there: nothing to compare.
        kept = [r for r in found if r.theirs is not None and "block_scaled" not in r.name]
        known = {f"{r.name} sm_{r.capability}": [r.theirs.tensors, r.theirs.size] for r in kept if r.theirs}
        RECORD.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
