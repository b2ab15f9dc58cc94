import ctypes

import numpy as np
import pytest

from tritium.backends.cpu import compile_llvm, host_target, load_kernel
from tritium.conversion.llvm.abi import RECORD_ERROR, ErrorKind, ErrorRecord, pack_arguments


def _address(buffer):
    return ctypes.addressof((ctypes.c_char * len(buffer)).from_buffer(buffer))


@pytest.mark.parametrize("size", [1, 100, 1023, 1024, 1025, 5000])
def test_vector_add(texts, size, rng):
    kernel = load_kernel(compile_llvm(texts.vector_add_text(), host_target()), "kernel")
    x, y = (rng.standard_normal(size, dtype=np.float32) for _ in range(2))
    out = np.full(size + 16, 7, np.float32)
    args = pack_arguments(x.ctypes.data, y.ctypes.data, out.ctypes.data, size)
    assert kernel.launch(_address(args), -(-size // 1024), 1, 1) is None
    assert (out[:size] == x + y).all() and (out[size:] == 7).all()


FAILING = f"""{RECORD_ERROR}
define void @kernel(ptr %args, ptr %ctx, i64 %begin, i64 %end) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %x = trunc i64 %i to i32
  call void @tt.record_error(ptr %ctx, i32 3, i32 17, i32 %x, i32 5, i32 6, i64 1000, i64 -2, i64 10, i64 20)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}"""


def test_first_error_is_reported():
    kernel = load_kernel(compile_llvm(FAILING, host_target()), "kernel")
    record = ErrorRecord.from_bytes(kernel.launch(0, 4, 1, 1, 1))
    assert record == ErrorRecord(ErrorKind.STORE_OUT_OF_BOUNDS, 17, (0, 5, 6), 1000, -2, 10, 20)
    with pytest.raises(ValueError, match="56 bytes"):
        ErrorRecord.from_bytes(b"")


def test_empty_grid_does_nothing():
    kernel = load_kernel(compile_llvm(FAILING, host_target()), "kernel")
    for grid in ((0, 1, 1), (1, 0, 1), (3, 2, 0)):
        assert kernel.launch(0, *grid) is None
