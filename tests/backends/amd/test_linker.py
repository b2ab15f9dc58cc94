"""The linker of code objects: layout, relocations, errors; and the same object linked by Triton."""

from __future__ import annotations

import struct
from dataclasses import fields

import pytest

from tests.triton_oracle import TritonOracle
from tritium.backends.amd.code_object import KernelDescriptor, descriptor_of, metadata_of, resources_of
from tritium.backends.amd.codegen import AMDGPUTarget, emit
from tritium.backends.amd.elf import SHF_ALLOC, parse_elf
from tritium.backends.amd.linker import link
from tritium.backends.errors import BackendError

# Two kernels, a table of constants that one of them reads (a relocation of two words), and static LDS.
TEXT = """
target triple = "amdgcn-amd-amdhsa"
@table = internal addrspace(4) constant [4 x i32] [i32 1, i32 20, i32 300, i32 4000]
@lds = internal addrspace(3) global [64 x i32] poison
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @first(ptr addrspace(1) %p, i32 %i) #0 {
  %q = getelementptr [4 x i32], ptr addrspace(4) @table, i32 0, i32 %i
  %v = load i32, ptr addrspace(4) %q
  store i32 %v, ptr addrspace(1) %p
  ret void
}
define amdgpu_kernel void @second(ptr addrspace(1) %p) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %q = getelementptr [64 x i32], ptr addrspace(3) @lds, i32 0, i32 %t
  store volatile i32 %t, ptr addrspace(3) %q
  %v = load volatile i32, ptr addrspace(3) %q
  store i32 %v, ptr addrspace(1) %p
  ret void
}
attributes #0 = { "amdgpu-flat-work-group-size"="1,64" }
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
"""
UNDEFINED = TEXT.replace(
    "store i32 %v, ptr addrspace(1) %p\n  ret void\n}\ndefine", "call void @far()\n  ret void\n}\ndefine"
)


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def built(request: pytest.FixtureRequest) -> tuple[bytes, bytes]:
    """An object, and what our linker makes of it."""
    made = emit(TEXT, AMDGPUTarget(request.param), use_object=True)
    return made, link(made)


def test_loaded_sections_keep_their_order_and_alignment(built: tuple[bytes, bytes]) -> None:
    elf = parse_elf(built[1])
    loaded = [s for s in elf.sections if s.flags & SHF_ALLOC]
    assert [s.name for s in loaded] == [".note", ".dynsym", ".hash", ".dynstr", ".rodata", ".text", ".dynamic"]
    assert all(s.address % s.alignment == 0 for s in loaded)
    text = elf.section(".text")
    assert text is not None and text.address - text.offset == 0x1000  # a page of its own in memory


def test_descriptors_and_resources_of_two_kernels(built: tuple[bytes, bytes]) -> None:
    elf = parse_elf(built[1])
    places = {s.name: s.value for s in elf.symbols}
    for name, lds in (("first", 0), ("second", 256)):
        found = descriptor_of(built[1], name)
        assert isinstance(found, KernelDescriptor)
        assert places[f"{name}.kd"] + found.entry == places[name]
        assert found.group_segment == resources_of(built[1], name).lds == lds


def test_code_reaches_the_constant_table(built: tuple[bytes, bytes]) -> None:
    """REL32_LO and REL32_HI: the sum of the words after s_getpc_b64 is the table's address."""
    before, after = parse_elf(built[0]), parse_elf(built[1])
    text, rodata = after.section(".text"), after.section(".rodata")
    assert text is not None and rodata is not None
    source = before.section(".text")
    assert source is not None
    low, high = (r for r in before.relocations if r.section == source.index)
    delta = (
        struct.unpack_from("<I", text.data, low.offset)[0] | struct.unpack_from("<I", text.data, high.offset)[0] << 32
    )
    after_getpc = text.address + low.offset - 4  # the first literal is in the instruction that follows it
    where = (after_getpc + delta & 0xFFFF_FFFF_FFFF_FFFF) - rodata.address
    assert struct.unpack_from("<4I", rodata.data, where) == (1, 20, 300, 4000)


def test_undefined_symbols_are_refused_by_name() -> None:
    made = emit(UNDEFINED + "declare void @far()\n", AMDGPUTarget("gfx942"), use_object=True)
    with pytest.raises(BackendError, match="undefined symbol far"):
        link(made)


def test_other_files_are_refused(built: tuple[bytes, bytes]) -> None:
    with pytest.raises(BackendError, match="only relocatable objects"):
        link(built[1])
    with pytest.raises(BackendError, match="not a little-endian ELF-64 file"):
        link(b"MZ")
    with pytest.raises(BackendError, match="damaged code object"):
        link(built[0][:200])


def test_triton_links_our_object_to_the_same_code(built: tuple[bytes, bytes], triton_oracle: TritonOracle) -> None:
    """All but the places: LLD writes a .gnu.hash more, by which .rodata may move."""
    theirs, ours = triton_oracle.link_amd(built[0]), built[1]
    a, b = parse_elf(theirs), parse_elf(ours)
    assert (a.kind, a.abi_version, a.flags) == (b.kind, b.abi_version, b.flags)
    assert metadata_of(a) == metadata_of(b)
    exported = [{(s.name, s.info, s.other, s.size) for s in elf.symbols if s.is_global} for elf in (a, b)]
    assert exported[0] == exported[1]
    sizes = [{s.name: s.size for s in elf.sections if s.name in (".note", ".rodata", ".text")} for elf in (a, b)]
    assert sizes[0] == sizes[1]
    for name in ("first", "second"):
        x, y = (descriptor_of(code, name) for code in (theirs, ours))
        assert x == KernelDescriptor(**{f.name: getattr(y, f.name) for f in fields(y)} | {"entry": x.entry})
    if {s.name: s.address for s in a.sections if s.name == ".rodata"} == {
        s.name: s.address for s in b.sections if s.name == ".rodata"
    }:
        assert [a.section(n).data == b.section(n).data for n in (".text", ".rodata")] == [True, True]  # type: ignore[union-attr]


def test_our_linker_accepts_an_object_of_triton(triton_oracle: TritonOracle) -> None:
    text = emit(TEXT, AMDGPUTarget("gfx942"), use_object=False).decode()
    theirs = triton_oracle.assemble_amd(text, "gfx942")
    ours = link(theirs)
    assert parse_elf(ours).section(".text").data == parse_elf(triton_oracle.link_amd(theirs)).section(".text").data  # type: ignore[union-attr]
    assert resources_of(ours, "second").lds == 256
