"""Each rewrite rule of layouts states why no thread loses an element that it needs.

`test_rules_tiles.py` shows that the rules keep the values of tensors. That leaves where the elements are: the evaluator
knows no threads. A rule without an entry here fails.
"""

from __future__ import annotations

from tests.filetests.test_rules import all_rules
from tests.transforms.test_rules_tiles import TILE_RULES

#: Rule -> why each thread still has the elements of its layout, or gets them.
REASONS = {
    "convert_to_itself": "the layouts are equal: no element moves",
    "convert_twice": "the last conversion alone determines where elements are",
    "convert_of_replicated": "a thread computes its elements of a splat, constant or range in any layout",
    "convert_of_histogram": "the lowering of a histogram writes its counts through shared memory, to any layout",
    "convert_of_local_load": "shared memory is read in any layout; the new load stands where the old one did",
    "convert_of_cat": "the order of a cat is free, and a thread holds as many elements as of both parts",
    "convert_of_free_reshape": "the order is free, and `moves_elements` is false for the new layout",
    "reshape_of_convert": "the layouts are equal, or the order is free and `moves_elements` is false",
    "trans_of_convert": "the transposed source layout is that of the result",
    "broadcast_of_convert": "the source layout replicates what the result needs, as `repeats` checks",
    "trans_in_place": "the identity permutes nothing; the conversion changes layouts as the transposition did",
    "histogram_of_convert": "a histogram adds each element once, in any layout of its operand; not for clusters",
    "gather_of_convert": "a gather reads its source through shared memory, in any layout; not split over CTAs",
    "split_of_convert": "`forward` of the source layout is the layout of the results: a pair is in one thread before and after",
    "store_of_convert": "a store to shared memory is lowered from any layout; not between CTAs",
    "alloc_of_load": "buffers have no threads; the buffer is not written again",
    "part_of_part": "offsets into a buffer; no tensor is involved",
    "operand_of_transpose": "the buffer's view is transposed, and the load has the layout of the operand",
    "buffer_of_transpose": "the transposed view has the type of the buffer that it replaces, so wgmma reads the same",
    "buffer_of_reshape": "`reshaped` shows that both buffers hold each element at one offset",
}


def layout_rules() -> set[str]:
    """The rules of `rules/ttg` and of the passes of ttgir."""
    modules = ("tritium.transforms.rules.ttg", "tritium.transforms.ttgir.")
    return {name for name, rule in all_rules().items() if rule.fn.__module__.startswith(modules)}


def test_every_layout_rule_states_its_reason() -> None:
    assert not layout_rules() - REASONS.keys(), "say in REASONS why no thread loses an element that it needs"
    assert not REASONS.keys() - layout_rules(), "no rule of layouts has this name"


def test_every_layout_rule_is_run_on_tensors() -> None:
    assert layout_rules() <= set(TILE_RULES)
