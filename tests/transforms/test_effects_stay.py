"""What has an effect stays, once, where it is: GPU programs through the passes that remove, merge and move operations.

Barriers, asynchronous copies and the like write; so a pass must leave all writes in order, and reads and fresh memory
between the same two writes as before, except those that nobody uses. The programs are those recorded from Triton, the
examples of every dialect, and where `TRITIUM_TEST_TEXTS` names folders of texts, all `.mlir` files in them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

import tritium.dialects.all
import tritium.transforms  # noqa: F401  (passes by their names)
from tritium.ir import ALLOC, READ, WRITE, LoopLike, PassManager, memory_effects, parse_module, print_op, verify

TESTS = Path(__file__).parents[1]
FOLDERS = [TESTS / "dialects" / "examples", TESTS / "corpus" / "triton-3.9"]
FOLDERS += [Path(folder) for folder in os.environ.get("TRITIUM_TEST_TEXTS", "").split(os.pathsep) if folder]
FILES = sorted(path for folder in FOLDERS for path in folder.rglob("*.mlir"))
KEEP_LOOPS = ("cse", "loop-aware-cse", "licm", "dce", "sccp")  # whatever is in a loop stays in it
PASSES = (*KEEP_LOOPS, "canonicalize")
CONSTANT_BRANCHES = ("cf", "ttc")  # examples in which canonicalize decides a branch, so that its other way goes


def texts(path: Path) -> list[str]:
    return re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE)


def loops_around(op) -> int:
    n = 0
    while (op := op.parent_op) is not None:
        n += isinstance(op, LoopLike)
    return n


def signature(op, exact: bool = True):
    """Who it is, on which types, in how many loops; canonicalize may drop a mask that holds, or a loop that runs once."""
    return (op.name, *(str(v.type) for v in [*op.operands, *op.results]), loops_around(op)) if exact else op.name


class Trace:
    """The effects of a program in its order: writes, the reads between two of them, and who makes memory."""

    def __init__(self, module, exact: bool) -> None:
        self.writes = []
        self.reads = [Counter()]
        self.allocations = [Counter()]
        for op in module.walk():
            effects = 0 if op.regions or op.name == "llvm.intr.assume" else memory_effects(op)
            if effects & WRITE:
                self.writes.append(signature(op, exact))
                self.reads.append(Counter())
                self.allocations.append(Counter())
            elif effects & ALLOC:
                self.allocations[-1][signature(op)] += 1
            elif effects & READ:
                self.reads[-1][op.name] += 1


@pytest.mark.sample(2, "path")
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_effects_stay(path):
    for text in texts(path):
        live = parse_module(text)
        PassManager().add("dce").run(live)
        needed = sum(Trace(live, True).allocations, Counter())
        for name in KEEP_LOOPS if path.stem in CONSTANT_BRANCHES else PASSES:
            module = parse_module(text)
            before = Trace(module, name in KEEP_LOOPS)
            PassManager().add(name).run(module)
            verify(module)
            after = Trace(module, name in KEEP_LOOPS)
            assert after.writes == before.writes, name
            assert all(a <= b for a, b in zip(after.reads, before.reads)), name
            assert needed <= sum(after.allocations, Counter()) <= sum(before.allocations, Counter()), name
            printed = print_op(module)
            assert print_op(parse_module(printed)) == printed, name


@pytest.mark.parametrize("path", FILES[::4], ids=[path.stem for path in FILES[::4]])
def test_triton_reads_what_is_left(path, triton_oracle):
    for text in texts(path):
        if re.search(r"\bttc\.|^// Older|\btt\.make_tensor_ptr\b", text, flags=re.MULTILINE):
            continue
        module = parse_module(text)
        PassManager().add(*PASSES).run(module)
        for op in module.walk():  # without a name of its own a value is called what MLIR calls it
            for value in [
                *op.results,
                *(arg for region in op.regions for block in region.blocks for arg in block.args),
            ]:
                value.hint = None
        ours = print_op(module)
        assert triton_oracle.read(ours).strip() == ours.strip()
