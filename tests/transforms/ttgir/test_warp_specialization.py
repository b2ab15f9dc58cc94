"""Loops that `nvgpu-warp-specialization` refuses, and the reasons it reports."""

from __future__ import annotations

import pytest

from tests.conversion.ttg_to_llvm.test_specialized_loops import LOOP, STORE, TILE, text_of
from tritium.ir import listening, parse_module, print_op, verify
from tritium.transforms.ttgir.warp_specialize.nvgpu_warp_specialization import (
    WarpSpecializationOptions,
    nvgpu_warp_specialization,
)


def told(text: str, num_stages: int = 3) -> list[str]:
    """The remark of the pass on a program that it leaves unchanged."""
    module = parse_module(text)
    verify(module)
    before, messages = print_op(module), []
    with listening(lambda diagnostic: messages.append(diagnostic.message)):
        changed = nvgpu_warp_specialization(module, WarpSpecializationOptions(num_stages))
    assert not changed and print_op(module) == before
    return messages


INDEX = "%kk = arith.muli %k, %c64 : i32"
FOUND = """
      %p0 = tt.addptr %o, %k : !tt.ptr<f32>, i32
      %f = tt.load %p0 : !tt.ptr<f32>
      %kk = arith.fptosi %f : f32 to i32
"""
COUNTED = f"""
      {INDEX}
      %p0 = tt.addptr %o, %k : !tt.ptr<f32>, i32
      %f = arith.constant 1.0 : f32
      %true = arith.constant true
      %old = tt.atomic_rmw fadd, acq_rel, gpu, %p0, %f, %true : (!tt.ptr<f32>, f32, i1) -> f32
      %g = arith.fptosi %old : f32 to i32
      %h = arith.addi %g, %kk : i32
      %p1 = tt.addptr %o, %h : !tt.ptr<f32>, i32
      tt.store %p1, %old : !tt.ptr<f32>
"""
BACK = f"""
      {INDEX}
      %bt = arith.constant dense<0.0> : tensor<64x64xf16, #blocked>
      tt.descriptor_store %a[%kk, %c0], %bt : {TILE}, tensor<64x64xf16, #blocked>
"""
MADE = """
      %kk = arith.muli %k, %c64 : i32
      %one = arith.constant 1 : i64
      %wide = arith.extsi %c64 : i32 to i64
      %pa = tt.int_to_ptr %wide : i64 -> !tt.ptr<f16>
      %own = tt.make_tensor_descriptor %pa, [%c64, %c64], [%wide, %one] : <f16>, <64x64xf16, #shared>
"""
REASONS = {
    "one stage": (
        LOOP.replace("{tt.warp", "{tt.num_stages = 1 : i32, tt.warp"),
        "warp specialization needs two stages",
    ),
    "no descriptors": (
        (
            "%d = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (SUM) : i32 {\n"
            "%t = arith.addf %s, %s : SUM\nscf.yield %t : SUM\n} {tt.warp_specialize}"
        ),
        "it has no loads through tensor descriptors",
    ),
    "an address from memory": (LOOP.replace(INDEX, FOUND), "its address depends on tt.load"),
    "a counter that others see": (LOOP.replace(INDEX, COUNTED), "loads must not be moved before tt.atomic_rmw"),
    "a descriptor of each iteration": (
        LOOP.replace(INDEX, MADE).replace("descriptor_load %a", "descriptor_load %own"),
        "a descriptor that is rebuilt in each iteration",
    ),
    "a tile that is written": (LOOP.replace(INDEX, BACK), "before a store through the same descriptor"),
}


@pytest.mark.parametrize("what", REASONS)
def test_refused_loops_are_unchanged_with_a_reason(what):
    body, why = REASONS[what]
    messages = told(text_of(body + STORE))
    assert len(messages) == 1 and "not warp-specialized" in messages[0] and why in messages[0], messages


def test_unsupported_targets_are_unchanged_with_a_reason():
    text = text_of(LOOP + STORE)
    assert "no TMA" in told(text.replace("cuda:90", "cuda:80"))[0]
    assert "and this is 12.0" in told(text.replace("cuda:90", "cuda:120"))[0]
    assert (
        told(text.replace("module attributes {", 'module attributes {tritium.without = "warp-specialization", ')) == []
    )
