"""The device library on GPUs: which symbol a call becomes, and that the libraries have all of them."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.frontend.dtypes import float32, float64, int32, int64, uint32, uint64
from tritium.frontend.language.libdevice_symbols import library_names, overloads
from tritium.language.extra import libdevice

NAMES = {int32: "i32", uint32: "i32", int64: "i64", uint64: "i64", float32: "f32", float64: "f64"}


@tritium.jit
def unary(x_ptr, y_ptr, NAME: tl.constexpr):
    at = tl.arange(0, 32)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, getattr(libdevice, NAME)(x))


@tritium.jit
def binary(x_ptr, y_ptr, z, NAME: tl.constexpr):
    at = tl.arange(0, 32)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, getattr(libdevice, NAME)(x, z))


def ttir(fn: Any, name: str, types: str, target: GPUTarget = GPUTarget("cuda", 90, 32)) -> str:
    return compile(
        ASTSource(fn, dict(zip(fn.arg_names, types.split())), {"NAME": name}), target=target, until="ttir"
    ).asm["ttir"]


@pytest.mark.parametrize(
    ("name", "types", "call"),
    [
        ("asin", "*fp32 *fp32", r'symbol = "__nv_asinf".*\(tensor<32xf32>\) -> tensor<32xf32>'),
        ("asin", "*fp64 *fp64", r'symbol = "__nv_asin".*\(tensor<32xf64>\) -> tensor<32xf64>'),
        ("abs", "*i64 *i64", r'symbol = "__nv_llabs"'),
        ("clz", "*i64 *i32", r'symbol = "__nv_clzll".*\(tensor<32xi64>\) -> tensor<32xi32>'),
        ("fast_dividef", "*fp32 *fp32 fp32", r'symbol = "__nv_fast_fdividef"'),
        ("pow", "*fp32 *fp32 i32", r'symbol = "__nv_powif".*\(tensor<32xf32>, tensor<32xi32>\)'),
        ("hadd", "*u32 *u32 u32", r'symbol = "__nv_uhadd"'),
        ("rcp_rz", "*fp64 *fp64", r'symbol = "__nv_drcp_rz"'),
        ("isnan", "*fp32 *i1", r'symbol = "__nv_isnanf".*-> tensor<32xi32>'),
    ],
)
def test_overload_is_selected_by_argument_types(name: str, types: str, call: str) -> None:
    text = ttir(unary if len(types.split()) == 2 else binary, name, types)
    assert re.search(call, text), text


def test_error_lists_the_overloads() -> None:
    with pytest.raises(tritium.CompilationError, match=r"asin takes \(fp32\) or \(fp64\), got \(int32\)"):
        ttir(unary, "asin", "*i32 *i32")
    with pytest.raises(tritium.CompilationError, match="asin takes 1 argument, got 2"):
        ttir(binary, "asin", "*fp32 *fp32 fp32")


def test_every_function_of_the_library_is_a_name_of_the_language() -> None:
    assert library_names("cuda") <= set(libdevice.__dict__)
    assert library_names("hip") <= library_names("cuda")
    assert library_names("cpu") == frozenset()
    assert overloads("cuda", "no_such_function") is None


def test_nvidias_library_has_every_symbol(triton_oracle: Any) -> None:
    """A symbol that is missing stays an external function in the PTX."""
    lines, arguments = [], {ty: f"%{ty}" for ty in ("i32", "i64", "f32", "f64")}
    for name in sorted(library_names("cuda")):
        found = overloads("cuda", name)
        assert found is not None
        for types, (symbol, result) in found.items():
            ir, out, n = [NAMES[t] for t in types], NAMES[result], len(lines)
            lines.append(f"""  %c{n} = arith.constant {n} : i32
  %r{n} = tt.extern_elementwise {", ".join(arguments[t] for t in ir)}
    {{libname = "", libpath = "", pure = true, symbol = "{symbol}"}} : ({", ".join(ir)}) -> {out}
  %p{n} = tt.addptr %out_{out}, %c{n} : !tt.ptr<{out}>, i32
  tt.store %p{n}, %r{n} : !tt.ptr<{out}>""")
    parameters = ", ".join([f"%out_{t}: !tt.ptr<{t}>" for t in arguments] + [f"{v}: {t}" for t, v in arguments.items()])
    text = "module {\ntt.func public @all(" + parameters + ") {\n" + "\n".join(lines) + "\n  tt.return\n}\n}\n"
    assert len(lines) > 250
    stages = triton_oracle.compile_text(text, "cuda:90")
    assert re.findall(r"\.extern \.func.*?(__\w+)", stages["ptx"], re.S) == []
