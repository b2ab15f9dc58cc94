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
    for _ in range(3):
        kernel[(2,)](out, 5)
        with pytest.raises(DeviceAssertError) as caught:
            kernel[(4,)](out, 5)
        error = caught.value
        assert (error.kernel, error.program, error.column) == ("checks", (2, 0, 0), 9)
        text = str(error)
        assert "error: device-side assertion failed: positive" in text
        assert "in kernel checks, program (2, 0, 0)" in text
        assert f"{error.line} |         assert out > 0" in text


def test_sanitizer(compiled) -> None:
    def stores(out, n):
        out[n] = 1

    METADATA["stores"] = {"sites": sites_of(stores, 1, "store", argument=0)}
    kernel = kernel_of(stores, failing(ErrorKind.STORE_OUT_OF_BOUNDS, "stores"))
    out = np.zeros(8, np.int32)
    for _ in range(3):
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
