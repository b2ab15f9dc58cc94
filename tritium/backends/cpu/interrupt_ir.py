"""Interrupting launches (Ctrl-C and other signals that Python handles), as LLVM text. See `interrupts`.

Kernels do not look for interrupts: a test in every loop would keep LLVM from optimizing it. Instead a thread, the
monitor, sends a signal (SIGURG) to threads whose call of a kernel has lasted since its last look, 50 ms before. The
handler `@tt.on_poll` runs on top of the kernel. Where the thread has a Python thread state, it takes the GIL and lets
Python handle its signals (`@tt.ask`). If that raises an exception, the launch's stop flag is set, and the handler
leaves the kernel by `longjmp` to `@tt.call`; so do the handlers of the workers that see the flag.

`longjmp` leaves only a kernel's own code, which holds no lock and no memory but its scratch buffer: the handler
compares the program counter with the address range of the kernel's image. In `malloc`, in a callback that prints, or in
a library it returns, and the monitor tries again 1 ms later.

`@tt.running` has an entry for each call of a kernel under way, 64 bytes:

| at | what |
|---|---|
| 0 | the thread (`pthread_self`); 0: the entry is free |
| 8 | the frame of `@tt.call`: what `longjmp` restores |
| 16 | the calls that used the entry, so that the monitor knows whether it has seen this one |
| 24 | the last such number that the monitor saw |
| 32 | 1 while the monitor sends a signal: the thread must not end meanwhile |
| 36 | 1 during the call |
| 40 | the error record, whose state is the stop flag |
| 48, 56 | the address range of the kernel's code |

The first entry is the main thread's, which needs no atomic operations for it (a call costs 10 ns more than without all
this, in other threads 15); calls inside of its calls, and all other threads, claim one of the rest.

`@tt.asleep` is 2 before there is a monitor, 1 while it waits for a launch, else 0.
"""

from __future__ import annotations

__all__ = ["ASK_NS", "INTERRUPTIBLE", "PLAIN", "PROGRAM_COUNTER", "RUNNING"]

#: Bytes from the beginning of `ucontext_t` to the program counter on Linux (glibc and musl).
PROGRAM_COUNTER = {"x86_64": 168, "aarch64": 440}

ASK_NS = 50_000_000

#: Entries of `@tt.running`: more than a pool has threads. A call that finds none cannot be interrupted.
RUNNING = 1280

PLAIN = """
define internal void @tt.call(ptr %kernel, ptr %args, ptr %ctx, i64 %begin, i64 %end) nounwind {
  %scratch = alloca ptr, align 8
  call void %kernel(ptr %args, ptr %ctx, i64 %begin, i64 %end, ptr %scratch)
  ret void
}
define internal void @tt.await_crew(ptr %slot, i32 %active, ptr %record) nounwind {
  call void @tt.wait(ptr %slot, i32 %active)
  ret void
}
define internal void @tt.set_range(ptr %state, ptr %ctx) nounwind {
  ret void
}
define internal void @tt.forget_calls() nounwind {
  ret void
}
"""
"""Calls of kernels that nothing interrupts: in C programs, and where there are no futexes."""

INTERRUPTIBLE = """
@tt.running = internal global [$running_bytes x i8] zeroinitializer, align 64
@tt.asleep = internal global i32 2, align 64
@tt.hurry = internal global i32 0, align 4
@tt.quiet = global i32 0, align 4
@tt.main_thread = global i64 0, align 8
@tt.poll_callback = global ptr null, align 8
@tt.handler_before = global ptr null, align 8
@tt.ask_time = internal constant [2 x i64] [i64 0, i64 $ask_ns]
declare i64 @pthread_self()
declare i32 @pthread_kill(i64, i32)
declare i32 @usleep(i32)
declare i32 @_setjmp(ptr) returns_twice
declare void @longjmp(ptr, i32) noreturn
declare void @free(ptr)
declare ptr @PyGILState_GetThisThreadState()
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare i32 @PyErr_CheckSignals()
declare ptr @PyObject_CallNoArgs(ptr)
declare void @Py_DecRef(ptr)

define internal void @tt.forget_calls() nounwind {
  call void @llvm.memset.p0.i64(ptr align 64 @tt.running, i8 0, i64 $running_bytes, i1 false)
  store i32 2, ptr @tt.asleep
  store i32 0, ptr @tt.hurry
  ret void
}

; Where the code of a launcher's kernel stands.
define internal void @tt.set_range(ptr %state, ptr %ctx) nounwind {
  %from = getelementptr i8, ptr %state, i64 40
  %to = getelementptr i8, ptr %ctx, i64 $code_at
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 16, i1 false)
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; Run programs of a kernel; it returns early where the launch is interrupted.
define internal void @tt.call(ptr %kernel, ptr %args, ptr %ctx, i64 %begin, i64 %end) noinline nounwind {
entry:
  %frame = alloca [512 x i8], align 64
  %scratch = alloca ptr, align 8
  store volatile ptr null, ptr %scratch
  %code_from = getelementptr i8, ptr %ctx, i64 $code_at
  %low = load i64, ptr %code_from
  %known = icmp ne i64 %low, 0
  br i1 %known, label %search, label %unseen
search:
  %self = call i64 @pthread_self()
  %hash = lshr i64 %self, 12
  %main = load i64, ptr @tt.main_thread
  %is_main = icmp eq i64 %self, %main
  %nested = load i32, ptr getelementptr (i8, ptr @tt.running, i64 36)
  %outermost = icmp eq i32 %nested, 0
  %own = and i1 %is_main, %outermost
  br i1 %own, label %fill, label %try
try:
  %i = phi i64 [ 0, %search ], [ %i_next, %taken ]
  %number = add i64 %hash, %i
  %ring = urem i64 %number, $claimable
  %index = add i64 %ring, 1
  %offset = shl i64 %index, 6
  %free_at = getelementptr i8, ptr @tt.running, i64 %offset
  %pair = cmpxchg ptr %free_at, i64 0, i64 %self seq_cst monotonic
  %mine = extractvalue { i64, i1 } %pair, 1
  br i1 %mine, label %fill, label %taken
taken:
  %i_next = add i64 %i, 1
  %more = icmp ult i64 %i_next, $claimable
  br i1 %more, label %try, label %unseen
unseen:
  call void %kernel(ptr %args, ptr %ctx, i64 %begin, i64 %end, ptr %scratch)
  ret void
fill:
  %entry_at = phi ptr [ @tt.running, %search ], [ %free_at, %try ]
  store atomic i64 %self, ptr %entry_at monotonic, align 8
  %frame_at = getelementptr i8, ptr %entry_at, i64 8
  store ptr %frame, ptr %frame_at
  %serial_at = getelementptr i8, ptr %entry_at, i64 16
  %serial = load i64, ptr %serial_at
  %serial_next = add i64 %serial, 1
  store atomic i64 %serial_next, ptr %serial_at monotonic, align 8
  %record_from = getelementptr i8, ptr %ctx, i64 $error_at
  %record = load ptr, ptr %record_from
  %record_at = getelementptr i8, ptr %entry_at, i64 40
  store ptr %record, ptr %record_at
  %range_at = getelementptr i8, ptr %entry_at, i64 48
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %range_at, ptr align 8 %code_from, i64 16, i1 false)
  %active_at = getelementptr i8, ptr %entry_at, i64 36
  store atomic i32 1, ptr %active_at release, align 4
  %asleep = load atomic i32, ptr @tt.asleep monotonic, align 4
  %watched = icmp eq i32 %asleep, 0
  br i1 %watched, label %begin_call, label %rouse
rouse:
  call void @tt.rouse_monitor(i32 %asleep)
  br label %begin_call
begin_call:
  %jumped = call i32 @_setjmp(ptr %frame) returns_twice
  %direct = icmp eq i32 %jumped, 0
  br i1 %direct, label %run, label %left
run:
  call void %kernel(ptr %args, ptr %ctx, i64 %begin, i64 %end, ptr %scratch)
  br label %done
left:
  %buffer = load volatile ptr, ptr %scratch
  call void @free(ptr %buffer)
  br label %done
done:
  store atomic i32 0, ptr %active_at release, align 4
  %kept = icmp eq ptr %entry_at, @tt.running
  br i1 %kept, label %out, label %release
release:
  %before = atomicrmw xchg ptr %entry_at, i64 0 seq_cst
  %pinned_at = getelementptr i8, ptr %entry_at, i64 32
  br label %unpin
unpin:
  %pinned = load atomic i32, ptr %pinned_at seq_cst, align 4
  %held = icmp ne i32 %pinned, 0
  br i1 %held, label %unpin, label %out
out:
  ret void
}

define internal void @tt.rouse_monitor(i32 %asleep) cold noinline nounwind {
entry:
  %thread = alloca ptr, align 8
  %all = alloca [128 x i8], align 16
  %old = alloca [128 x i8], align 16
  %pair = cmpxchg ptr @tt.asleep, i32 %asleep, i32 0 seq_cst monotonic
  %mine = extractvalue { i32, i1 } %pair, 1
  br i1 %mine, label %first, label %out
first:
  %none = icmp eq i32 %asleep, 2
  br i1 %none, label %make, label %wake
wake:
  call void @tt.wake(ptr @tt.asleep, i32 1)
  br label %out
make:
  %a = call i32 @sigfillset(ptr %all)
  %b = call i32 @pthread_sigmask(i32 $setmask, ptr %all, ptr %old)
  %bad = call i32 @pthread_create(ptr %thread, ptr null, ptr @tt.monitor, ptr null)
  %c = call i32 @pthread_sigmask(i32 $setmask, ptr %old, ptr null)
  %ok = icmp eq i32 %bad, 0
  br i1 %ok, label %detach, label %out
detach:
  %handle = load ptr, ptr %thread
  %d = call i32 @pthread_detach(ptr %handle)
  br label %out
out:
  ret void
}

; Signal every call that was under way at the last look; sleep after 20 looks (a second) without any.
define internal ptr @tt.monitor(ptr %unused) nounwind {
entry:
  br label %round
round:
  %idle = phi i32 [ 0, %entry ], [ %idle_next, %judge ], [ 0, %rest ]
  %hurry = load atomic i32, ptr @tt.hurry monotonic, align 4
  %hurries = icmp sgt i32 %hurry, 0
  br i1 %hurries, label %soon, label %later
soon:
  %less = atomicrmw sub ptr @tt.hurry, i32 1 monotonic
  %e = call i32 @usleep(i32 1000)
  br label %look
later:
  %f = call i32 @usleep(i32 50000)
  br label %look
look:
  %i = phi i64 [ 0, %soon ], [ 0, %later ], [ %i_next, %following ]
  %any = phi i1 [ false, %soon ], [ false, %later ], [ %any_next, %following ]
  %offset = shl i64 %i, 6
  %entry_at = getelementptr i8, ptr @tt.running, i64 %offset
  %active_at = getelementptr i8, ptr %entry_at, i64 36
  %active = load atomic i32, ptr %active_at acquire, align 4
  %used = icmp ne i32 %active, 0
  %any_next = or i1 %any, %used
  br i1 %used, label %compare, label %following
compare:
  %serial_at = getelementptr i8, ptr %entry_at, i64 16
  %serial = load atomic i64, ptr %serial_at monotonic, align 8
  %last_at = getelementptr i8, ptr %entry_at, i64 24
  %last = load i64, ptr %last_at
  store i64 %serial, ptr %last_at
  %lasting = icmp eq i64 %serial, %last
  br i1 %lasting, label %pin, label %following
pin:
  %pinned_at = getelementptr i8, ptr %entry_at, i64 32
  store atomic i32 1, ptr %pinned_at seq_cst, align 4
  %thread = load atomic i64, ptr %entry_at seq_cst, align 8
  %there = icmp ne i64 %thread, 0
  br i1 %there, label %send, label %unpin
send:
  %g = call i32 @pthread_kill(i64 %thread, i32 $signal)
  br label %unpin
unpin:
  store atomic i32 0, ptr %pinned_at seq_cst, align 4
  br label %following
following:
  %i_next = add i64 %i, 1
  %more = icmp ult i64 %i_next, $running_entries
  br i1 %more, label %look, label %judge
judge:
  %idle_more = add i32 %idle, 1
  %idle_next = select i1 %any_next, i32 0, i32 %idle_more
  %tired = icmp sgt i32 %idle_next, 20
  br i1 %tired, label %lie_down, label %round
lie_down:
  store atomic i32 1, ptr @tt.asleep seq_cst, align 4
  %j = call i32 @usleep(i32 1000)                       ; a call that has not seen that is seen below
  br label %check
check:
  %k = phi i64 [ 0, %lie_down ], [ %k_next, %check_next ]
  %k_offset = shl i64 %k, 6
  %k_from = getelementptr i8, ptr @tt.running, i64 %k_offset
  %k_at = getelementptr i8, ptr %k_from, i64 36
  %k_active = load atomic i32, ptr %k_at seq_cst, align 4
  %k_used = icmp ne i32 %k_active, 0
  br i1 %k_used, label %rest, label %check_next
check_next:
  %k_next = add i64 %k, 1
  %k_more = icmp ult i64 %k_next, $running_entries
  br i1 %k_more, label %check, label %sleep
sleep:
  call void @tt.wait(ptr @tt.asleep, i32 1)
  br label %rest
rest:
  %h = cmpxchg ptr @tt.asleep, i32 1, i32 0 seq_cst monotonic
  br label %round
}

; Let Python handle signals: 1 if that raised an exception, which stays set.
define internal i32 @tt.ask() nounwind {
entry:
  %quiet = load atomic i32, ptr @tt.quiet monotonic, align 4
  %callback = load ptr, ptr @tt.poll_callback
  %ends = icmp ne i32 %quiet, 0
  br i1 %ends, label %no, label %take
take:
  %gil = call i32 @PyGILState_Ensure()
  %raised = call i32 @PyErr_CheckSignals()
  %fine = icmp eq i32 %raised, 0
  br i1 %fine, label %more, label %release
more:
  %given = icmp ne ptr %callback, null
  br i1 %given, label %call, label %release
call:
  %result = call ptr @PyObject_CallNoArgs(ptr %callback)
  %good = icmp ne ptr %result, null
  br i1 %good, label %drop, label %release
drop:
  call void @Py_DecRef(ptr %result)
  br label %release
release:
  %answer = phi i32 [ 1, %take ], [ 0, %more ], [ 1, %call ], [ 0, %drop ]
  call void @PyGILState_Release(i32 %gil)
  ret i32 %answer
no:
  ret i32 0
}

; Stop a launch: no more programs begin, and the monitor looks every millisecond for two seconds.
define internal void @tt.stop(ptr %record) nounwind {
  %pair = cmpxchg ptr %record, i32 0, i32 1 acq_rel monotonic
  store atomic i32 2000, ptr @tt.hurry monotonic, align 4
  ret void
}

; Let Python handle its signals where it knows this thread; whether that ended the launch.
define internal i1 @tt.ask_and_stop(ptr %record) nounwind {
  %python = call ptr @PyGILState_GetThisThreadState()
  %known = icmp ne ptr %python, null
  br i1 %known, label %ask, label %no
ask:
  %raised = call i32 @tt.ask()
  %end = icmp ne i32 %raised, 0
  br i1 %end, label %stop, label %no
stop:
  call void @tt.stop(ptr %record)
  ret i1 true
no:
  ret i1 false
}

; Wait until workers have left a slot, in slices between which Python handles its signals.
define internal void @tt.await_crew(ptr %slot, i32 %active, ptr %record) nounwind {
entry:
  %r = call i64 (i64, ...) @syscall(i64 $futex, ptr %slot, i32 128, i32 %active, ptr @tt.ask_time, ptr null, i32 0)
  %now = load atomic i32, ptr %slot acquire, align 4
  %same = icmp eq i32 %now, %active
  br i1 %same, label %look, label %out
look:
  %stopped = load atomic i32, ptr %record monotonic, align 4
  %going = icmp eq i32 %stopped, 0
  br i1 %going, label %ask, label %out
ask:
  %ended = call i1 @tt.ask_and_stop(ptr %record)
  br label %out
out:
  ret void
}

; The handler of the monitor's signal.
define void @tt.on_poll(i32 %signal, ptr %info, ptr %context) nounwind {
entry:
  %counter_at = getelementptr i8, ptr %context, i64 $counter
  %counter = load i64, ptr %counter_at
  %self = call i64 @pthread_self()
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %i_next, %following ]
  %mine = phi i1 [ false, %entry ], [ %mine_next, %following ]
  %best = phi ptr [ null, %entry ], [ %best_next, %following ]
  %lowest = phi i64 [ -1, %entry ], [ %lowest_next, %following ]
  %offset = shl i64 %i, 6
  %entry_at = getelementptr i8, ptr @tt.running, i64 %offset
  %thread = load atomic i64, ptr %entry_at monotonic, align 8
  %active_at = getelementptr i8, ptr %entry_at, i64 36
  %active = load atomic i32, ptr %active_at monotonic, align 4
  %runs = icmp ne i32 %active, 0
  %same = icmp eq i64 %thread, %self
  %own = and i1 %same, %runs
  %mine_next = or i1 %mine, %own
  %frame_at = getelementptr i8, ptr %entry_at, i64 8
  %frame = load i64, ptr %frame_at
  %low_at = getelementptr i8, ptr %entry_at, i64 48
  %low = load i64, ptr %low_at
  %high_at = getelementptr i8, ptr %entry_at, i64 56
  %high = load i64, ptr %high_at
  %above = icmp uge i64 %counter, %low
  %below = icmp ult i64 %counter, %high
  %deeper = icmp ult i64 %frame, %lowest                ; the innermost of nested launches
  %inside = and i1 %above, %below
  %candidate = and i1 %own, %inside
  %better = and i1 %candidate, %deeper
  %best_next = select i1 %better, ptr %entry_at, ptr %best
  %lowest_next = select i1 %better, i64 %frame, i64 %lowest
  br label %following
following:
  %i_next = add i64 %i, 1
  %more = icmp ult i64 %i_next, $running_entries
  br i1 %more, label %look, label %judge
judge:
  %found = icmp ne ptr %best_next, null
  br i1 %found, label %state, label %elsewhere
elsewhere:
  br i1 %mine_next, label %again, label %chain
again:                                                  ; in a library, or in Python: try again soon
  %hurry = atomicrmw max ptr @tt.hurry, i32 2 monotonic
  ret void
chain:
  %before = load ptr, ptr @tt.handler_before
  %some = icmp ne ptr %before, null
  br i1 %some, label %pass, label %out
pass:
  call void %before(i32 %signal, ptr %info, ptr %context)
  br label %out
state:
  %record_at = getelementptr i8, ptr %best_next, i64 40
  %record = load ptr, ptr %record_at
  %stopped = load atomic i32, ptr %record monotonic, align 4
  %going = icmp eq i32 %stopped, 0
  br i1 %going, label %ask, label %leave
ask:
  %ended = call i1 @tt.ask_and_stop(ptr %record)
  br i1 %ended, label %leave, label %out
leave:
  %jump_at = getelementptr i8, ptr %best_next, i64 8
  %jump = load ptr, ptr %jump_at
  call void @longjmp(ptr %jump, i32 1)
  unreachable
out:
  ret void
}
"""
"""Calls of kernels that Python's signals interrupt: on Linux, in CPython."""
