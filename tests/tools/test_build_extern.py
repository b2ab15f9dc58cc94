"""`tools.build_extern`: a Python module of functions written from the LLVM text of a library."""

from __future__ import annotations

import importlib.util
import inspect
import stat

import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource
from tritium.compiler import compile as compile_kernel
from tritium.dropin import alias
from tritium.tools.build_extern import (
    ExternLibraryError,
    Libdevice,
    LLVMDisassembler,
    build,
    convert_type,
    to_unsigned,
)

TEXT = """
define i32 @__nv_umulhi(i32 noundef %a, i32 %b) #0 {
define float @__nv_expf(float %a) local_unnamed_addr #1 {
define double @__nv_exp(double noundef %a) {
define internal float @__helper(float %a) {
define float @__nv_frexpf(float %a, ptr %b) {
define i32 @__nv_sad(i32 %a, i32 %b, i32 %c) {
declare float @llvm.fabs.f32(float)
"""


@pytest.fixture
def disassembler(tmp_path):
    """A program that is called as llvm-dis is."""
    path = tmp_path / "llvm-dis"
    path.write_text('#!/bin/sh\n[ "$1" = missing.bc ] && { echo "no such file" >&2; exit 1; }\ncp "$1" "$3"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_functions_of_one_meaning_become_one(tmp_path, disassembler) -> None:
    (tmp_path / "library.bc").write_text(TEXT)
    build(disassembler, str(tmp_path / "library.bc"), "libdevice", str(tmp_path))
    tritium.install()
    try:
        spec = importlib.util.spec_from_file_location("made", tmp_path / "libdevice.py")
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
    finally:
        alias.uninstall()
    assert sorted(n for n in vars(made) if not n.startswith("_")) == ["core", "exp", "mulhi", "sad"]
    assert list(inspect.signature(made.sad).parameters)[:3] == ["arg0", "arg1", "arg2"]

    @tritium.jit
    def kernel(x, y):
        tl.store(x, made.exp(tl.load(x)))
        tl.store(y, made.mulhi(tl.load(y), tl.load(y)).to(tl.uint32))

    source = ASTSource(kernel, {"x": "*fp64", "y": "*u32"})
    text = compile_kernel(source, GPUTarget("cuda", 90, 32), until="ttir").asm["ttir"]
    assert 'symbol = "__nv_exp"' in text and 'symbol = "__nv_umulhi"' in text


def test_symbols_have_types_of_the_language(tmp_path) -> None:
    (tmp_path / "library.ll").write_text(TEXT)
    library = Libdevice("libdevice.bc", grouping=False)
    library.parse_symbols(str(tmp_path / "library.ll"))
    assert [s.op_name for s in library.symbols.values()] == ["umulhi", "expf", "exp", "sad"]
    assert library.symbols["__nv_umulhi"].arg_types == ["uint32", "uint32"]
    assert library.symbols["__nv_sad"].arg_types == ["int32", "int32", "uint32"]
    assert (convert_type("ptr"), to_unsigned("int64"), to_unsigned("fp32")) == (None, "uint64", "fp32")
    written = [Libdevice("x", format=format) for format in (False, True)]
    for one in written:
        one.parse_symbols(str(tmp_path / "library.ll"))
        one.generate_stub_file(str(tmp_path))
        one.text = (tmp_path / "libdevice.py").read_text()
    assert written[0].text != written[1].text and "def exp(arg0, _semantic=None)" in written[1].text


def test_what_cannot_be_read_is_an_error(tmp_path, disassembler) -> None:
    with pytest.raises(ExternLibraryError, match="unknown library 'other': it is one of libdevice"):
        build(disassembler, "x", "other", str(tmp_path))
    with pytest.raises(ExternLibraryError, match="no such file"):
        build(disassembler, "missing.bc", "libdevice", str(tmp_path))
    with pytest.raises(ExternLibraryError, match="cannot be run"):
        LLVMDisassembler(str(tmp_path / "absent")).disasm("x")
    with pytest.raises(ExternLibraryError, match="has no functions"):
        Libdevice("empty.bc").generate_stub_file(str(tmp_path))
