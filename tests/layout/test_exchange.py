"""Plans of layout conversions: every register of every thread ends with its element, by simulation."""

from __future__ import annotations

import random

import pytest

from tests.layout.pairs import permuted, random_pair
from tritium.layout import LinearLayout
from tritium.layout.distributed import blocked, dot_operand_mma, mma
from tritium.layout.exchange import cost, kind, plan_exchange
from tritium.layout.shuffles import LanePlan, Select, Shuffle, plan_lanes
from tritium.layout.swizzle import MemoryPlan, plan_memory


def flat(register: list[int], lane: list[int], warp: list[int] | None = None) -> LinearLayout:
    """A layout of a vector by the elements that the bits of its inputs stand for."""
    bases = {"register": register, "lane": lane, "warp": warp or [], "block": []}
    top = max((c for v in bases.values() for c in v), default=0)
    return LinearLayout({n: [(c,) for c in v] for n, v in bases.items()}, {"dim0": 1 << top.bit_length()})


def count(request: pytest.FixtureRequest, few: int, many: int) -> int:
    return many if request.config.getoption("--slow", default=False) else few


def test_registers_that_stay_are_no_conversion() -> None:
    layout = flat([1, 2], [4, 8, 16, 32, 64])
    assert kind(plan_exchange(layout, layout, 32)) == "nothing"


def test_registers_change_places() -> None:
    lanes = [4, 8, 16, 32, 64]
    plan = plan_exchange(flat([1, 2], lanes), flat([2, 1], lanes), 16)
    assert kind(plan) == "registers" and cost(plan) == 0
    plan.check()


def test_copies_in_registers_are_made_and_dropped() -> None:
    lanes = [2, 4, 8, 16, 32]
    for source, target in (([1], [1, 0]), ([0, 1], [1])):
        plan = plan_exchange(flat(source, lanes), flat(target, lanes), 32)
        assert kind(plan) == "registers"
        plan.check()


@pytest.mark.parametrize("bits,shuffles", [(8, 1), (16, 2), (32, 4), (64, 8)])
def test_a_register_bit_and_a_lane_bit_change_places(bits: int, shuffles: int) -> None:
    source = flat([1, 2, 4], [8, 16, 32, 64, 128])
    plan = plan_lanes(source, flat([8, 2, 4], [1, 16, 32, 64, 128]), bits)
    assert plan is not None and plan.shuffles == shuffles and plan.selects == 3 * shuffles
    assert all(n.is_butterfly(5) for n in plan.nodes if isinstance(n, Shuffle))
    plan.check()


def test_lanes_that_change_places_need_no_select() -> None:
    plan = plan_lanes(flat([1], [2, 4, 8, 16, 32]), flat([1], [4, 2, 8, 32, 16]), 32)
    assert plan is not None and (plan.shuffles, plan.selects) == (2, 0)
    plan.check()


def test_lanes_that_become_copies_read_by_number() -> None:
    """Lanes 16 to 31 read what lanes 0 to 15 read: flipping bits of their own number would be wrong."""
    source, target = flat([1, 2], [4, 8, 16, 32, 64]), flat([1, 2, 64], [4, 8, 16, 32, 0])
    plan = plan_lanes(source, target, 32)
    assert plan is not None
    moved = [n for n in plan.nodes if isinstance(n, Shuffle)]
    assert moved and not any(n.is_butterfly(5) for n in moved)
    plan.check()


def test_lanes_with_copies_choose_without_a_shuffle() -> None:
    plan = plan_exchange(flat([1, 2], [0, 4, 8, 16, 32]), flat([2], [1, 4, 8, 16, 32]), 32)
    assert isinstance(plan, LanePlan) and (plan.shuffles, plan.selects) == (0, 2)
    plan.check()


def test_warps_with_copies_choose_without_memory() -> None:
    lanes = [2, 4, 8, 16, 32]
    plan = plan_exchange(flat([1, 64], lanes, [0]), flat([1], lanes, [64]), 32)
    assert isinstance(plan, LanePlan) and plan.shuffles == 0
    assert [n.mask for n in plan.nodes if isinstance(n, Select)] == [32, 32]
    plan.check()


def test_two_lanes_that_want_two_registers_of_one() -> None:
    """Lane bit 4 is a register of the source, and what lane bit 4 was is the warp's."""
    source = flat([1], [2, 4, 8, 16, 32], [0])
    target = flat([], [2, 4, 8, 16, 1], [32])
    plan = plan_lanes(source, target, 32)
    assert plan is not None and plan.shuffles == 2
    plan.check()


def test_a_plan_that_is_wrong_is_found() -> None:
    source, target = flat([1, 2], [4, 8, 16, 32, 64]), flat([4, 2], [1, 8, 16, 32, 64])
    plan = plan_lanes(source, target, 32)
    assert plan is not None
    wrong = LanePlan(source, target, plan.nodes, tuple(reversed(plan.outputs)), 32)
    with pytest.raises(AssertionError, match="lane 0 of warp 0"):
        wrong.check()
    memory = plan_memory(source, target, 32)
    broken = MemoryPlan(**{**vars(memory), "load": memory.store})
    with pytest.raises((AssertionError, KeyError)):
        broken.check()


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_transposing_has_no_conflicts(bits: int) -> None:
    shape, vector = (64, 64), 128 // bits
    rows = blocked(shape, [1, vector], [4, 8], [4, 1], [1, 0])
    columns = blocked(shape, [vector, 1], [8, 4], [1, 4], [0, 1])
    plan = plan_memory(rows, columns, bits)
    assert plan.store.access.conflicts == plan.load.access.conflicts == 0
    plan.check()


@pytest.mark.parametrize("operand", [0, 1])
def test_operands_of_mma_come_by_ldmatrix(operand: int) -> None:
    shape = (64, 64)
    source = blocked(shape, [1, 8], [4, 8], [4, 1], [1, 0])
    target = dot_operand_mma(shape, operand, 2, 2, [2, 2], [16, 8])
    plan = plan_memory(source, target, 16, load_matrix=True)
    assert plan.load.access.kind == ("matrix", "transposed")[operand]
    assert plan.store.access.width == 8
    assert plan.store.access.conflicts == plan.load.access.conflicts == 0
    assert plan.load.access.width == 8  # four matrices, two elements of each a thread
    plan.check()


def test_results_of_mma_go_by_stmatrix() -> None:
    shape = (64, 64)
    source = mma(shape, 2, [2, 2], [16, 8])
    target = blocked(shape, [1, 8], [4, 8], [4, 1], [1, 0])
    plan = plan_memory(source, target, 16, store_matrix=True)
    assert plan.store.access.kind == "matrix" and plan.load.access.width == 8
    assert plan.store.access.conflicts == plan.load.access.conflicts == 0
    plan.check()


def test_wide_on_one_side_where_both_is_impossible() -> None:
    """No register is common: the stores are of 128 bits all the same, and nothing conflicts."""
    source, target = flat([1, 2], [4, 8, 16, 32, 64], [128]), flat([64, 128], [1, 2, 4, 8, 16], [32])
    plan = plan_memory(source, target, 32)
    assert sorted((plan.store.access.width, plan.load.access.width)) == [1, 4]
    assert plan.store.access.conflicts == plan.load.access.conflicts == 0
    plan.check()


def test_rounds_keep_memory_small() -> None:
    shape = (128, 128)
    source = blocked(shape, [1, 4], [1, 32], [4, 1], [1, 0])
    target = blocked(shape, [1, 4], [4, 8], [4, 1], [1, 0])
    plan = plan_memory(source, target, 32)
    assert plan.rounds * plan.bytes == 128 * 128 * 4 and plan.rounds >= 8
    plan.check()


def test_warps_that_keep_to_themselves_do_not_wait_for_others() -> None:
    inside = plan_memory(flat([1, 2], [4, 8, 16, 32, 64], [128]), flat([32, 64], [4, 8, 16, 1, 2], [128]), 32)
    assert inside.sync == "warp"
    across = plan_memory(flat([1], [2, 4, 8, 16, 32], [64]), flat([64], [2, 4, 8, 16, 32], [1]), 32)
    assert across.sync == "block"


def test_generated_pairs_of_named_layouts(request: pytest.FixtureRequest) -> None:
    for seed in range(count(request, 120, 5000)):
        rng = random.Random(seed)
        pair = random_pair(rng, 1 << 11)
        source, target = pair.layouts()
        matrix = rng.random() < 0.7, rng.random() < 0.5
        try:
            plan_exchange(source, target, pair.machine.bits, *matrix).check()
            plan_memory(source, target, pair.machine.bits, *matrix).check()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {pair}") from error


def test_generated_permutations(request: pytest.FixtureRequest) -> None:
    """All bits of all inputs anywhere: and no conflict in any of them."""
    for seed in range(count(request, 120, 5000)):
        rng = random.Random(seed)
        source, target, bits = permuted(rng)
        plan = plan_memory(source, target, bits, rng.random() < 0.5, rng.random() < 0.5)
        plan.check()
        found = plan.store.access.conflicts, plan.load.access.conflicts
        assert found == (0, 0), f"seed {seed}: {source} to {target}: {found}"


def test_generated_pairs_across_a_cluster(request: pytest.FixtureRequest) -> None:
    for seed in range(count(request, 60, 1000)):
        pair = random_pair(random.Random(seed), 1 << (10 if seed % 2 else 3), ctas=2)  # of few elements a block has one
        source, target = pair.layouts()
        try:
            plan_exchange(source, target, pair.machine.bits).check()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {pair}") from error


def test_generated_maps_within_warps(request: pytest.FixtureRequest) -> None:
    """Any invertible map of registers and lanes, not only permutations of their bits."""
    for seed in range(count(request, 150, 3000)):
        rng = random.Random(seed)
        source, target, bits = permuted(rng)
        inner = source.sublayout(["register", "lane"])
        columns = [*inner.columns]
        for _ in range(12):  # elementary operations
            i, j = rng.sample(range(len(columns)), 2)
            columns[i] ^= columns[j]
        n = source.ins["register"].bit_length() - 1
        bases = {
            "register": [(c,) for c in columns[:n]],
            "lane": [(c,) for c in columns[n:]],
            "warp": source.bases["warp"],
            "block": [],
        }
        plan = plan_lanes(source, LinearLayout(bases, source.outs), bits)
        assert plan is not None, f"seed {seed}"
        plan.check()
