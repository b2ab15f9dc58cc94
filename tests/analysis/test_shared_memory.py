"""Places in shared memory: what is alive at one time does not overlap; and barriers, checked against all paths."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import tritium.dialects.all  # noqa: F401
from tests.triton_oracle import TritonOracle, triton_oracle  # noqa: F401
from tritium.analysis.allocation import Allocation, Buffer, _place, allocate, buffer_bytes, padded_size, stride_bytes
from tritium.analysis.liveness import Interval
from tritium.analysis.membar import find_barriers, is_barrier
from tritium.dialects.ttg_maps import linear_layout
from tritium.dialects.ttg_memory import PaddedShared
from tritium.ir import Operation, functions_of, parse_module, parse_type
from tritium.ir.passes import run_pipeline
from tritium.support import UnsupportedOperation
from tritium.transforms.ttgir.pipelines import LOWERING

HEAD = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!tile = tensor<128xf32, #a>
!buffer = !ttg.memdesc<128xf32, #s, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
"""


def function(body: str, arguments: str = "%x: !tile, %n: i32, %c: i1") -> Operation:
    module = parse_module(f"{HEAD}tt.func public @f({arguments}) {{\n{body}\ntt.return\n}}\n}}")
    (found,) = functions_of(module)
    return found


def apart(allocation: Allocation) -> None:
    """No two that live at one time overlap; all are aligned."""
    buffers = list(allocation.buffers.values())
    for i, one in enumerate(buffers):
        assert one.offset % one.alignment == 0 and one.end <= allocation.size
        for other in buffers[:i]:
            assert not (one.life.meets(other.life) and one.overlaps(other))


def test_what_a_loop_swaps_lives_through_it() -> None:
    func = function("""
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %p = ttg.local_alloc : () -> !buffer
    %q = ttg.local_alloc : () -> !buffer
    %r:2 = scf.for %i = %zero to %n step %one iter_args(%s = %p, %t = %q) -> (!buffer, !buffer) : i32 {
      %inner = ttg.local_alloc %x : (!tile) -> !buffer
      ttg.local_store %x, %s : !tile -> !buffer
      scf.yield %t, %s : !buffer, !buffer
    }
    %y = ttg.local_load %r#0 : !buffer -> !tile
    """)
    allocation = allocate(func, {})
    assert allocation.size == 3 * 512
    apart(allocation)
    loop = next(op for op in func.walk() if op.name == "scf.for")
    assert len(allocation.of(loop.results[0])) == 2


def test_tokens_keep_what_is_copied_to() -> None:
    """The copy may still be under way where the buffer itself is not used any more."""
    func = function(
        """
    %b = ttg.local_alloc : () -> !buffer
    %t = ttg.async_copy_global_to_local %p, %b : tensor<128x!tt.ptr<f32>, #a> -> <128xf32, #s, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %c = ttg.local_alloc : () -> !buffer
    ttg.local_store %x, %c : !tile -> !buffer
    %w = ttg.async_wait %g {num = 0 : i32}
    %d = ttg.local_alloc : () -> !buffer
    ttg.local_store %x, %d : !tile -> !buffer
    """,
        "%x: !tile, %p: tensor<128x!tt.ptr<f32>, #a>",
    )
    allocation = allocate(func, {})
    apart(allocation)
    first, second, third = [b for op, b in allocation.buffers.items() if op.name == "ttg.local_alloc"]
    assert first.life.meets(second.life) and not first.life.meets(third.life)


def test_blocks_that_branch_back_are_a_loop() -> None:
    func = function("""
    %b = ttg.local_alloc : () -> !buffer
    cf.br ^again
  ^again:
    %y = ttg.local_load %b : !buffer -> !tile
    %c2 = ttg.local_alloc : () -> !buffer
    ttg.local_store %y, %c2 : !tile -> !buffer
    cf.cond_br %c, ^again, ^out
  ^out:
    """)
    allocation = allocate(func, {})
    apart(allocation)
    assert allocation.size == 1024


def test_recursion_and_unknown_callees_are_refused() -> None:
    for body in ("tt.call @f(%x, %n, %c) : (!tile, i32, i1) -> ()", "tt.call @g(%n) : (i32) -> ()"):
        declared = "tt.func private @g(i32)\n" if "@g" in body else ""
        module = parse_module(
            f"{HEAD}{declared}tt.func public @f(%x: !tile, %n: i32, %c: i1) {{\n{body}\ntt.return\n}}\n}}"
        )
        with pytest.raises(UnsupportedOperation, match="recursive|declared"):
            run_pipeline(module, LOWERING)


def test_gaps_of_padded_layouts() -> None:
    layout = PaddedShared.from_order((64, 128), (2, 4), (1, 0), (16, 16))
    assert padded_size(layout, 256) == 256 + 4 * 2 + 2 * 4 - 2 - 4
    assert padded_size(layout, 32) == 32
    func = function("%b = ttg.local_alloc : () -> !ttg.memdesc<3x128xf32, #s, #smem, mutable>")
    alloc = next(op for op in func.walk() if op.name == "ttg.local_alloc")
    assert stride_bytes(alloc.results[0].type) == 512  # type: ignore[arg-type]


def test_random_lives_never_overlap() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        buffers = []
        for _ in range(rng.randint(1, 12)):
            first = rng.randrange(30)
            life = Interval(first, first + rng.randrange(10))
            size, alignment = rng.randrange(1, 2000), 1 << rng.randint(0, 10)
            buffers.append(Buffer(None, size, alignment, life))  # type: ignore[arg-type]
        size = _place(buffers)
        apart(Allocation(dict(enumerate(buffers)), {}, size))  # type: ignore[arg-type]
        most = max(sum(b.size for b in buffers if b.life.first <= t <= b.life.last) for t in range(40))
        assert most <= size, f"seed {seed}"


# -- barriers ---------------------------------------------------------------------------------------------------


def random_body(rng: random.Random, depth: int = 0) -> list[str]:
    """Stores and loads of three buffers, in loops and branches."""
    out = []
    for _ in range(rng.randint(1, 4)):
        b = rng.choice("pqr")
        kind = rng.randrange(6 if depth < 2 else 4)
        if kind < 2:
            out.append(f"ttg.local_store %x, %{b} : !tile -> !buffer")
        elif kind < 4:
            out.append(f"%v{rng.randrange(1 << 30)} = ttg.local_load %{b} : !buffer -> !tile")
        elif kind == 4:
            out += [
                f"scf.for %i{rng.randrange(1 << 30)} = %zero to %n step %one : i32 {{",
                *random_body(rng, depth + 1),
                "}",
            ]
        else:
            out += ["scf.if %c {", *random_body(rng, depth + 1)]
            if rng.random() < 0.5:
                out += ["} else {", *random_body(rng, depth + 1)]
            out.append("}")
    return out


def walks(rng: random.Random, block: object) -> list[Operation]:
    """One path through a block: a loop runs up to three times, a branch one way."""
    out: list[Operation] = []
    for op in block:  # type: ignore[attr-defined]
        if op.name == "scf.for":
            for _ in range(rng.randrange(4)):
                out += walks(rng, op.regions[0].blocks[0])
        elif op.name == "scf.if":
            region = op.regions[rng.randrange(2)]
            out += walks(rng, region.blocks[0]) if region.blocks else []
        else:
            out.append(op)
    return out


def clash_on(path: list[Operation], before: set[Operation]) -> Operation | None:
    """The first operation of a path that uses what another one has changed, or changes what it used, unwaited for."""
    used: list[tuple[object, bool]] = []
    for op in path:
        if op in before or is_barrier(op):
            used = []
        if op.name not in ("ttg.local_store", "ttg.local_load"):
            continue
        writes = op.name == "ttg.local_store"
        buffer = op.operands[1 if writes else 0]
        if any(b is buffer and (w or writes) for b, w in used):
            return op
        used.append((buffer, writes))
    return None


def test_random_programs_have_the_barriers_they_need(request: pytest.FixtureRequest) -> None:
    """And each of them is needed: without it some path has a race."""
    needless = total = 0
    for seed in range(1500 if request.config.getoption("--slow") else 120):
        rng = random.Random(seed)
        start = ["%zero = arith.constant 0 : i32", "%one = arith.constant 1 : i32"]
        start += [f"%{b} = ttg.local_alloc : () -> !buffer" for b in "pqr"]
        ends = [f"ttg.local_dealloc %{b} : !buffer" for b in "pqr"]
        func = function("\n".join([*start, *random_body(rng), *ends]))
        allocation = allocate(func, {})
        found = find_barriers(func, allocation).before
        paths = [walks(rng, func.regions[0].blocks[0]) for _ in range(60)]
        for path in paths:
            assert clash_on(path, found) is None, f"seed {seed}"
        for barrier in found:
            total += 1
            needless += all(clash_on(path, found - {barrier}) is None for path in paths)
    assert total > 100 and needless <= total // 10, f"{needless} of {total}"


CORPUS = Path(__file__).parents[1] / "corpus" / "triton-3.9"


def test_no_more_shared_memory_than_triton(triton_oracle: TritonOracle) -> None:  # noqa: F811
    """Of what Triton made of its tutorials, its own last stage."""
    compared, more = 0, []
    for path in sorted(CORPUS.glob("*.sm90.ttgir.mlir")):
        text = path.read_text()
        module = parse_module(text)
        try:
            run_pipeline(module, LOWERING)
        except UnsupportedOperation:
            continue  # warps that do different things
        theirs = _shared_of(triton_oracle, text)
        ours = module.attributes["ttg.shared"].value  # type: ignore[attr-defined]
        compared += 1
        if ours > theirs:
            more.append((path.name, ours, theirs))
    assert compared > 5 and len(more) <= compared // 6, more


def _shared_of(oracle: TritonOracle, text: str) -> int:
    capability = re.search(r'ttg.target = "(cuda:\d+)"', text)
    oracle.compile_text(text, capability[1] if capability else "cuda:80", "ttgir")
    return oracle.resources["shared"]


@pytest.mark.parametrize(
    ("layout", "shape", "elements"),
    [
        (
            "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], block = [[4, 0]]}, alignment = 16>",
            (8, 8),
            32,
        ),
        (
            "#ttg.shared_linear<{offset = [[0, 1], [1, 0], [2, 0]], block = [[4, 0], [0, 2]]}, alignment = 16>",
            (8, 4),
            8,
        ),
        ("#ttg.shared_linear<{offset = [[0, 1], [1, 0], [2, 0]], block = [[0, 0]]}, alignment = 16>", (4, 2), 8),
        (
            "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[1, 0]]}>",
            (8, 8),
            32,
        ),
    ],
)
def test_a_cta_has_its_part_of_a_buffer(layout: str, shape: tuple[int, ...], elements: int) -> None:
    """CTA bases of linear layouts are in elements, those of the others in parts."""
    ty = parse_type(f"!ttg.memdesc<{'x'.join(map(str, shape))}xf16, {layout}, #ttg.shared_memory, mutable>")
    assert buffer_bytes(ty) == 2 * elements
    assert linear_layout(ty.encoding, shape).ins["offset"] == elements
