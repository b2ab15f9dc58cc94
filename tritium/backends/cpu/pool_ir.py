"""The thread pool and the launch path, as LLVM text: there is no C compiler at run time.

Shared memory is one global, `@tt.pool`:

- `sequence` counts launches; idle workers sleep on it. `sleepers` says whether waking is worth a system call.
- `limit` is how many workers a launch may use at most, `workers` how many exist, `growing` guards making more.
- `slots`: a launch in progress owns one; a worker helps with any slot that is open. A launch that finds no free
  slot runs its whole grid itself.

A slot's `gate` is one 64-bit word, `open:1 | tokens:31 | active:32`, so that joining (open and a token left: take it
and count as active), closing and leaving are single atomic steps; the owner returns only when nobody is active.
Programs are handed out in order, in chunks of `remaining / parts` (at least one): few steps on the shared counter, and
small chunks at the end, where balance is decided.

How long a program takes is remembered per kernel (`cost`, in 1/256 ns, from the last launch). A grid expected to take
less than `ALONE_NS` is not worth calling anybody for: the caller runs it alone, in quarters, and calls for help
after all if the clock says that the expectation was wrong. The limit is lower while workers are still awake. For the
same reason a launch calls no more workers than one for each `SHARE_NS` of work. Where nobody came in time (the other
cores are busy, or deep asleep), the next 1, 3, 7, ... 63 launches of that kernel do not call, if they are expected to
take less than `PATIENT_NS` and all workers are asleep; nor where help made the launch no shorter than expected alone.

The caller wakes two sleepers and each worker that joins wakes two more while the launch wants them, because waking
takes the waker 2 to 5 us each. It does so before it joins: between joining and claiming a chunk it makes no system
call, so the owner waits only for chunks that have been started.

Where the other cores are busy, the scheduler wakes a worker on the core of the launching thread, which it preempts.
Such a worker sleeps for `NAP_NS` before it joins: the owner continues at once and has finished a short launch by then,
while a long one gets its help. It does not spin afterwards either, as that would be the owner's time.

Waiting is a Linux futex; elsewhere one mutex and one condition variable stand in for all addresses.
"""

from __future__ import annotations

import signal

from ...conversion.llvm.abi import CONTEXT, CONTEXT_BYTES, ERROR_RECORD_BYTES
from .crash import SIGNALS, crash_text
from .interrupt_ir import ASK_NS, INTERRUPTIBLE, PLAIN, PROGRAM_COUNTER, RUNNING
from .launch_ir import LAUNCH, PYTHON

__all__ = ["LIMIT_OFFSET", "SLOTS", "STATE_BYTES", "POLL_SIGNAL", "pool_text"]

SLOTS = 16
#: What the monitor sends (see `interrupt_ir`): ignored where nobody handles it, and hardly used by anybody.
POLL_SIGNAL = signal.SIGURG
SLOT_BYTES = 192  # gate, constants, the owner's core | next | padding: 64-byte lines of their own
OWNER_CPU_OFFSET = 48  # in a slot
SLOTS_OFFSET = 256
POOL_BYTES = SLOTS_OFFSET + SLOTS * SLOT_BYTES
SEQUENCE_OFFSET, SLEEPERS_OFFSET, WORKERS_OFFSET, LIMIT_OFFSET, GROWING_OFFSET = 0, 64, 128, 132, 136

STATE_BYTES = 56  # of a launcher: kernel, print callback, cost, user, skip and backoff (32 bits each), range of code

# Measured 2026-11 on a VM with 2 vCPUs, 64 KiB of vector add in 64 programs (4.2 us alone): 3.5 us with a worker still
# awake, 13 us with one to wake (which arrives 30 us later). 256 programs (30 us alone): 16 us and 35 us. On 16
# cores of Emerald Rapids the first grid (8 us alone) took 10 to 13 us with workers awake, the second (80 us alone) 22.
ALONE_NS, ALONE_NS_AWAKE, SHARE_NS, PATIENT_NS = 20_000, 10_000, 2_500, 250_000
NAP_NS = 100_000  # several wake-ups (5 to 30 us each), and a tenth of what a scheduler's time slice is at least
_STACK_BYTES = 8 << 20  # musl and macOS give threads far less than a kernel's scratch may want

# Iterations of a worker's loop before it sleeps: 10 us on Zen 5, 50 us on Emerald Rapids (whose PAUSE is longer): more
# than the gap between back-to-back launches, and too short to be seen as load.
_SPINS = {"x86_64": 1000, "aarch64": 10_000}
_PAUSE = {
    "x86_64": ("declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"),
    "aarch64": ("declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"),
}
_FUTEX_NUMBER = {"x86_64": 202, "aarch64": 98}


def pool_text(arch: str, futex: bool, clock: int, sig_setmask: int, python: bool) -> str:
    """The module. `clock` is CLOCK_MONOTONIC, `sig_setmask` is SIG_SETMASK; `python` adds the C-API entry point, and
    with `futex` that launches can be interrupted."""
    interruptible = python and futex
    declare_pause, pause = _PAUSE[arch]
    parts = [
        declare_pause,
        _WAIT_FUTEX.replace("$number", str(_FUTEX_NUMBER[arch])) if futex else _WAIT_CONDITION,
        _WORKERS.replace("$pause", pause).replace("$spins", str(_SPINS[arch])).replace("$setmask", str(sig_setmask)),
        LAUNCH.replace("$pause", pause).replace("$spins", str(_SPINS[arch])).replace("$clock", str(clock)),
    ]
    parts += [INTERRUPTIBLE if interruptible else PLAIN, crash_text()]
    if python:
        parts.append(PYTHON)
    text = "\n".join(parts)
    numbers = {
        "$pool_bytes": POOL_BYTES,
        "$sleepers": SLEEPERS_OFFSET,
        "$workers": WORKERS_OFFSET,
        "$limit": LIMIT_OFFSET,
        "$growing": GROWING_OFFSET,
        "$slots_at": SLOTS_OFFSET,
        "$slot_bytes": SLOT_BYTES,
        "$slot_count": SLOTS,
        "$owner_cpu": OWNER_CPU_OFFSET,
        "$context_bytes": CONTEXT_BYTES,
        "$record_bytes": ERROR_RECORD_BYTES,
        "$error_at": CONTEXT["error_record"].offset,
        "$print_at": CONTEXT["print_callback"].offset,
        "$bounds_at": CONTEXT["bounds_table"].offset,
        "$user_at": CONTEXT["user"].offset,
        "$alone_ns": ALONE_NS,
        "$alone_cost": ALONE_NS * 256,
        "$awake_cost": ALONE_NS_AWAKE * 256,
        "$share_cost": SHARE_NS * 256,
        "$patient_cost": PATIENT_NS * 256,
        "$nap_ns": NAP_NS,
        "$stack_bytes": _STACK_BYTES,
        # a fault whose signal is blocked ends the process at once, whatever handlers are installed
        "$own_faults": "\n".join(
            f"  %f{n:d} = call i32 @sigdelset(ptr %all, i32 {n:d})" for n in (*SIGNALS, *[POLL_SIGNAL] * interruptible)
        ),
        "$ask_ns": ASK_NS,
        "$running_bytes": RUNNING * 64,
        "$running_entries": RUNNING,
        "$claimable": RUNNING - 1,  # the first is the main thread's
        "$code_at": CONTEXT["code_begin"].offset,
        "$setmask": sig_setmask,
        "$signal": int(POLL_SIGNAL),
        "$futex": _FUTEX_NUMBER[arch],
        "$counter": PROGRAM_COUNTER[arch],
    }
    for name in sorted(numbers, key=len, reverse=True):
        text = text.replace(name, str(numbers[name]))
    return text


_WAIT_FUTEX = """
declare i64 @syscall(i64, ...)
declare i32 @sched_getcpu()
@tt.nap_time = internal constant [2 x i64] [i64 0, i64 $nap_ns]

define internal i32 @tt.cpu() nounwind {
  %r = call i32 @sched_getcpu()
  ret i32 %r
}
define internal void @tt.nap(ptr %word, i32 %seen) nounwind {
  %r = call i64 (i64, ...) @syscall(i64 $number, ptr %word, i32 128, i32 %seen, ptr @tt.nap_time, ptr null, i32 0)
  ret void
}

define void @tt.init() {
  ret void
}
define internal void @tt.wait(ptr %word, i32 %seen) nounwind {      ; FUTEX_WAIT_PRIVATE
  %r = call i64 (i64, ...) @syscall(i64 $number, ptr %word, i32 128, i32 %seen, ptr null, ptr null, i32 0)
  ret void
}
define internal void @tt.wake(ptr %word, i32 %count) nounwind {     ; FUTEX_WAKE_PRIVATE
  %r = call i64 (i64, ...) @syscall(i64 $number, ptr %word, i32 129, i32 %count, ptr null, ptr null, i32 0)
  ret void
}
"""

_WAIT_CONDITION = """
@tt.mutex = internal global [128 x i8] zeroinitializer, align 64
@tt.condition = internal global [128 x i8] zeroinitializer, align 64
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)

define internal i32 @tt.cpu() nounwind {                           ; unknown
  ret i32 -1
}
define internal void @tt.nap(ptr %word, i32 %seen) nounwind {      ; never called: no core is known to be the owner's
  ret void
}
define void @tt.init() {
  %a = call i32 @pthread_mutex_init(ptr @tt.mutex, ptr null)
  %b = call i32 @pthread_cond_init(ptr @tt.condition, ptr null)
  ret void
}
define internal void @tt.wait(ptr %word, i32 %seen) nounwind {
  %a = call i32 @pthread_mutex_lock(ptr @tt.mutex)
  %now = load atomic i32, ptr %word seq_cst, align 4
  %same = icmp eq i32 %now, %seen
  br i1 %same, label %sleep, label %done
sleep:
  %b = call i32 @pthread_cond_wait(ptr @tt.condition, ptr @tt.mutex)
  br label %done
done:
  %c = call i32 @pthread_mutex_unlock(ptr @tt.mutex)
  ret void
}
define internal void @tt.wake(ptr %word, i32 %count) nounwind {
  %a = call i32 @pthread_mutex_lock(ptr @tt.mutex)
  %b = call i32 @pthread_cond_broadcast(ptr @tt.condition)
  %c = call i32 @pthread_mutex_unlock(ptr @tt.mutex)
  ret void
}
"""

_WORKERS = """
@tt.pool = global [$pool_bytes x i8] zeroinitializer, align 64
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(ptr)
declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i32 @sigdelset(ptr, i32)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; In a child of fork: the workers did not come along, and locks may have been held by threads that are gone.
define void @tt.reset() {
  %limit_at = getelementptr i8, ptr @tt.pool, i64 $limit
  %limit = load i32, ptr %limit_at
  call void @llvm.memset.p0.i64(ptr align 64 @tt.pool, i8 0, i64 $pool_bytes, i1 false)
  store i32 %limit, ptr %limit_at
  call void @tt.forget_calls()
  call void @tt.init()
  ret void
}

; Hand out chunks of a slot until none is left or a program failed. Returns the number of programs run here.
define internal i64 @tt.run_chunks(ptr %slot) nounwind {
entry:
  %kernel_at = getelementptr i8, ptr %slot, i64 8
  %kernel = load ptr, ptr %kernel_at
  %args_at = getelementptr i8, ptr %slot, i64 16
  %args = load ptr, ptr %args_at
  %ctx_at = getelementptr i8, ptr %slot, i64 24
  %ctx = load ptr, ptr %ctx_at
  %total_at = getelementptr i8, ptr %slot, i64 32
  %total = load i64, ptr %total_at
  %parts_at = getelementptr i8, ptr %slot, i64 40
  %parts = load i64, ptr %parts_at
  %record_at = getelementptr i8, ptr %ctx, i64 $error_at
  %record = load ptr, ptr %record_at
  %next_at = getelementptr i8, ptr %slot, i64 64
  br label %take
take:
  %done = phi i64 [ 0, %entry ], [ %done, %claim ], [ %done_now, %run ]
  %begin = load atomic i64, ptr %next_at monotonic, align 8
  %left = sub i64 %total, %begin
  %some = icmp sgt i64 %left, 0
  br i1 %some, label %claim, label %out
claim:
  %share = udiv i64 %left, %parts
  %chunk = call i64 @llvm.umax.i64(i64 %share, i64 1)
  %end = add i64 %begin, %chunk
  %pair = cmpxchg ptr %next_at, i64 %begin, i64 %end monotonic monotonic
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %check, label %take
check:
  %failed = load atomic i32, ptr %record monotonic, align 4
  %fine = icmp eq i32 %failed, 0
  br i1 %fine, label %run, label %out
run:
  call void @tt.call(ptr %kernel, ptr %args, ptr %ctx, i64 %begin, i64 %end)
  %done_now = add i64 %done, %chunk
  br label %take
out:
  ret i64 %done
}
declare i64 @llvm.umax.i64(i64, i64)

; Wake two workers, if any sleeps.
define internal void @tt.rouse() nounwind {
  %sleepers_at = getelementptr i8, ptr @tt.pool, i64 $sleepers
  %sleepers = load atomic i32, ptr %sleepers_at seq_cst, align 4
  %asleep = icmp sgt i32 %sleepers, 0
  br i1 %asleep, label %wake, label %done
wake:
  call void @tt.wake(ptr @tt.pool, i32 2)
  br label %done
done:
  ret void
}

; Help with one slot if it wants help: 1. 0 if it does not, 2 if its owner runs on this core and the worker has not
; %rested. Until it has joined, the worker may be preempted at no cost to the owner.
define internal i32 @tt.help(ptr %slot, i1 %rested) nounwind {
entry:
  %first = load atomic i64, ptr %slot acquire, align 8
  %here = call i1 @tt.wanted(i64 %first, i64 0)
  br i1 %here, label %locate, label %no
locate:
  %cpu = call i32 @tt.cpu()
  %cpu_at = getelementptr i8, ptr %slot, i64 $owner_cpu
  %owner_cpu = load atomic i32, ptr %cpu_at monotonic, align 4
  %same = icmp eq i32 %cpu, %owner_cpu
  %known = icmp sge i32 %cpu, 0
  %tired = xor i1 %rested, true
  %known_same = and i1 %same, %known
  %preempts = and i1 %known_same, %tired
  br i1 %preempts, label %decline, label %others
decline:
  ret i32 2
others:
  %more = call i1 @tt.wanted(i64 %first, i64 1)
  br i1 %more, label %pass_on, label %look
pass_on:
  call void @tt.rouse()
  br label %look
look:
  %gate = phi i64 [ %first, %others ], [ %first, %pass_on ], [ %other, %join ]
  %wanted = call i1 @tt.wanted(i64 %gate, i64 0)
  br i1 %wanted, label %join, label %no
join:
  %joined = add i64 %gate, -4294967295                  ; one token less, one active more
  %pair = cmpxchg ptr %slot, i64 %gate, i64 %joined acquire monotonic
  %other = extractvalue { i64, i1 } %pair, 0
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %run, label %look
run:
  %n = call i64 @tt.run_chunks(ptr %slot)
  %before = atomicrmw sub ptr %slot, i64 1 acq_rel
  %after = sub i64 %before, 1
  %closed = icmp sge i64 %after, 0
  %active = trunc i64 %after to i32
  %last = icmp eq i32 %active, 0
  %tell = and i1 %closed, %last
  br i1 %tell, label %signal, label %yes
signal:
  call void @tt.wake(ptr %slot, i32 1)
  br label %yes
yes:
  ret i32 1
no:
  ret i32 0
}

; Whether a gate is open and has more than %count tokens.
define internal i1 @tt.wanted(i64 %gate, i64 %count) nounwind alwaysinline {
  %open = icmp slt i64 %gate, 0
  %shifted = lshr i64 %gate, 32
  %tokens = and i64 %shifted, 2147483647
  %enough = icmp ugt i64 %tokens, %count
  %both = and i1 %open, %enough
  ret i1 %both
}

define internal ptr @tt.worker(ptr %unused) nounwind {
entry:
  %sleepers = getelementptr i8, ptr @tt.pool, i64 $sleepers
  br label %round
round:
  %rested = phi i1 [ false, %entry ], [ %rested, %idle ], [ true, %nap ], [ false, %spin ], [ false, %sleep ]
  %seen = load atomic i32, ptr @tt.pool seq_cst, align 4
  br label %scan
scan:
  %i = phi i64 [ 0, %round ], [ %i_next, %scan ]
  %busy = phi i1 [ false, %round ], [ %busy_next, %scan ]
  %declined = phi i1 [ false, %round ], [ %declined_next, %scan ]
  %offset = mul i64 %i, $slot_bytes
  %at = add i64 %offset, $slots_at
  %slot = getelementptr i8, ptr @tt.pool, i64 %at
  %answer = call i32 @tt.help(ptr %slot, i1 %rested)
  %helped = icmp eq i32 %answer, 1
  %busy_next = or i1 %busy, %helped
  %refused = icmp eq i32 %answer, 2
  %declined_next = or i1 %declined, %refused
  %i_next = add i64 %i, 1
  %more = icmp ult i64 %i_next, $slot_count
  br i1 %more, label %scan, label %idle
idle:
  br i1 %busy_next, label %round, label %rest
rest:
  br i1 %declined_next, label %nap, label %settle
nap:
  %n1 = atomicrmw add ptr %sleepers, i32 1 seq_cst
  call void @tt.nap(ptr @tt.pool, i32 %seen)
  %n2 = atomicrmw sub ptr %sleepers, i32 1 seq_cst
  br label %round
settle:
  br i1 %rested, label %sleep, label %spin
spin:
  %k = phi i32 [ 0, %settle ], [ %k_next, %spin_more ]
  %now = load atomic i32, ptr @tt.pool monotonic, align 4
  %moved = icmp ne i32 %now, %seen
  br i1 %moved, label %round, label %spin_more
spin_more:
  $pause
  %k_next = add i32 %k, 1
  %again = icmp ult i32 %k_next, $spins
  br i1 %again, label %spin, label %sleep
sleep:
  %s1 = atomicrmw add ptr %sleepers, i32 1 seq_cst
  call void @tt.wait(ptr @tt.pool, i32 %seen)
  %s2 = atomicrmw sub ptr %sleepers, i32 1 seq_cst
  br label %round
}

; Make workers until there are %wanted, as far as the system lets us. Signals are for Python's threads, not for these.
define internal void @tt.grow(i32 %wanted) cold noinline nounwind {
entry:
  %thread = alloca ptr
  %attributes = alloca [128 x i8], align 16
  %all = alloca [128 x i8], align 16
  %old = alloca [128 x i8], align 16
  %workers_at = getelementptr i8, ptr @tt.pool, i64 $workers
  %growing = getelementptr i8, ptr @tt.pool, i64 $growing
  %claim = cmpxchg ptr %growing, i32 0, i32 1 acquire monotonic
  %mine = extractvalue { i32, i1 } %claim, 1
  br i1 %mine, label %begin, label %out
begin:
  %a = call i32 @sigfillset(ptr %all)
$own_faults
  %b = call i32 @pthread_sigmask(i32 $setmask, ptr %all, ptr %old)
  %c = call i32 @pthread_attr_init(ptr %attributes)
  %d = call i32 @pthread_attr_setstacksize(ptr %attributes, i64 $stack_bytes)
  br label %loop
loop:
  %have = load atomic i32, ptr %workers_at monotonic, align 4
  %enough = icmp sge i32 %have, %wanted
  br i1 %enough, label %end, label %make
make:
  %bad = call i32 @pthread_create(ptr %thread, ptr %attributes, ptr @tt.worker, ptr null)
  %ok = icmp eq i32 %bad, 0
  br i1 %ok, label %count, label %end
count:
  %handle = load ptr, ptr %thread
  %e = call i32 @pthread_detach(ptr %handle)
  %f = add i32 %have, 1
  store atomic i32 %f, ptr %workers_at monotonic, align 4
  br label %loop
end:
  %g = call i32 @pthread_attr_destroy(ptr %attributes)
  %h = call i32 @pthread_sigmask(i32 $setmask, ptr %old, ptr null)
  store atomic i32 0, ptr %growing release, align 4
  br label %out
out:
  ret void
}
"""
