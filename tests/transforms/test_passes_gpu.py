"""The passes of tile programs leave programs of other dialects whole: valid, and with every effect they had.

The programs are the examples of all operations, in which nothing is dead but for its result.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import tritium.dialects.all  # noqa: F401
from tests.transforms.tile_passes import TILE_PASSES
from tritium.ir import TERMINATOR, WRITE, memory_effects, parse_module, verify
from tritium.support import TritiumError

EXAMPLES = Path(__file__).parents[1] / "dialects" / "examples"
FILES = sorted(EXAMPLES.glob("*.mlir"))
KEEP_EFFECTS = ("canonicalize", "sccp", "cse", "loop-aware-cse", "licm", "dce", "reorder-broadcast")


def parts(path):
    """The programs of a file."""
    return [text for text in path.read_text().split("// -----") if text.strip()]


def effects(module):
    """How often each operation that must stay occurs, of the dialects that these passes know nothing of."""
    known = ("builtin.", "arith.", "math.", "scf.", "cf.", "tt.", "ub.", "llvm.")
    return Counter(
        op.name
        for op in module.walk()
        if memory_effects(op) & WRITE
        and not op.traits & TERMINATOR
        and not op.name.startswith(known)
        and not op.regions
    )


@pytest.mark.parametrize("name", sorted(TILE_PASSES))
@pytest.mark.parametrize("path", FILES, ids=[p.stem for p in FILES])
def test_programs_stay_valid(path, name):
    for text in parts(path):
        module = parse_module(text)
        verify(module)
        before = effects(module)
        try:
            TILE_PASSES[name](module)
        except TritiumError as error:  # what a pass cannot do it says, with the operation
            assert type(error).__name__ in ("UnsupportedOperation", "UnsupportedBundleError"), error
            continue
        verify(module)
        if name in KEEP_EFFECTS:
            assert effects(module) == before, f"{name} on\n{text}"


def test_the_examples_have_effects():
    """What is compared above is not nothing."""
    found = sum((effects(parse_module(text)) for path in FILES for text in parts(path)), Counter())
    assert len(found) > 40, sorted(found)


@pytest.mark.parametrize("name", ["canonicalize", "cse", "sccp", "loop-aware-cse", "licm"])
def test_nothing_crosses_into_what_is_isolated(name):
    """A constant inside of a partition is equal to one outside, and yet another."""
    module = parse_module("""
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @k(%x: i32, %p: !tt.ptr<i32>) {
    %c1 = arith.constant 1 : i32
    %y = arith.addi %x, %c1 : i32
    tt.store %p, %y : !tt.ptr<i32>
    ttg.warp_specialize(%x, %p)
    default {
      %z = arith.addi %x, %c1 : i32
      tt.store %p, %z : !tt.ptr<i32>
      ttg.warp_yield
    }
    partition0(%a: i32, %q: !tt.ptr<i32>) num_warps(4) {
      %d1 = arith.constant 1 : i32
      %b = arith.addi %a, %d1 : i32
      %c = arith.addi %a, %d1 : i32
      %d = arith.muli %b, %c : i32
      tt.store %q, %d : !tt.ptr<i32>
      ttg.warp_return
    }
    partition1(%a: i32, %q: !tt.ptr<i32>) num_warps(4) {
      %d1 = arith.constant 1 : i32
      %b = arith.subi %a, %d1 : i32
      tt.store %q, %b : !tt.ptr<i32>
      ttg.warp_return
    } : (i32, !tt.ptr<i32>) -> ()
    tt.return
  }
}""")
    verify(module)
    TILE_PASSES[name](module)
    verify(module)
    additions = sum(op.name == "arith.addi" for op in module.walk())
    assert additions == (2 if "cse" in name else 4), "in the partition two are one, and that one in `default` goes"
