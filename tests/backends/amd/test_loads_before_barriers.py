"""Loads stay before barriers where LLVM's code generation would move them into the branch that uses them."""

import re

import pytest

from tests.fuzz.gluon_programs import check
from tritium.backends.amd.codegen import AMDGPUTarget, emit
from tritium.backends.amd.loads_before_barriers import with_loads_before_barriers

TEXT = """\
target triple = "amdgcn-amd-amdhsa"

@lds = external addrspace(3) global [0 x i8], align 16

define amdgpu_kernel void @kernel(ptr addrspace(1) inreg %x, i32 inreg %n) {{
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %at = getelementptr i32, ptr addrspace(3) @lds, i32 %thread
  %from = getelementptr i32, ptr addrspace(1) %x, i32 %thread
  %v = load i32, ptr addrspace(3) %at, align 4
  %w = load i32, ptr addrspace(1) %from, align 4
  %sum = add i32 %v, %w
  fence syncscope("workgroup") release{local}
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire{local}
  {before}
  %c = icmp slt i32 %n, 5
  br i1 %c, label %then, label %join

then:
  %other = xor i32 %thread, 64
  %to = getelementptr i32, ptr addrspace(3) @lds, i32 %other
  store i32 %sum, ptr addrspace(3) %to, align 4
  br label %join

join:
  ret void
}}

declare i32 @llvm.amdgcn.workitem.id.x()

declare void @llvm.amdgcn.s.barrier()

!0 = !{{!"amdgpu-synchronize-as", !"local"}}
"""
LOCAL = ", !mmra !0"


def kept(local: str = LOCAL, before: str = "") -> list[str]:
    text = with_loads_before_barriers(TEXT.format(local=local, before=before))
    return re.findall(r"@llvm\.fake\.use\(i32 (%\w)\)\n", text)


def test_a_load_that_only_a_branch_uses_has_a_use_before_the_barrier():
    assert kept() == ["%v"]


def test_barriers_that_order_global_memory_keep_its_loads_too():
    assert kept(local="") == ["%v", "%w"]


def test_a_value_that_the_block_stores_needs_no_other_use():
    assert kept(before="store i32 %sum, ptr addrspace(3) %at, align 4") == []


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_code_generation_leaves_the_load_before_the_barrier(arch):
    text = TEXT.format(local=LOCAL, before="")
    code = emit(text, AMDGPUTarget(arch), use_object=False).decode()
    order = re.findall(r"^\s+(ds_(?:read|load|write|store)|s_barrier)", code, re.M)
    assert order.index("s_barrier") == 1 and order[0] in ("ds_read", "ds_load")


@pytest.mark.parametrize(("arch", "seed"), [("gfx942", 17), ("gfx1100", 27)])
def test_programs_in_which_a_wave_overwrote_what_another_had_still_to_load(arch, seed):
    check(seed, arch=arch)
