"""Functions that a kernel calls: their symbols and order are Triton's, and none is taken for another."""

from __future__ import annotations

import fractions
import importlib.util
import re

import pytest
import scalar
from native import compile_scalar

import tritium.language as tl
from tritium.backends.nvidia.options import CUDAOptions
from tritium.conversion.ttg_to_llvm import ttg_to_llvm
from tritium.conversion.ttg_to_llvm.nvidia.target import NVIDIATarget
from tritium.frontend.aggregates import aggregate
from tritium.frontend.callee import SourceFunction
from tritium.frontend.errors import CompilationError
from tritium.frontend.visitor import ast_to_ttir
from tritium.ir import parse_module

NAMED = """\
import triton
import triton.language as tl

@triton.jit
def nothing(a):
    pass

@triton.jit
def half(x):
    nothing(x.shape[0] // 2)
    return x

@triton.jit
def each(x, functions: tl.constexpr, text: tl.constexpr):
    for i in tl.static_range(len(functions)):
        functions[i](x)

@triton.aggregate
class Pair:
    x: tl.tensor
    n: tl.constexpr

    def __init__(self, x, n):
        self.x = x
        self.n = tl.constexpr(n)

    @triton.jit
    def twice(self):
        return self.x * self.n

@triton.jit
def kernel(p):
    at = tl.arange(0, 8)
    each(half(at), [nothing, half], "its [one]")
    tl.store(p + at, Pair(at, 2).twice())
    nothing(at)
"""


def symbols(text: str) -> list[str]:
    """The calls and functions of a module in their order."""
    return re.findall(r'(?:tt\.call|tt\.func \w+) @(?:"[^"]*"|[\w.$]+)', text)


def test_symbols_and_order_are_those_of_triton(triton_oracle, tmp_path):
    """Those of functions that do nothing, too, in the module as it leaves the frontend."""
    for folder, package in (("theirs", "triton"), ("ours", "tritium")):
        (tmp_path / folder).mkdir()
        text = NAMED.replace("import triton", f"import {package}").replace("@triton", f"@{package}")
        (tmp_path / folder / "named.py").write_text(text)
    theirs = triton_oracle.first_module(tmp_path / "theirs" / "named.py", "kernel", {"p": "*i32"}, {})
    spec = importlib.util.spec_from_file_location("named", tmp_path / "ours" / "named.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert symbols(str(ast_to_ttir(module.kernel, {"p": "*i32"}))) == symbols(theirs)


def scaled(by: int) -> type:
    """A class of a name and fields that others have, too."""

    @aggregate
    class Scaled:
        x: tl.tensor

        def __init__(self, x):
            self.x = x

        @SourceFunction
        def get(self):
            return self.x * BY

    BY = tl.constexpr(by)
    return Scaled


Twofold, Tenfold = scaled(2), scaled(10)


@SourceFunction
def content(a):
    return a.get()


@SourceFunction
def made(kind: tl.constexpr, x):
    return kind(x).get()


def test_classes_of_one_name_have_different_identities():
    @SourceFunction
    def kernel(out, a):
        tl.store(out, content(Twofold(a)))
        tl.store(out + 1, content(Tenfold(a)))
        tl.store(out + 2, made(Twofold, a))
        tl.store(out + 3, made(Tenfold, a))

    out = [0] * 4
    scalar.run(compile_scalar(kernel, 7), out, 7)
    assert out == [14, 70, 14, 70]


class Divided:
    """An ordinary class, which a kernel constructs while it is compiled."""

    def __init__(self, n, by=2):
        self.part = n // by

    def times(self, k):
        return self.part * k


def test_classes_are_constructed_from_compile_time_values():
    @SourceFunction
    def kernel(out, N: tl.constexpr):
        given: tl.constexpr = Divided(N, by=4)
        tl.store(out, Divided(N).part)
        tl.store(out + 1, given.times(3))
        tl.store(out + 2, fractions.Fraction(N, 8).numerator)

    out = [0] * 3
    scalar.run(compile_scalar(kernel, N=12), out)
    assert out == [6, 9, 3]


def test_classes_are_not_constructed_from_run_time_values():
    @SourceFunction
    def kernel(out, n):
        tl.store(out, Divided(n).part)

    with pytest.raises(CompilationError, match="objects of class Divided cannot be constructed from run-time values"):
        compile_scalar(kernel, 12)


TEXT = """\
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%p: !tt.ptr<i32>) {
    %x = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
    %y = tt.call @"m.f__m.T<i32, c4>_cJITFunction(m:g)"(%x) : (tensor<128xi32, #b>) -> tensor<128xi32, #b>
    tt.return
  }
  tt.func private @"m.f__m.T<i32, c4>_cJITFunction(m:g)"(%x: tensor<128xi32, #b>) -> tensor<128xi32, #b> attributes {noinline = true} {
    tt.return %x : tensor<128xi32, #b>
  }
}
"""


def test_symbols_of_functions_that_stay_calls_are_names_for_ptxas():
    text = ttg_to_llvm(parse_module(TEXT), NVIDIATarget(90), CUDAOptions()).text
    names = re.findall(r'(?:call|define) [^@\n]*@"([^"]*)"', text)
    assert len(names) == 3 and names.count(names[1]) == 2 and all(re.fullmatch(r"[\w.$]+", name) for name in names)
