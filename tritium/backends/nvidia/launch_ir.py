"""The launch of a CUDA kernel as LLVM text for the host: one call from Python, which makes one call of the driver.

The state of a launcher (`launch.State`) has everything that stays the same from launch to launch, the call what
changes: where the parameters are, the grid, the stream. Parameters are one block of memory laid out as the kernel
declares them, which the driver copies.

`$name` is a number or an offset that `launch.launch_text` fills in.
"""

from __future__ import annotations

from ..native_call import python_method

__all__ = ["LAUNCH", "PYTHON"]

LAUNCH = """
@tt.recent = global [$recent_count x i64] zeroinitializer, align 64
@tt.launches = global i64 0, align 64

; Launch a grid. Returns a status of the driver, or -1 for a grid that is too large. An empty grid runs nothing.
define i32 @tt.cuda_launch(ptr %state, ptr %params, i64 %x, i64 %y, i64 %z, ptr %stream) nounwind {
entry:
  %config = alloca [$config_bytes x i8], align 8
  %extra = alloca [5 x ptr], align 8
  %size = alloca i64, align 8
  %now = alloca ptr, align 8
  %least_xy = call i64 @llvm.smin.i64(i64 %x, i64 %y)
  %least = call i64 @llvm.smin.i64(i64 %least_xy, i64 %z)
  %some = icmp sgt i64 %least, 0
  br i1 %some, label %check, label %empty
empty:
  ret i32 0
check:
  %ctas_at = getelementptr i8, ptr %state, i64 $ctas
  %ctas32 = load i32, ptr %ctas_at
  %ctas = zext i32 %ctas32 to i64
  %x_short = icmp ule i64 %x, $max_x
  %blocks = mul i64 %x, %ctas
  %blocks_fit = icmp ule i64 %blocks, $max_x
  %x_fits = and i1 %x_short, %blocks_fit
  %y_fits = icmp ule i64 %y, $max_yz
  %z_fits = icmp ule i64 %z, $max_yz
  %yz_fit = and i1 %y_fits, %z_fits
  %fits = and i1 %x_fits, %yz_fit
  br i1 %fits, label %fill, label %large
large:
  ret i32 -1
fill:
  %gx = trunc i64 %blocks to i32
  store i32 %gx, ptr %config, align 8
  %gy_at = getelementptr i8, ptr %config, i64 4
  %gy = trunc i64 %y to i32
  store i32 %gy, ptr %gy_at
  %gz_at = getelementptr i8, ptr %config, i64 8
  %gz = trunc i64 %z to i32
  store i32 %gz, ptr %gz_at
  %bx_at = getelementptr i8, ptr %config, i64 12
  %threads_at = getelementptr i8, ptr %state, i64 $threads
  %threads = load i32, ptr %threads_at
  store i32 %threads, ptr %bx_at
  %by_at = getelementptr i8, ptr %config, i64 16
  store i32 1, ptr %by_at
  %bz_at = getelementptr i8, ptr %config, i64 20
  store i32 1, ptr %bz_at
  %shared_to = getelementptr i8, ptr %config, i64 24
  %shared_at = getelementptr i8, ptr %state, i64 $shared
  %shared = load i32, ptr %shared_at
  store i32 %shared, ptr %shared_to
  %stream_at = getelementptr i8, ptr %config, i64 32
  store ptr %stream, ptr %stream_at
  %attributes_to = getelementptr i8, ptr %config, i64 40
  %attributes_at = getelementptr i8, ptr %state, i64 $attributes
  %attributes = load ptr, ptr %attributes_at
  store ptr %attributes, ptr %attributes_to
  %count_to = getelementptr i8, ptr %config, i64 48
  %count_at = getelementptr i8, ptr %state, i64 $attribute_count
  %count = load i32, ptr %count_at
  store i32 %count, ptr %count_to
  %bytes_at = getelementptr i8, ptr %state, i64 $params_bytes
  %bytes = load i64, ptr %bytes_at
  store i64 %bytes, ptr %size
  store ptr inttoptr (i64 1 to ptr), ptr %extra          ; CU_LAUNCH_PARAM_BUFFER_POINTER
  %extra1 = getelementptr ptr, ptr %extra, i64 1
  store ptr %params, ptr %extra1
  %extra2 = getelementptr ptr, ptr %extra, i64 2
  store ptr inttoptr (i64 2 to ptr), ptr %extra2         ; CU_LAUNCH_PARAM_BUFFER_SIZE
  %extra3 = getelementptr ptr, ptr %extra, i64 3
  store ptr %size, ptr %extra3
  %extra4 = getelementptr ptr, ptr %extra, i64 4
  store ptr null, ptr %extra4                            ; CU_LAUNCH_PARAM_END
  %number_at = getelementptr i8, ptr %state, i64 $number
  %number = load i64, ptr %number_at
  %turn = atomicrmw add ptr @tt.launches, i64 1 monotonic
  %slot = urem i64 %turn, $recent_count
  %recent_at = getelementptr i64, ptr @tt.recent, i64 %slot
  store atomic i64 %number, ptr %recent_at monotonic, align 8
  store ptr null, ptr %now
  %get_at = getelementptr i8, ptr %state, i64 $get_context
  %get = load ptr, ptr %get_at
  %got = call i32 %get(ptr %now)
  %current = load ptr, ptr %now
  %context_at = getelementptr i8, ptr %state, i64 $context
  %context = load ptr, ptr %context_at
  %here = icmp eq ptr %current, %context
  br i1 %here, label %plain, label %switch
plain:
  %status = call i32 @tt.cuda_call(ptr %state, ptr %config, ptr %extra)
  ret i32 %status
switch:
  %push_at = getelementptr i8, ptr %state, i64 $push_context
  %push = load ptr, ptr %push_at
  %pushed = call i32 %push(ptr %context)
  %in = icmp eq i32 %pushed, 0
  br i1 %in, label %inside, label %outside
outside:
  ret i32 %pushed
inside:
  %status_in = call i32 @tt.cuda_call(ptr %state, ptr %config, ptr %extra)
  %pop_at = getelementptr i8, ptr %state, i64 $pop_context
  %pop = load ptr, ptr %pop_at
  %popped = call i32 %pop(ptr %now)
  ret i32 %status_in
}
declare i64 @llvm.smin.i64(i64, i64)

define internal i32 @tt.cuda_call(ptr %state, ptr %config, ptr %extra) nounwind {
  %launch_at = getelementptr i8, ptr %state, i64 $launch
  %launch = load ptr, ptr %launch_at
  %function_at = getelementptr i8, ptr %state, i64 $function
  %function = load ptr, ptr %function_at
  %status = call i32 %launch(ptr %config, ptr %function, ptr null, ptr %extra)
  ret i32 %status
}
"""

PYTHON = python_method(
    "tt.cuda_launch",
    "launch(params, x, y, z, stream): five integers",
    [("ptr", "params"), ("i64", "x"), ("i64", "y"), ("i64", "z"), ("ptr", "stream")],
    required=5,
    record_bytes=0,
)
