"""The LLVM text around an exported kernel: threads, errors, and the C interface.

Every object contains a copy of the code, and all objects of a program share one pool: variables and exported functions
are weak, so that the linker keeps one of each. Their names end with a hash of the pool's text, so that only copies that
agree share anything.

`$name` is what `export` fills in.
"""

from __future__ import annotations

__all__ = ["COUNT_LINUX", "COUNT_OTHER", "REQUEST_AMX", "RUNTIME", "TELL"]

RUNTIME = """
@tritium.started.$key = weak_odr hidden global i32 0, align 4
@tritium.error.$key = weak_odr hidden thread_local global [512 x i8] zeroinitializer
@tritium.environment = internal constant [20 x i8] c"TRITIUM_NUM_THREADS\\00"
@tritium.format = internal constant [28 x i8] c"%s, in program (%d, %d, %d)\\00"
declare i32 @pthread_atfork(ptr, ptr, ptr)
declare ptr @getenv(ptr)
declare i32 @atoi(ptr)
declare i32 @snprintf(ptr, i64, ptr, ...)

; Once in a program: as many threads as the process has cores, or as TRITIUM_NUM_THREADS says.
define internal void @tritium.begin() nounwind {
  %seen = load atomic i32, ptr @tritium.started.$key acquire, align 4
  %begun = icmp ne i32 %seen, 0
  br i1 %begun, label %out, label %claim
claim:
  %pair = cmpxchg ptr @tritium.started.$key, i32 0, i32 1 acq_rel acquire
  %mine = extractvalue { i32, i1 } %pair, 1
  br i1 %mine, label %ask, label %out
ask:
  call void @tt.init()
  %forked = call i32 @pthread_atfork(ptr null, ptr null, ptr @tt.reset)
  $request_amx
  %text = call ptr @getenv(ptr @tritium.environment)
  %said = icmp ne ptr %text, null
  br i1 %said, label %read, label %count
read:
  %number = call i32 @atoi(ptr %text)
  %some = icmp sgt i32 %number, 0
  br i1 %some, label %set, label %count
count:
  %cores = call i32 @tritium.cores()
  br label %set
set:
  %threads = phi i32 [ %number, %read ], [ %cores, %count ]
  call void @tritium.limit(i32 %threads)
  br label %out
out:
  ret void
}

define internal void @tritium.limit(i32 %threads) nounwind {
  %least = call i32 @llvm.smax.i32(i32 %threads, i32 1)
  %fit = call i32 @llvm.smin.i32(i32 %least, i32 $most_threads)
  %helpers = sub i32 %fit, 1
  %limit = getelementptr i8, ptr @tt.pool, i64 $limit
  store atomic i32 %helpers, ptr %limit monotonic, align 4
  ret void
}
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.smin.i32(i32, i32)

define weak_odr void @tritium_set_num_threads(i32 %count) nounwind {
  call void @tritium.begin()
  call void @tritium.limit(i32 %count)
  ret void
}

define weak_odr ptr @tritium_last_error() nounwind {
  ret ptr @tritium.error.$key
}

; Run a grid. 0: all went well; 1: no such grid; 2: a program stopped, and the message says why.
define internal i32 @tritium.run(ptr %state, ptr %args, i64 %x, i64 %y, i64 %z, i64 %threads, ptr %sites) nounwind {
entry:
  %record = alloca [$record_bytes x i8], align 8
  %xy_least = call i64 @llvm.smin.i64(i64 %x, i64 %y)
  %least = call i64 @llvm.smin.i64(i64 %xy_least, i64 %z)
  %some = icmp sgt i64 %least, 0
  br i1 %some, label %measure, label %done
measure:
  %xy = call i64 @llvm.smax.i64(i64 %x, i64 %y)
  %most = call i64 @llvm.smax.i64(i64 %xy, i64 %z)
  %fits = icmp sle i64 %most, 2147483647
  br i1 %fits, label %go, label %wrong
wrong:
  ret i32 1
go:
  call void @tritium.begin()
  %failed = call i32 @tt.launch(ptr %state, ptr %args, i64 %x, i64 %y, i64 %z, i64 %threads, ptr null, ptr %record)
  %fine = icmp eq i32 %failed, 0
  br i1 %fine, label %done, label %tell
done:
  ret i32 0
tell:
  %site_at = getelementptr i8, ptr %record, i64 $site
  %site = load i32, ptr %site_at
  %text_at = getelementptr ptr, ptr %sites, i32 %site
  %text = load ptr, ptr %text_at
  %x_at = getelementptr i8, ptr %record, i64 $program_x
  %px = load i32, ptr %x_at
  %y_at = getelementptr i8, ptr %record, i64 $program_y
  %py = load i32, ptr %y_at
  %z_at = getelementptr i8, ptr %record, i64 $program_z
  %pz = load i32, ptr %z_at
  $tell
  ret i32 2
}
declare i64 @llvm.smax.i64(i64, i64)

; A number rounded to bf16, ties to even, in the low bits.
define internal i64 @tritium.bf16(float %value) nounwind {
  %bits = bitcast float %value to i32
  %size = and i32 %bits, 2147483647
  %nan = icmp ugt i32 %size, 2139095040
  %high = lshr i32 %bits, 16
  %quiet = or i32 %high, 64
  %odd = and i32 %high, 1
  %half = add i32 %odd, 32767
  %up = add i32 %bits, %half
  %rounded = lshr i32 %up, 16
  %number = select i1 %nan, i32 %quiet, i32 %rounded
  %wide = zext i32 %number to i64
  ret i64 %wide
}

; A number rounded to fp16, ties to even, in the low bits. Below 2^-14 it is counted in 2^-24, which is the unit in the
; last place of 2^23 in fp32.
define internal i64 @tritium.fp16(float %value) nounwind {
  %bits = bitcast float %value to i32
  %high = lshr i32 %bits, 16
  %sign = and i32 %high, 32768
  %size = and i32 %bits, 2147483647
  %nan = icmp ugt i32 %size, 2139095040
  %kept = lshr i32 %size, 13
  %payload = and i32 %kept, 1023
  %quiet = or i32 %payload, 32256
  %positive = bitcast i32 %size to float
  %scaled = fmul float %positive, 0x4170000000000000
  %counted = fadd float %scaled, 0x4160000000000000
  %counted_bits = bitcast float %counted to i32
  %subnormal = sub i32 %counted_bits, 1258291200
  %odd = and i32 %kept, 1
  %half = add i32 %odd, 4095
  %up = add i32 %size, %half
  %large = icmp uge i32 %up, 1199570944
  %rebased = sub i32 %up, 939524096
  %shifted = lshr i32 %rebased, 13
  %finite = select i1 %large, i32 31744, i32 %shifted
  %small = icmp ult i32 %size, 947912704
  %number = select i1 %small, i32 %subnormal, i32 %finite
  %magnitude = select i1 %nan, i32 %quiet, i32 %number
  %all = or i32 %sign, %magnitude
  %wide = zext i32 %all to i64
  ret i64 %wide
}
"""

#: The message of an error.
TELL = (
    "%length = call i32 (ptr, i64, ptr, ...) @snprintf(ptr @tritium.error.$key, i64 512, ptr @tritium.format, "
    "ptr %text, i32 %px, i32 %py, i32 %pz)"
)

#: How many processors the process may use: those of its affinity, and no more than a container's share of time is
#: worth (cgroup v2, where "max" is no number).
COUNT_LINUX = """
@tritium.quota.path = internal constant [23 x i8] c"/sys/fs/cgroup/cpu.max\\00"
@tritium.quota.mode = internal constant [2 x i8] c"r\\00"
@tritium.quota.format = internal constant [8 x i8] c"%ld %ld\\00"
declare ptr @fopen(ptr, ptr)
declare i32 @fscanf(ptr, ptr, ...)
declare i32 @fclose(ptr)
define internal i64 @tritium.quota(i64 %cores) nounwind {
  %allowed_at = alloca i64, align 8
  %period_at = alloca i64, align 8
  %file = call ptr @fopen(ptr @tritium.quota.path, ptr @tritium.quota.mode)
  %none = icmp eq ptr %file, null
  br i1 %none, label %free, label %scan
scan:
  %read = call i32 (ptr, ptr, ...) @fscanf(ptr %file, ptr @tritium.quota.format, ptr %allowed_at, ptr %period_at)
  %closed = call i32 @fclose(ptr %file)
  %both = icmp eq i32 %read, 2
  br i1 %both, label %check, label %free
check:
  %allowed = load i64, ptr %allowed_at
  %period = load i64, ptr %period_at
  %sane = icmp sgt i64 %period, 0
  br i1 %sane, label %divide, label %free
divide:
  %up = add i64 %allowed, %period
  %less = sub i64 %up, 1
  %worth = sdiv i64 %less, %period
  %some = call i64 @llvm.smax.i64(i64 %worth, i64 1)
  %few = call i64 @llvm.smin.i64(i64 %some, i64 %cores)
  ret i64 %few
free:
  ret i64 %cores
}

declare i32 @sched_getaffinity(i32, i64, ptr)
declare i64 @llvm.ctpop.i64(i64)
define internal i32 @tritium.cores() nounwind {
entry:
  %set = alloca [128 x i8], align 8
  call void @llvm.memset.p0.i64(ptr align 8 %set, i8 0, i64 128, i1 false)
  %failed = call i32 @sched_getaffinity(i32 0, i64 128, ptr %set)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i64, ptr %set, i64 %i
  %word = load i64, ptr %at
  %ones = call i64 @llvm.ctpop.i64(i64 %word)
  %more = add i64 %sum, %ones
  %next = add i64 %i, 1
  %left = icmp ult i64 %next, 16
  br i1 %left, label %loop, label %out
out:
  %worth = call i64 @tritium.quota(i64 %more)
  %count = trunc i64 %worth to i32
  ret i32 %count
}
"""
COUNT_OTHER = """
declare i64 @sysconf(i32)
define internal i32 @tritium.cores() nounwind {
  %count = call i64 @sysconf(i32 58)                     ; _SC_NPROCESSORS_ONLN of macOS
  %narrow = trunc i64 %count to i32
  ret i32 %narrow
}
"""

#: Linux grants AMX tiles only on request: see `amx`.
REQUEST_AMX = "%granted = call i64 (i64, ...) @syscall(i64 158, i64 4131, i64 18)"
