"""`kernel[grid](...)` of a kind seen before, from Python's call to the driver's, as LLVM text (see `text`).

The callee is an object (`@tt.call` is its vectorcall) that holds a grid and the address of a table of plans. A plan
(`native.Plan`) describes one kind of launch: for each argument a guard, which checks it and stores its bits, and the
launcher's part. Guards are checked in order; if one fails the next plan is tried, and after the last one Python
(`slow`), which launches and makes a plan. Nothing is allocated.
"""

from __future__ import annotations

__all__ = ["CALL"]

CALL = """
@PyTuple_Type = external global i8
@PyLong_Type = external global i8
@_Py_TrueStruct = external global i8
@_Py_NoneStruct = external global i8
@tt.miss = internal constant i64 0
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare void @PyErr_Clear()
declare ptr @PyErr_Occurred()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyBytes_FromStringAndSize(ptr, i64)
declare i64 @PyBytes_Size(ptr)
declare ptr @PyBytes_AsString(ptr)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare i64 @PyLong_AsUnsignedLongLong(ptr)
declare i64 @PyLong_AsUnsignedLongLongMask(ptr)
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyLong_FromLong(i64)
declare double @PyFloat_AsDouble(ptr)
declare i32 @PyObject_RichCompareBool(ptr, ptr, i32)
declare ptr @PyObject_GetAttr(ptr, ptr)
declare i32 @PyCallable_Check(ptr)
declare i32 @PyUnicode_Compare(ptr, ptr)
declare ptr @PyDict_Copy(ptr)
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare ptr @PyDict_GetItem(ptr, ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @_PyObject_GC_New(ptr)
declare void @PyObject_GC_Track(ptr)
declare void @PyObject_GC_UnTrack(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; vectorcall of a kernel with a grid
define ptr @tt.call(ptr %bound, ptr %values, i64 %flagged, ptr %list) {
entry:
  %given = and i64 %flagged, 9223372036854775807      ; without PY_VECTORCALL_ARGUMENTS_OFFSET
  %table = get ptr %bound.table
  %plain = icmp eq ptr %list, null
  br i1 %plain, label %next, label %named
named:
  %listed = get i64 %list.count
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ 0, %named ], [ %j, %other ]
  %keywords = phi i64 [ 0, %entry ], [ %listed, %named ], [ %keywords, %other ]
  %at = getelementptr ptr, ptr %table, i64 %i
  %plan = load ptr, ptr %at
  %none = icmp eq ptr %plan, null
  br i1 %none, label %slow, label %shape
shape:
  %positional = get i64 %plan.positional
  %names = get i64 %plan.keywords
  %same_count = icmp eq i64 %positional, %given
  %same_names = icmp eq i64 %names, %keywords
  %alike = and i1 %same_count, %same_names
  br i1 %alike, label %spelled, label %other
spelled:
  %k = phi i64 [ 0, %shape ], [ %k_next, %name ], [ %k_next, %compare ]
  %more = icmp ult i64 %k, %keywords
  br i1 %more, label %name, label %run
name:
  %items = getelementptr i8, ptr %list, i64 24
  %name_at = getelementptr ptr, ptr %items, i64 %k
  %name_here = load ptr, ptr %name_at
  %known_at0 = get ptr %plan.keyword_names
  %known_at = getelementptr ptr, ptr %known_at0, i64 %k
  %name_known = load ptr, ptr %known_at
  %same = icmp eq ptr %name_here, %name_known
  %k_next = add i64 %k, 1
  br i1 %same, label %spelled, label %compare
compare:                                               ; the same name may be another object
  %order = call i32 @PyUnicode_Compare(ptr %name_here, ptr %name_known)
  %equal = icmp eq i32 %order, 0
  br i1 %equal, label %spelled, label %other
run:
  %owner = get ptr %plan.owner
  call void @Py_IncRef(ptr %owner)
  %grid = get ptr %bound.grid
  %total = add i64 %positional, %keywords
  %result = call ptr @tt.run(ptr %plan, ptr %values, i64 %total, ptr %grid)
  call void @Py_DecRef(ptr %owner)
  %missed = icmp eq ptr %result, @tt.miss
  br i1 %missed, label %other, label %done
done:
  %first = icmp eq i64 %i, 0
  br i1 %first, label %out, label %forward
forward:                                               ; move a plan that fits one position to the front
  %before = getelementptr ptr, ptr %at, i64 -1
  %still = load ptr, ptr %at
  %unchanged = icmp eq ptr %still, %plan
  br i1 %unchanged, label %swap, label %out
swap:
  %neighbour = load ptr, ptr %before
  store ptr %plan, ptr %before
  store ptr %neighbour, ptr %at
  br label %out
out:
  ret ptr %result
other:
  %j = add i64 %i, 1
  %left = icmp ult i64 %j, $plans
  br i1 %left, label %next, label %slow
slow:
  %given_all = add i64 %given, %keywords
  %places = add i64 %given_all, 1
  %copy = alloca ptr, i64 %places, align 8
  %slow_grid = get ptr %bound.grid
  store ptr %slow_grid, ptr %copy
  %rest = getelementptr ptr, ptr %copy, i64 1
  %size = shl i64 %given_all, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %rest, ptr %values, i64 %size, i1 false)
  %function = get ptr %table.slow
  %with_grid = add i64 %given, 1
  %answer = call ptr @tt.vectorcall(ptr %function, ptr %copy, i64 %with_grid, ptr %list)
  ret ptr %answer
}

; One plan: its kernel, null where something was raised, or @tt.miss.
define internal ptr @tt.run(ptr %plan, ptr %values, i64 %total, ptr %grid) {
entry:
  %bytes = get i64 %plan.bytes
  %frame_bytes = add i64 %bytes, $head
  %frame = alloca i8, i64 %frame_bytes, align 64
  %generation_at = get ptr %plan.generation_at
  %now = load ptr, ptr %generation_at
  %known = get ptr %plan.generation
  %current = icmp eq ptr %now, %known
  br i1 %current, label %begin, label %miss
miss:
  ret ptr @tt.miss
begin:
  put i64 0, %frame.stream
  %params = getelementptr i8, ptr %frame, i64 $head
  %template = get ptr %plan.template
  call void @llvm.memcpy.p0.p0.i64(ptr %params, ptr %template, i64 %bytes, i1 false)
  %odd = call i32 @tt.sizes(ptr %grid, ptr %frame)
  %plain = icmp eq i32 %odd, 0
  br i1 %plain, label %check, label %before
check:
  %misfit = call i32 @tt.guards(ptr %plan, ptr %values, i64 %total, ptr %frame, i64 0)
  %fits = icmp eq i32 %misfit, 0
  br i1 %fits, label %stream, label %miss
before:                                                ; guards that call Python are checked once, after the grid
  %first_misfit = call i32 @tt.guards(ptr %plan, ptr %values, i64 %total, ptr %frame, i64 $late)
  %may_fit = icmp eq i32 %first_misfit, 0
  br i1 %may_fit, label %ask, label %miss
ask:
  %asked = call i32 @tt.ask(ptr %plan, ptr %values, i64 %total, ptr %grid, ptr %frame)
  %answered = icmp eq i32 %asked, 0
  br i1 %answered, label %check, label %raised         ; the grid's function may have changed the arguments
raised:
  ret ptr null
stream:
  %unknown = call i32 @tt.stream(ptr %plan, ptr %frame)
  %found = icmp eq i32 %unknown, 0
  br i1 %found, label %memory, label %raised
memory:
  %scratch = get ptr %plan.scratch
  %needs = icmp ne ptr %scratch, null
  br i1 %needs, label %allocate, label %go
allocate:
  %allocated = call ptr @tt.numbers(ptr %scratch, ptr %frame, ptr null)
  %refused = icmp eq ptr %allocated, null
  br i1 %refused, label %raised, label %place
place:                                                 ; (the two addresses as bytes, their owner)
  %words = call ptr @PyTuple_GetItem(ptr %allocated, i64 0)
  %from_words = call ptr @PyBytes_AsString(ptr %words)
  %scratch_at = add i64 %bytes, -16
  %to_scratch = getelementptr i8, ptr %params, i64 %scratch_at
  call void @llvm.memcpy.p0.p0.i64(ptr %to_scratch, ptr %from_words, i64 16, i1 false)
  br label %go
go:
  %kept = phi ptr [ null, %memory ], [ %allocated, %place ]
  %record_bytes = get i64 %plan.record_bytes
  %record = alloca i8, i64 %record_bytes, align 8
  %x = get i64 %frame.x
  %y = get i64 %frame.y
  %z = get i64 %frame.z
  %handle = get ptr %frame.stream
  %launch = get ptr %plan.launch
  %state = get ptr %plan.state
  %threads = get i64 %plan.threads
  %of_gpu = icmp eq i64 %record_bytes, 0
  %thread = call ptr @PyEval_SaveThread()
  br i1 %of_gpu, label %gpu, label %cpu
gpu:
  %status_gpu = call i32 %launch(ptr %state, ptr %params, i64 %x, i64 %y, i64 %z, ptr %handle)
  br label %back
cpu:
  %status_cpu = call i32 %launch(ptr %state, ptr %params, i64 %x, i64 %y, i64 %z, i64 %threads, ptr null, ptr %record)
  br label %back
back:
  %status = phi i32 [ %status_gpu, %gpu ], [ %status_cpu, %cpu ]
  call void @PyEval_RestoreThread(ptr %thread)
  call void @Py_DecRef(ptr %kept)                       ; no-op for null
  %launched = icmp eq i32 %status, 0
  br i1 %launched, label %give, label %odd_status
odd_status:                                            ; an exception: the launch was interrupted
  %interrupted = call ptr @PyErr_Occurred()
  %told_by_status = icmp eq ptr %interrupted, null
  br i1 %told_by_status, label %report, label %raised
give:
  %kernel = get ptr %plan.result
  call void @Py_IncRef(ptr %kernel)
  ret ptr %kernel
report:
  br i1 %of_gpu, label %number, label %text
number:
  %wide = sext i32 %status to i64
  %as_number = call ptr @PyLong_FromLong(i64 %wide)
  br label %tell
text:
  %as_bytes = call ptr @PyBytes_FromStringAndSize(ptr %record, i64 %record_bytes)
  br label %tell
tell:
  %told = phi ptr [ %as_number, %number ], [ %as_bytes, %text ]
  %teller = get ptr %plan.report                        ; raises
  %result = call ptr @tt.numbers(ptr %teller, ptr %frame, ptr %told)
  call void @Py_DecRef(ptr %told)
  ret ptr %result
}

; The launch function of plans that only find a kernel (`warmup`).
define i32 @tt.nothing(ptr %state, ptr %params, i64 %x, i64 %y, i64 %z, ptr %stream) {
  ret i32 0
}

; The guards of a plan: 0 if all of them hold, and the bits of the arguments are in the frame. Guards whose slots have a
; bit of %later are skipped.
define internal i32 @tt.guards(ptr %plan, ptr %values, i64 %total, ptr %frame, i64 %later) alwaysinline {
entry:
  %count = get i64 %plan.count
  %guards = get ptr %plan.guards
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %j, %each ], [ %j, %value ]
  %guard = phi ptr [ %guards, %entry ], [ %guard_next, %each ], [ %guard_next, %value ]
  %j = add i64 %i, 1
  %guard_next = getelementptr i8, ptr %guard, i64 $guard_bytes
  %more = icmp ult i64 %i, %count
  br i1 %more, label %each, label %good
each:
  %slot = get i64 %guard.slot
  %left = and i64 %slot, %later
  %now = icmp eq i64 %left, 0
  br i1 %now, label %value, label %next
value:
  %argument = icmp ult i64 %i, %total                  ; guards after those of the arguments read no value
  %from = getelementptr ptr, ptr %values, i64 %i
  %safe = select i1 %argument, ptr %from, ptr @tt.miss
  %given = load ptr, ptr %safe
  %function = get ptr %guard.check
  %bad = call i32 %function(ptr %guard, ptr %given, ptr %frame)
  %fine = icmp eq i32 %bad, 0
  br i1 %fine, label %next, label %bad_one
good:
  ret i32 0
bad_one:
  ret i32 1
}

; function(x, y, z, stream), and `last` after them
define internal ptr @tt.numbers(ptr %function, ptr %frame, ptr %last) {
entry:
  %list = alloca [5 x ptr], align 8
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %j, %each ]
  %more = icmp ult i64 %i, 4
  br i1 %more, label %each, label %call
each:
  %from = getelementptr i64, ptr %frame, i64 %i
  %number = load i64, ptr %from
  %object = call ptr @PyLong_FromLong(i64 %number)
  %to = getelementptr ptr, ptr %list, i64 %i
  store ptr %object, ptr %to
  %j = add i64 %i, 1
  br label %next
call:
  %last_to = getelementptr ptr, ptr %list, i64 4
  store ptr %last, ptr %last_to
  %short = icmp eq ptr %last, null
  %count = select i1 %short, i64 4, i64 5
  %result = call ptr @tt.vectorcall(ptr %function, ptr %list, i64 %count, ptr null)
  br label %free
free:
  %k = phi i64 [ 0, %call ], [ %k_next, %drop ]
  %left = icmp ult i64 %k, 4
  br i1 %left, label %drop, label %done
drop:
  %used_at = getelementptr ptr, ptr %list, i64 %k
  %used = load ptr, ptr %used_at
  call void @Py_DecRef(ptr %used)
  %k_next = add i64 %k, 1
  br label %free
done:
  ret ptr %result
}

; The current stream of the plan's GPU, unless an argument named one.
define internal i32 @tt.stream(ptr %plan, ptr %frame) {
entry:
  %kind = get i64 %plan.stream_kind
  switch i64 %kind, label %given [ i64 1, label %native
                                   i64 2, label %python ]
given:
  ret i32 0
native:
  %current = get ptr %plan.stream_call
  %device = get i64 %plan.stream_argument
  %number = trunc i64 %device to i32
  %to = getelementptr i8, ptr %frame, i64 24
  %status = call i32 %current(i32 %number, ptr %to)
  ret i32 %status
python:
  %function = get ptr %plan.stream_call
  %argument = get ptr %plan.stream_argument
  %found = call ptr @tt.call1(ptr %function, ptr %argument)
  %failed = icmp eq ptr %found, null
  br i1 %failed, label %raised, label %read
raised:
  ret i32 1
read:
  %handle = call ptr @PyLong_AsVoidPtr(ptr %found)
  call void @Py_DecRef(ptr %found)
  put ptr %handle, %frame.stream
  ret i32 0
}
"""
