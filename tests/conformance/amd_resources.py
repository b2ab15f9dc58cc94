"""Registers, LDS, scratch and instructions of kernels on AMD GPUs, beside those that Triton 3.9 makes of the same TTIR.

    python -m tests.conformance.amd_resources [--arch gfx942] [--only TEXT]

Kernels are those of the corpus that correspond to the tutorials 01 to 06, 08 and 09. A loop is an innermost one, of which that
with most matrix instructions counts (else the longest). Rows that end in `*` are those in which we need more: a tenth
more registers, LDS or instructions of the loop, or scratch where Triton has none. Triton is found by
`tests/triton_oracle.py`. No GPU is needed, and none is used: counts are static.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.triton_oracle import find_interpreter
from tritium.compiler import GPUTarget, compile

__all__ = ["KERNELS", "Resources", "main", "needs_more", "resources"]

CORPUS = Path(__file__).parents[1] / "corpus" / "triton-3.9"
KERNELS = {
    "01 vector add": "vector_add.add_kernel.sm90",
    "02 softmax": "fused_softmax.softmax_kernel.gfx942",
    "03 matmul fp16": "matmul.matmul_kernel.fp16-leaky_relu.gfx942",
    "03 matmul fp8e5": "matmul.matmul_kernel.fp8e5.sm90",
    "04 dropout": "low_memory_dropout.dropout.mask.sm90",
    "04 seeded dropout": "low_memory_dropout.seeded_dropout.seed.sm90",
    "05 layer norm": "layer_norm.layer_norm_fwd_fused.forward.sm90",
    "05 layer norm, dx": "layer_norm.layer_norm_bwd_dx_fused.backward_dx.sm90",
    "05 layer norm, dw and db": "layer_norm.layer_norm_bwd_dwdb.backward_dwdb.sm90",
    "06 attention": "attention.attention_forward.forward.gfx942",
    "06 attention, dk and dv": "attention.attention_backward_keys.backward_keys.sm90",
    "06 attention, dq": "attention.attention_backward_queries.backward_queries.sm90",
    "08 grouped matmul": "grouped_matmul.grouped_matmul_kernel.sm90",
    "09 persistent matmul": "persistent_matmul.matmul_persistent_kernel.pointers.gfx942",
}
"""Tutorial and kernel -> the TTIR of the corpus."""

TRITON = """
import json, sys
from triton.backends.compiler import GPUTarget
from triton.compiler import compile
arch = sys.argv[1]
for path in sys.stdin:
    try:
        kernel = compile(path.strip(), target=GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32))
        answer = {"amdgcn": kernel.asm["amdgcn"], "shared": kernel.metadata.shared}
    except Exception as error:
        answer = {"error": str(error).strip().splitlines()[-1:]}
    print("ANSWER " + json.dumps(answer), flush=True)
"""
_LABEL = re.compile(r"^(\.?\w+):")
_INSTRUCTION = re.compile(r"^\t([a-z]\w+)(?:\s+(\S+))?")
_MATRIX = re.compile(r"v_(?:mfma|wmma|smfmac)\w+")
TOLERANCE = 1.1


@dataclass(frozen=True)
class Resources:
    """Registers of a lane, bytes of LDS and scratch, matrix instructions by name, and instructions of the main loop."""

    vgprs: int
    lds: int
    scratch: int
    matrix: tuple[tuple[str, int], ...]
    loop: int


def _count(text: str, key: str) -> int:
    found = re.search(rf"\.{key}:\s+(\d+)", text)
    return int(found[1]) if found else 0


def resources(amdgcn: str, lds: int) -> Resources:
    """Of a kernel's assembly, with `lds` bytes of dynamic LDS."""
    matrix = Counter(re.sub(r"_e(?:32|64)$", "", name) for name in _MATRIX.findall(amdgcn))
    loops = list(_innermost_loops(amdgcn.splitlines()))
    main = max(loops, key=lambda names: (sum(map(bool, map(_MATRIX.match, names))), len(names)), default=[])
    return Resources(
        _count(amdgcn, "vgpr_count"),
        max(lds, _count(amdgcn, "group_segment_fixed_size")),
        _count(amdgcn, "private_segment_fixed_size"),
        tuple(sorted(matrix.items())),
        len(main),
    )


class _Block:
    """A basic block: instructions by name, and the blocks that may follow."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.next: set[int] = set()


def _blocks(lines: Sequence[str]) -> list[_Block]:
    """The basic blocks of a kernel's code in their order."""
    blocks, labels, targets = [_Block()], dict[str, int](), list[tuple[int, str]]()
    for line in lines:
        if label := _LABEL.match(line):
            if blocks[-1].names:
                _follow(blocks)
            labels[label[1]] = len(blocks) - 1
        elif found := _INSTRUCTION.match(line):
            blocks[-1].names.append(found[1])
            if found[1].startswith(("s_cbranch", "s_branch")):
                targets.append((len(blocks) - 1, found[2] or ""))
                _follow(blocks, found[1] != "s_branch")
            elif found[1] == "s_endpgm":
                _follow(blocks, False)
    for block, name in targets:
        if name in labels:
            blocks[block].next.add(labels[name])
    return blocks


def _follow(blocks: list[_Block], falls_through: bool = True) -> None:
    blocks.append(_Block())
    if falls_through:
        blocks[-2].next.add(len(blocks) - 1)


def _innermost_loops(lines: Sequence[str]) -> Iterator[list[str]]:
    """The instructions of natural loops that contain no other: of blocks from which a branch back to the header is
    reached, where the header dominates the branch."""
    blocks = _blocks(lines)
    everything = set(range(len(blocks)))
    before: list[set[int]] = [{p for p in everything if i in blocks[p].next} for i in range(len(blocks))]
    dominators = [{0}, *(set(everything) for _ in blocks[1:])]
    changed = True
    while changed:
        changed = False
        for i in range(1, len(blocks)):
            found = {i} | (set.intersection(*(dominators[p] for p in before[i])) if before[i] else set())
            changed |= found != dominators[i]
            dominators[i] = found
    bodies: dict[int, set[int]] = {}
    for i, block in enumerate(blocks):
        for header in block.next & dominators[i]:
            body, pending = bodies.setdefault(header, {header}), [i]
            while pending:
                if (at := pending.pop()) not in body:
                    body.add(at)
                    pending += before[at]
    for header, body in bodies.items():
        if not any(other in body for other in bodies if other != header):
            yield [name for i in sorted(body) for name in blocks[i].names]


def needs_more(ours: Resources, triton: Resources) -> bool:
    """Whether we need a tenth more of something, or scratch where Triton needs none."""
    pairs = [(ours.vgprs, triton.vgprs), (ours.lds, triton.lds), (ours.loop, triton.loop)]
    return any(a > TOLERANCE * b for a, b in pairs) or (ours.scratch > 0 and triton.scratch == 0)


def _ours(path: Path, arch: str) -> Resources | str:
    try:
        kernel = compile(str(path), target=GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32))
    except Exception as error:
        return str(error).strip().splitlines()[0]
    return resources(kernel.asm["amdgcn"], kernel.metadata.shared)


def _triton(paths: Sequence[Path], arch: str) -> list[Resources | str]:
    interpreter = find_interpreter()
    if interpreter is None:
        raise SystemExit("Triton 3.9 is not found: set TRITIUM_TEST_TRITON to an interpreter that has it")
    done = subprocess.run(
        [interpreter, "-c", TRITON, arch],
        input="".join(f"{path}\n" for path in paths),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line[7:]) for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    return [str(a["error"]) if "error" in a else resources(a["amdgcn"], a["shared"]) for a in answers]


def _instructions(matrix: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{count} `{name}`" for name, count in matrix) or "none"


def _row(name: str, ours: Resources | str, triton: Resources | str) -> str:
    if isinstance(ours, str) or isinstance(triton, str):
        return f"| {name} | {ours if isinstance(ours, str) else ''} | {triton if isinstance(triton, str) else ''} |"
    cells = [f"{getattr(ours, key)} / {getattr(triton, key)}" for key in ("vgprs", "lds", "scratch", "loop")]
    same = [kind for kind, _ in ours.matrix] == [kind for kind, _ in triton.matrix]
    matrix = _instructions(ours.matrix)
    if ours.matrix != triton.matrix:
        matrix += f" / {_instructions(triton.matrix)}" + ("" if same else " (other instructions)")
    return f"| {name} | {' | '.join(cells)} | {matrix} |{' *' if needs_more(ours, triton) else ''}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="gfx942")
    parser.add_argument("--only", default="")
    args = parser.parse_args(arguments)
    chosen = {name: text for name, text in KERNELS.items() if args.only in name}
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for text in chosen.values():
            paths.append(Path(folder) / f"{text}.ttir")
            shutil.copy(CORPUS / f"{text}.ttir.mlir", paths[-1])
        theirs = _triton(paths, args.arch)
        print(
            f"| {args.arch}, ours / Triton's | VGPRs | LDS | scratch | instructions of the loop | matrix instructions |"
        )
        print("|---|---|---|---|---|---|")
        for name, path, other in zip(chosen, paths, theirs):
            print(_row(name, _ours(path, args.arch), other), flush=True)


if __name__ == "__main__":
    sys.exit(main())
