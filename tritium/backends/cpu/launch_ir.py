"""The launch path as LLVM text: how a grid is run, and the function that CPython calls. See `pool_ir`.

`$name` is a number that `pool_ir.pool_text` fills in.
"""

from __future__ import annotations

from ...conversion.llvm.abi import ERROR_RECORD_BYTES
from ..native_call import python_method

__all__ = ["LAUNCH", "PYTHON"]

LAUNCH = """
declare i32 @clock_gettime(i32, ptr)
declare i64 @llvm.smin.i64(i64, i64)

define internal i64 @tt.now() nounwind {
  %t = alloca [2 x i64]
  %r = call i32 @clock_gettime(i32 $clock, ptr %t)
  %s = load i64, ptr %t
  %n_at = getelementptr i8, ptr %t, i64 8
  %n = load i64, ptr %n_at
  %ns = mul i64 %s, 1000000000
  %sum = add i64 %ns, %n
  ret i64 %sum
}

; Run programs first..total of a kernel with up to %helpers workers; false if no slot was free.
define internal i1 @tt.parallel(ptr %state, ptr %args, ptr %ctx, i64 %first, i64 %total, i64 %helpers) nounwind {
entry:
  br label %find
find:
  %i = phi i64 [ 0, %entry ], [ %i_next, %find_next ]
  %offset = mul i64 %i, $slot_bytes
  %at = add i64 %offset, $slots_at
  %slot = getelementptr i8, ptr @tt.pool, i64 %at
  %owner = getelementptr i8, ptr %slot, i64 56
  %pair = cmpxchg ptr %owner, i32 0, i32 1 acquire monotonic
  %won = extractvalue { i32, i1 } %pair, 1
  br i1 %won, label %fill, label %find_next
find_next:
  %i_next = add i64 %i, 1
  %more = icmp ult i64 %i_next, $slot_count
  br i1 %more, label %find, label %none
none:
  ret i1 false
fill:
  %wanted = trunc i64 %helpers to i32
  %workers_at = getelementptr i8, ptr @tt.pool, i64 $workers
  %workers = load atomic i32, ptr %workers_at monotonic, align 4
  %few = icmp slt i32 %workers, %wanted
  br i1 %few, label %grow, label %write
grow:
  call void @tt.grow(i32 %wanted)
  br label %write
write:
  %kernel = load ptr, ptr %state
  %kernel_at = getelementptr i8, ptr %slot, i64 8
  store ptr %kernel, ptr %kernel_at
  %args_at = getelementptr i8, ptr %slot, i64 16
  store ptr %args, ptr %args_at
  %ctx_at = getelementptr i8, ptr %slot, i64 24
  store ptr %ctx, ptr %ctx_at
  %total_at = getelementptr i8, ptr %slot, i64 32
  store i64 %total, ptr %total_at
  %crew = add i64 %helpers, 1
  %parts = mul i64 %crew, 3
  %parts_at = getelementptr i8, ptr %slot, i64 40
  store i64 %parts, ptr %parts_at
  %cpu = call i32 @tt.cpu()
  %cpu_at = getelementptr i8, ptr %slot, i64 $owner_cpu
  store atomic i32 %cpu, ptr %cpu_at monotonic, align 4
  %next_at = getelementptr i8, ptr %slot, i64 64
  store atomic i64 %first, ptr %next_at monotonic, align 8
  %tokens = shl i64 %helpers, 32
  %gate = or i64 %tokens, -9223372036854775808
  store atomic i64 %gate, ptr %slot seq_cst, align 8
  %seq = atomicrmw add ptr @tt.pool, i32 1 seq_cst
  %cost_at = getelementptr i8, ptr %state, i64 16
  %cost = load atomic i64, ptr %cost_at monotonic, align 8
  %start = call i64 @tt.now()
  call void @tt.rouse()
  %t0 = call i64 @tt.now()
  %n = call i64 @tt.run_chunks(ptr %slot)
  %t1 = call i64 @tt.now()
  %closing = atomicrmw and ptr %slot, i64 4294967295 acq_rel       ; no longer open, no token left
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %learn, label %wait
learn:
  call void @tt.learn(ptr %state, i64 %t0, i64 %t1, i64 %n)
  br label %wait
wait:
  %k = phi i32 [ 0, %write ], [ 0, %learn ], [ %k_next, %wait_spin ], [ %k, %wait_sleep ]
  %active = load atomic i32, ptr %slot acquire, align 4            ; the low half of the gate
  %quiet = icmp eq i32 %active, 0
  br i1 %quiet, label %finish, label %wait_more
wait_more:
  %patient = icmp ult i32 %k, $spins
  br i1 %patient, label %wait_spin, label %wait_sleep
wait_spin:
  $pause
  %k_next = add i32 %k, 1
  br label %wait
wait_sleep:
  %record_at = getelementptr i8, ptr %ctx, i64 $error_at
  %record = load ptr, ptr %record_at
  call void @tt.await_crew(ptr %slot, i32 %active, ptr %record)
  br label %wait
finish:
  store atomic i32 0, ptr %owner release, align 4
  %t2 = call i64 @tt.now()
  %wall = sub i64 %t2, %start
  %wall_cost = shl i64 %wall, 8
  %whole = sub i64 %total, %first
  %expected = mul i64 %whole, %cost
  %slower = icmp ugt i64 %wall_cost, %expected
  %known = icmp ne i64 %cost, 0
  %wasted = and i1 %slower, %known
  %unhelped = icmp eq i64 %n, %whole
  %useless = or i1 %unhelped, %wasted
  %backoff_at = getelementptr i8, ptr %state, i64 36
  %backoff = load atomic i32, ptr %backoff_at monotonic, align 4
  %doubled = shl i32 %backoff, 1
  %longer = or i32 %doubled, 1
  %capped = and i32 %longer, 63
  %backoff_next = select i1 %useless, i32 %capped, i32 0
  store atomic i32 %backoff_next, ptr %backoff_at monotonic, align 4
  %skip_at = getelementptr i8, ptr %state, i64 32
  store atomic i32 %backoff_next, ptr %skip_at monotonic, align 4
  ret i1 true
}

; cost = (t1 - t0) * 256 / n, at least 1: 0 means unknown
define internal void @tt.learn(ptr %state, i64 %t0, i64 %t1, i64 %n) nounwind {
  %ns = sub i64 %t1, %t0
  %scaled = shl i64 %ns, 8
  %each = udiv i64 %scaled, %n
  %cost = call i64 @llvm.umax.i64(i64 %each, i64 1)
  %cost_at = getelementptr i8, ptr %state, i64 16
  store atomic i64 %cost, ptr %cost_at monotonic, align 8
  ret void
}

; The whole grid on this thread, in quarters. Returns how many programs ran: fewer than all if it takes so long that
; help would be worth its price.
define internal i64 @tt.alone(ptr %state, ptr %args, ptr %ctx, i64 %total, i64 %patience) nounwind {
entry:
  %kernel = load ptr, ptr %state
  %record_at = getelementptr i8, ptr %ctx, i64 $error_at
  %record = load ptr, ptr %record_at
  %quarter = udiv i64 %total, 4
  %chunk = call i64 @llvm.umax.i64(i64 %quarter, i64 1)
  %t0 = call i64 @tt.now()
  br label %loop
loop:
  %begin = phi i64 [ 0, %entry ], [ %end, %check ]
  %t = phi i64 [ %t0, %entry ], [ %t1, %check ]
  %spent = sub i64 %t, %t0
  %slow = icmp ugt i64 %spent, %patience
  br i1 %slow, label %out, label %run
run:
  %stop = add i64 %begin, %chunk
  %end = call i64 @llvm.smin.i64(i64 %stop, i64 %total)
  call void @tt.call(ptr %kernel, ptr %args, ptr %ctx, i64 %begin, i64 %end)
  %t1 = call i64 @tt.now()
  call void @tt.learn(ptr %state, i64 %t0, i64 %t1, i64 %end)
  %failed = load atomic i32, ptr %record monotonic, align 4
  %fine = icmp eq i32 %failed, 0
  br i1 %fine, label %check, label %skip
check:
  %more = icmp slt i64 %end, %total
  br i1 %more, label %loop, label %skip
skip:
  ret i64 %total
out:
  ret i64 %begin
}

; Run a grid. Returns the state of the error record: 0 if all went well.
define i32 @tt.launch(ptr %state, ptr %args, i64 %x, i64 %y, i64 %z, i64 %threads, ptr %bounds, ptr %record) nounwind {
entry:
  %ctx = alloca [$context_bytes x i8], align 64
  call void @llvm.memset.p0.i64(ptr align 8 %record, i8 0, i64 $record_bytes, i1 false)
  %xy_least = call i64 @llvm.smin.i64(i64 %x, i64 %y)
  %least = call i64 @llvm.smin.i64(i64 %xy_least, i64 %z)
  %some = icmp sgt i64 %least, 0
  br i1 %some, label %prepare, label %empty
empty:
  ret i32 0
prepare:
  %xy = mul i64 %x, %y
  %total = mul i64 %xy, %z
  %x32 = trunc i64 %x to i32
  %y32 = trunc i64 %y to i32
  %z32 = trunc i64 %z to i32
  store i32 %x32, ptr %ctx
  %y_at = getelementptr i8, ptr %ctx, i64 4
  store i32 %y32, ptr %y_at
  %z_at = getelementptr i8, ptr %ctx, i64 8
  store i32 %z32, ptr %z_at
  %reserved_at = getelementptr i8, ptr %ctx, i64 12
  store i32 0, ptr %reserved_at
  %record_at = getelementptr i8, ptr %ctx, i64 $error_at
  store ptr %record, ptr %record_at
  %callback_from = getelementptr i8, ptr %state, i64 8
  %callback = load ptr, ptr %callback_from
  %callback_at = getelementptr i8, ptr %ctx, i64 $print_at
  store ptr %callback, ptr %callback_at
  %bounds_at = getelementptr i8, ptr %ctx, i64 $bounds_at
  store ptr %bounds, ptr %bounds_at
  %user_from = getelementptr i8, ptr %state, i64 24
  %user = load ptr, ptr %user_from
  %user_at = getelementptr i8, ptr %ctx, i64 $user_at
  store ptr %user, ptr %user_at
  call void @tt.set_range(ptr %state, ptr %ctx)
  %single = icmp eq i64 %total, 1
  br i1 %single, label %one, label %several
several:
  %limit_at = getelementptr i8, ptr @tt.pool, i64 $limit
  %limit32 = load atomic i32, ptr %limit_at monotonic, align 4
  %limit = sext i32 %limit32 to i64
  %asked = add i64 %threads, -1
  %unasked = icmp sle i64 %threads, 0
  %want = select i1 %unasked, i64 %limit, i64 %asked
  %allowed = call i64 @llvm.smin.i64(i64 %want, i64 %limit)
  %others = add i64 %total, -1
  %helpers = call i64 @llvm.smin.i64(i64 %allowed, i64 %others)
  %helpless = icmp sle i64 %helpers, 0
  br i1 %helpless, label %one, label %judge
one:
  %kernel = load ptr, ptr %state
  call void @tt.call(ptr %kernel, ptr %args, ptr %ctx, i64 0, i64 %total)
  br label %done
judge:
  %cost_at = getelementptr i8, ptr %state, i64 16
  %cost = load atomic i64, ptr %cost_at monotonic, align 8
  %known = icmp ne i64 %cost, 0
  %scaled_cost = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %cost, i64 %total)
  %expected = extractvalue { i64, i1 } %scaled_cost, 0
  %huge = extractvalue { i64, i1 } %scaled_cost, 1
  %workers_at = getelementptr i8, ptr @tt.pool, i64 $workers
  %workers = load atomic i32, ptr %workers_at monotonic, align 4
  %sleepers_at = getelementptr i8, ptr @tt.pool, i64 $sleepers
  %sleepers = load atomic i32, ptr %sleepers_at monotonic, align 4
  %somebody = icmp sgt i32 %workers, %sleepers
  %enough = select i1 %somebody, i64 $awake_cost, i64 $alone_cost
  %short = icmp ult i64 %expected, %enough
  %sized = xor i1 %huge, true
  %telling = and i1 %known, %sized
  %alone = and i1 %short, %telling
  %useful = udiv i64 %expected, $share_cost
  %useful_some = call i64 @llvm.umax.i64(i64 %useful, i64 1)
  %few = call i64 @llvm.smin.i64(i64 %helpers, i64 %useful_some)
  %crew = select i1 %telling, i64 %few, i64 %helpers
  br i1 %alone, label %serial, label %weigh
weigh:
  %skip_at = getelementptr i8, ptr %state, i64 32
  %skip = load atomic i32, ptr %skip_at monotonic, align 4
  %skipping = icmp sgt i32 %skip, 0
  %brief = icmp ult i64 %expected, $patient_cost
  %soon = and i1 %brief, %telling
  %asleep = xor i1 %somebody, true
  %vain = and i1 %skipping, %asleep
  %lonely = and i1 %soon, %vain
  br i1 %lonely, label %skip_one, label %share
skip_one:
  %skip_next = add i32 %skip, -1
  store atomic i32 %skip_next, ptr %skip_at monotonic, align 4
  br label %serial
serial:
  %expected_ns = lshr i64 %expected, 7
  %patience = call i64 @llvm.umax.i64(i64 %expected_ns, i64 $alone_ns)      ; twice what is expected
  %ran = call i64 @tt.alone(ptr %state, ptr %args, ptr %ctx, i64 %total, i64 %patience)
  %all = icmp sge i64 %ran, %total
  br i1 %all, label %done, label %share
share:
  %first = phi i64 [ 0, %weigh ], [ %ran, %serial ]
  %shared = call i1 @tt.parallel(ptr %state, ptr %args, ptr %ctx, i64 %first, i64 %total, i64 %crew)
  br i1 %shared, label %done, label %rest
rest:
  %kernel_too = load ptr, ptr %state
  call void @tt.call(ptr %kernel_too, ptr %args, ptr %ctx, i64 %first, i64 %total)
  br label %done
done:
  %result = load atomic i32, ptr %record acquire, align 4
  ret i32 %result
}
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)
"""

PYTHON = python_method(
    "tt.launch",
    "launch(args, grid_x, grid_y, grid_z, num_threads=0, bounds=0): integers",
    [("ptr", "args"), ("i64", "x"), ("i64", "y"), ("i64", "z"), ("i64", "threads"), ("ptr", "bounds")],
    required=4,
    record_bytes=ERROR_RECORD_BYTES,
)
