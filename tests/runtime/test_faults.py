"""What running kernels report: assertions, accesses out of bounds, the option and the setting that ask for it."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
from tests.runtime.fake import METADATA, kernel_of, program, record_pid
from tritium import knobs
from tritium.conversion.llvm.abi import ErrorKind
from tritium.runtime import DeviceAssertError, SanitizerError


def failing(kind: ErrorKind, name: str):
    """A kernel whose program 2 records an error at site 1: element 5 of the tile, at lower + 40."""
    store = "\n".join(
        f"  %p{i} = getelementptr i8, ptr %r, i64 {offset}\n  store {ty} {value}, ptr %p{i}"
        for i, (offset, ty, value) in enumerate(
            [(0, "i32", 1), (4, "i32", int(kind)), (8, "i32", 1), (12, "i32", "%pid32"), (16, "i32", 0), (20, "i32", 0),
             (24, "i64", "%bad"), (32, "i64", 5), (40, "i64", "%lo"), (48, "i64", "%hi")]
        )
    )  # fmt: skip
    body = f"""
  %is = icmp eq i64 %pid, 2
  br i1 %is, label %fail, label %fine
fail:
  %pid32 = trunc i64 %pid to i32
  %rp = getelementptr i8, ptr %ctx, i64 16
  %r = load ptr, ptr %rp
  %bp = getelementptr i8, ptr %ctx, i64 32
  %b = load ptr, ptr %bp
  %nobounds = icmp eq ptr %b, null
  %table = select i1 %nobounds, ptr %args, ptr %b
  %lo = load i64, ptr %table
  %hp = getelementptr i64, ptr %table, i64 1
  %hi = load i64, ptr %hp
  %bad = add i64 %lo, 40
{store}
  br label %fine
fine:"""
    return lambda signature, constants: program(body, "", name)


def sites_of(function, line: int, kind: str, **details):
    source = tritium.jit(function).source
    site = {"kind": kind, "file": source.file.rsplit("/", 1)[-1], "line": source.def_line + line, "column": 9}
    return [{"kind": "load"}, {**site, "details": details}]


def test_device_assert(compiled) -> None:
    def checks(out, n):
        assert out > 0, "positive"

    METADATA["checks"] = {"sites": sites_of(checks, 1, "assert", message="positive")}
    kernel = kernel_of(checks, failing(ErrorKind.ASSERT, "checks"))
    out = np.zeros(4, np.int32)
    for _ in range(2):
        kernel[(2,)](out, 5)
        with pytest.raises(DeviceAssertError) as caught:
            kernel[(4,)](out, 5)
        error = caught.value
        assert (error.kernel, error.program, error.column) == ("checks", (2, 0, 0), 9)
        text = str(error)
        assert "error: device assertion failed: positive" in text
        assert "in kernel checks, program (2, 0, 0)" in text
        assert f"{error.line} |         assert out > 0" in text


def test_sanitizer(compiled) -> None:
    def stores(out, n):
        out[n] = 1

    METADATA["stores"] = {"sites": sites_of(stores, 1, "store", argument=0)}
    kernel = kernel_of(stores, failing(ErrorKind.STORE_OUT_OF_BOUNDS, "stores"))
    out = np.zeros(8, np.int32)
    for _ in range(2):
        with pytest.raises(SanitizerError) as caught:
            kernel[(4,)](out, 5, sanitize=True)
        error = caught.value
        assert (error.access, error.argument, error.index, error.count) == ("store", "out", 10, 8)
        assert (error.lower, error.upper) == (out.ctypes.data, out.ctypes.data + 32)
        assert error.program == (2, 0, 0)
        assert "out-of-bounds store of 'out': index 10, allowed are 0 to 8 (exclusive); element 5 of the tile" in str(
            error
        )
        assert "out[n] = 1" in str(error)


def test_sanitize_by_setting(compiled) -> None:
    def set_by_env(out):
        pass

    kernel = kernel_of(set_by_env, record_pid("set_by_env"))
    out = np.zeros(4, np.int32)
    with knobs.runtime.scope():
        knobs.runtime.sanitize = True
        assert kernel[(1,)](out).metadata.sanitize is True
    assert kernel[(1,)](out).metadata.sanitize is False


def test_a_replaced_source_is_compiled_anew():
    @tritium.jit
    def kernel(x):
        tl.store(x, FIRST)  # noqa: F821

    x = np.zeros(1, np.int32)
    template = kernel.src
    for value in (3, 4):
        kernel._unsafe_update_src(template.replace("FIRST", str(value)))
        kernel[(1,)](x)
        assert x[0] == value
        assert kernel.hash == kernel.cache_key
    with pytest.raises(SyntaxError):
        kernel._unsafe_update_src("1 + 1")


def test_a_function_names_the_kernel():
    def name(specialization):
        ones = [k for k, v in specialization.constants.items() if v == 1]
        return f"kernel_{specialization.signature['n']}_{'_'.join(ones)}"

    @tritium.jit(repr=name)
    def kernel(x, n, one, m: tl.constexpr):
        tl.store(x, n + one + m)

    x = np.zeros(1, np.int64)
    compiled = kernel[(1,)](x, 5, 1, 1)
    assert compiled.name == "kernel_i32_one_m"
    assert "@kernel_i32_one_m(" in compiled.asm["ttir"]
    assert x[0] == 7


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_an_integer_of_more_than_64_bits(value):
    @tritium.jit
    def kernel(x, n):
        tl.store(x, n)

    with pytest.raises(OverflowError, match="argument 'n'.*64 bits"):
        kernel[(1,)](np.zeros(1, np.int64), value)


def test_options_may_be_dicts_and_hooks_see_them_all():
    seen = []

    @tritium.jit
    def kernel(x):
        tl.store(x, 1)

    with knobs.runtime.scope():
        knobs.runtime.jit_post_compile_hook = lambda **event: seen.append(event["compile"])
        for _ in range(2):
            kernel[(1,)](np.zeros(1, np.int32), extern_libs={"lib": "path"}, num_warps=8)
    assert len(seen) == 1
    assert seen[0]["extern_libs"] == (("lib", "path"),)
    assert seen[0]["num_warps"] == 8 and seen[0]["enable_fp_fusion"] is True
