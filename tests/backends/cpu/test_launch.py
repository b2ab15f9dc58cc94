import ctypes

import numpy as np
import pytest

from tritium.backends.cpu import compile_llvm, host_target, load_kernel, load_object, make_launcher
from tritium.conversion.llvm.abi import CONTEXT, RECORD_ERROR, ErrorKind, ErrorRecord, pack_arguments


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


CALLING = """
define void @kernel(ptr %args, ptr %ctx, i64 %begin, i64 %end) {{
  %callback_at = getelementptr i8, ptr %ctx, i64 {print_callback}
  %callback = load ptr, ptr %callback_at
  %user_at = getelementptr i8, ptr %ctx, i64 {user}
  %user = load ptr, ptr %user_at
  %y_at = getelementptr i8, ptr %ctx, i64 {grid_y}
  %y = load i32, ptr %y_at
  %z_at = getelementptr i8, ptr %ctx, i64 {grid_z}
  %z = load i32, ptr %z_at
  %x = load i32, ptr %ctx
  %bounds_at = getelementptr i8, ptr %ctx, i64 {bounds_table}
  %bounds = load ptr, ptr %bounds_at
  call void %callback(ptr %user, i32 7, i32 %x, i32 %y, i32 %z, ptr %bounds, i64 %end)
  ret void
}}"""


def test_what_a_kernel_finds_in_its_context():
    seen = []
    signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int32] * 4, ctypes.c_void_p, ctypes.c_int64)
    callback = signature(lambda *values: seen.append(values))
    text = CALLING.format(**{name: field.offset for name, field in CONTEXT.items()})
    loaded = load_object(compile_llvm(text, host_target()).object)
    launch = make_launcher(
        loaded.address("kernel"), loaded, print_callback=ctypes.cast(callback, ctypes.c_void_p).value, user=1234
    )
    assert launch(0, 5, 1, 2, 1, 777) is None
    assert launch(0, 1, 1, 1) is None
    assert seen == [(1234, 7, 5, 1, 2, 777, 10), (1234, 7, 1, 1, 1, None, 1)]


def test_callbacks_from_workers():
    """Python is called from native threads while the caller waits without the GIL."""
    seen = []
    signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int32] * 4, ctypes.c_void_p, ctypes.c_int64)
    callback = signature(lambda *values: seen.append(values[-1]))
    text = CALLING.format(**{name: field.offset for name, field in CONTEXT.items()})
    loaded = load_object(compile_llvm(text, host_target()).object)
    launch = make_launcher(
        loaded.address("kernel"), loaded, print_callback=ctypes.cast(callback, ctypes.c_void_p).value
    )
    for _ in range(50):
        seen.clear()
        launch(0, 64, 1, 1)
        assert max(seen) == 64
