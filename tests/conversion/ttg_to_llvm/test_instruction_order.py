"""The order of instructions: a permutation within blocks of those that are of use, each made before it is used."""

from __future__ import annotations

import random
import re

import pytest

from tritium.conversion.ttg_to_llvm.instruction_order import sink_to_first_use

PURE = ["add i32 {}, {}", "select i1 %c, i32 {}, i32 {}", "call i32 @llvm.smax.i32(i32 {}, i32 {})"]
PURE += [
    'call i32 asm "add.u32 $0, $1, $2;", "=r,r,r"(i32 {}, i32 {}) #2, !dbg !3',
    "call float @__nv_powf(i32 {}, i32 {})",
]
EFFECTS = ["call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 {}, i32 {})", "load i32, ptr {}, align 4 ; {}"]
EFFECTS += [
    'call i32 asm sideeffect "add.u32 $0, $1, $2;", "=r,r,r"(i32 {}, i32 {}) #1',
    "call i32 @function(i32 {}, i32 {})",
]


def body(rng: random.Random) -> list[str]:
    """A function of some blocks."""
    lines, known, count = [], ["%lane", "%arg0"], 0
    for block in range(rng.randint(1, 4)):
        if block:
            lines += [f"  br label %b{block}", f"b{block}:"]
            lines.append(f"  %t{count} = phi i32 [ {rng.choice(known)}, %entry ]")
            known, count = [*known, f"%t{count}"], count + 1
        for _ in range(rng.randint(0, 30)):
            kind = rng.choice([PURE, PURE, EFFECTS, None])
            operands = [rng.choice(known[-12:]) for _ in range(2)]
            if kind is None:
                lines.append("  store i32 {}, ptr {}, align 4".format(*operands))
                continue
            lines.append(f"  %t{count} = {rng.choice(kind).format(*operands)}")
            known, count = [*known, f"%t{count}"], count + 1
    return [*lines, "  ret void"]


def effects(lines: list[str]) -> list[str]:
    """What must keep its order: everything but values without effects."""
    pure = [re.compile(re.escape(p).replace(r"\{\}", r"\S+?")) for p in PURE]
    return [line for line in lines if not any(p.fullmatch(line.partition(" = ")[2]) for p in pure)]


def useful(lines: list[str]) -> list[str]:
    """What has an effect, and what that is made of."""
    needed: set[str] = set()
    kept, lasting = [], set(effects(lines))
    for line in reversed(lines):
        name, _, text = line.partition(" = ")
        if line in lasting or name.strip() in needed:
            kept.append(line)
            needed.update(re.findall(r"%t\d+", text or line))
    return kept[::-1]


@pytest.mark.parametrize("case", range(200))
def test_random_bodies(case: int, seed: int) -> None:
    lines = body(random.Random(seed))
    found = sink_to_first_use(lines)
    lines = useful(lines)
    assert sorted(found) == sorted(lines)
    assert effects(found) == effects(lines)
    made = {"%lane", "%arg0"}
    for line in found:
        name, _, text = line.partition(" = ")
        if "phi" not in line:
            assert set(re.findall(r"%t\d+", text or line)) <= made
        made.add(name.strip())
    blocks = [[sorted(b) for b in split(some)] for some in (lines, found)]
    assert blocks[0] == blocks[1]


def split(lines: list[str]) -> list[list[str]]:
    """The blocks."""
    out: list[list[str]] = [[]]
    for line in lines:
        if line.endswith(":"):
            out.append([])
        out[-1].append(line)
    return out


def test_what_nobody_uses_is_left_out() -> None:
    lines = ["  %t0 = load i32, ptr %p", "  %t1 = add i32 %t0, 1", "  %t2 = mul i32 %t1, 3", "  %t3 = add i32 %t1, 2"]
    stored = "  store i32 %t3, ptr %p"
    assert sink_to_first_use([*lines, stored, "  ret void"]) == [*lines[:2], lines[3], stored, "  ret void"]
    assert sink_to_first_use([*lines, "  ret void"]) == [lines[0], "  ret void"]


def test_chains_of_elements_stay_together() -> None:
    breadth = [f"  %t{i} = fmul float %x{i}, %s" for i in range(4)]
    breadth += [f"  %t{i + 4} = fadd float %t{i}, 1.0" for i in range(4)]
    breadth += [f"  store float %t{i + 4}, ptr %p{i}" for i in range(4)]
    depth = [breadth[4 * step + i] for i in range(4) for step in range(3)]
    assert sink_to_first_use([*breadth, "  ret void"]) == [*depth, "  ret void"]


def test_float_arithmetic_keeps_its_place_where_floats_are_not_sunk() -> None:
    lines = ["  %t0 = add i32 %x, 1", *(f"  %t{i + 1} = fmul float %x{i}, %s" for i in range(4))]
    lines += [f"  store float %t{i + 1}, ptr %p{i}" for i in range(4)]
    stored = "  store i32 %t0, ptr %p"
    assert sink_to_first_use([*lines, stored], sink_floats=False) == [*lines[1:], lines[0], stored]


def test_what_takes_the_place_of_an_operand_does_not_wait() -> None:
    loads = [f"  %t{i} = load float, ptr %p{i}" for i in range(4)]
    steps = [f"  %t{i + 4} = fmul float %t{i}, %s" for i in range(4)]
    steps += [f"  %t{i + 8} = fadd float %t{i + 4}, 1.0" for i in range(4)]
    stores = [f"  store float %t{i + 8}, ptr %q{i}" for i in range(4)]
    lines = [*loads, *steps, *stores, "  ret void"]
    assert sink_to_first_use(lines) == lines


def test_what_adds_a_value_waits() -> None:
    loads = [f"  %t{i} = load float, ptr %p{i}" for i in range(3)]
    squares = [f"  %t{i + 3} = fmul float %t{i}, %t{i}" for i in range(3)]
    sums = ["  %t6 = fadd float %t3, %t4", "  %t7 = fadd float %t6, %t5", "  store float %t7, ptr %q"]
    again = [f"  store float %t{i}, ptr %p{i}" for i in range(3)]
    found = sink_to_first_use([*loads, *squares, *sums, *again, "  ret void"])
    assert found == [*loads, *squares[:2], sums[0], squares[2], *sums[1:], *again, "  ret void"]


def test_loads_from_shared_memory_are_sunk_up_to_stores_beside_scheduling_barriers() -> None:
    loads = [f"  %t{i} = load float, ptr addrspace(3) %p{i}" for i in range(4)]
    scaled = [f"  %t{i + 4} = fmul float %t{i}, %s" for i in range(4)]
    barrier = "  call void @llvm.amdgcn.sched.barrier(i32 0)"
    uses = [f"  store float %t{i + 4}, ptr addrspace(1) %q{i}" for i in range(4)]
    lines = [*loads, *scaled[:2], barrier, *uses[:3], "  store float %s, ptr addrspace(3) %p0", uses[3], "  ret void"]
    lines[6:6] = []
    wanted = [loads[0], scaled[0], loads[1], scaled[1], barrier, *uses[:2]]
    found = sink_to_first_use([*lines[:6], barrier, *scaled[2:], *lines[7:]])
    assert found[:7] == wanted
    assert found.index(loads[3]) < found.index("  store float %s, ptr addrspace(3) %p0")
    assert found.index(loads[2]) == found.index(uses[2]) - 2
    without = sink_to_first_use([*loads, *scaled, *uses, "  ret void"])
    assert without[:4] == loads
