"""Grids of launches, as LLVM text (see `text`)."""

from __future__ import annotations

__all__ = ["GRID"]

GRID = """
; A grid of integers into the frame: an int, or a tuple of one to three. 1 for all else.
define internal i32 @tt.sizes(ptr %grid, ptr %frame) {
entry:
  %list = getelementptr i8, ptr %grid, i64 0
  %type = get ptr %list.type
  put i64 1, %frame.y
  put i64 1, %frame.z
  %tuple = icmp eq ptr %type, @PyTuple_Type
  br i1 %tuple, label %several, label %one
one:
  %single = call i32 @tt.size(ptr %grid, ptr %frame)
  ret i32 %single
several:
  %count = get i64 %list.count
  %less = add i64 %count, -1
  %right = icmp ult i64 %less, 3
  br i1 %right, label %next, label %odd
odd:
  ret i32 1
next:
  %i = phi i64 [ 0, %several ], [ %j, %read ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %read, label %count_programs
read:
  %items = getelementptr i8, ptr %grid, i64 24
  %item_at = getelementptr ptr, ptr %items, i64 %i
  %item = load ptr, ptr %item_at
  %to = getelementptr i64, ptr %frame, i64 %i
  %bad = call i32 @tt.size(ptr %item, ptr %to)
  %j = add i64 %i, 1
  %fine = icmp eq i32 %bad, 0
  br i1 %fine, label %next, label %odd
count_programs:
  %x = get i64 %frame.x
  %y = get i64 %frame.y
  %z = get i64 %frame.z
  %xy = mul i64 %x, %y                                  ; each is below 2^31
  %pair = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %xy, i64 %z)
  %all = extractvalue { i64, i1 } %pair, 0
  %over = extractvalue { i64, i1 } %pair, 1
  %many = icmp sgt i64 %all, $programs
  %large = or i1 %over, %many
  %result = zext i1 %large to i32
  ret i32 %result
}
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)

; One int from 0 to 2^31 - 1
define internal i32 @tt.size(ptr %value, ptr %to) {
entry:
  %over = alloca i32, align 4
  %list = getelementptr i8, ptr %value, i64 0
  %type = get ptr %list.type
  %integer = icmp eq ptr %type, @PyLong_Type
  br i1 %integer, label %read, label %odd
odd:
  ret i32 1
read:
  %n = call i64 @PyLong_AsLongLongAndOverflow(ptr %value, ptr %over)
  %overflow = load i32, ptr %over
  %fits = icmp eq i32 %overflow, 0
  %short = trunc i64 %n to i32
  %again = sext i32 %short to i64
  %same = icmp eq i64 %again, %n
  %counts = icmp sge i64 %n, 0
  %small = and i1 %fits, %same
  %good = and i1 %small, %counts
  store i64 %n, ptr %to
  %bad = xor i1 %good, true
  %result = zext i1 %bad to i32
  ret i32 %result
}

; A grid that is a function is called with a dict of all arguments; what is still no tuple of ints, Python looks at.
define internal i32 @tt.ask(ptr %plan, ptr %values, i64 %total, ptr %grid, ptr %frame) {
entry:
  %callable = call i32 @PyCallable_Check(ptr %grid)
  %is_function = icmp ne i32 %callable, 0
  br i1 %is_function, label %collect, label %keep
keep:
  call void @Py_IncRef(ptr %grid)
  br label %parse
collect:
  %defaults = get ptr %plan.defaults
  %all = call ptr @PyDict_Copy(ptr %defaults)
  %names = get ptr %plan.names
  %no_dict = icmp eq ptr %all, null
  br i1 %no_dict, label %raised, label %next
next:
  %i = phi i64 [ 0, %collect ], [ %j, %step ]
  %more = icmp ult i64 %i, %total
  br i1 %more, label %each, label %call
each:
  %name_at = getelementptr ptr, ptr %names, i64 %i
  %name = load ptr, ptr %name_at
  %hidden = icmp eq ptr %name, null                     ; it says how to launch, and is no argument
  br i1 %hidden, label %step, label %add
add:
  %value_at = getelementptr ptr, ptr %values, i64 %i
  %value = load ptr, ptr %value_at
  %added = call i32 @PyDict_SetItem(ptr %all, ptr %name, ptr %value)
  br label %step
step:
  %j = add i64 %i, 1
  br label %next
call:
  %made = call ptr @tt.call1(ptr %grid, ptr %all)
  call void @Py_DecRef(ptr %all)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %raised, label %parse
raised:
  ret i32 -1
parse:
  %sizes = phi ptr [ %grid, %keep ], [ %made, %call ]
  %odd = call i32 @tt.sizes(ptr %sizes, ptr %frame)
  %plain = icmp eq i32 %odd, 0
  br i1 %plain, label %good, label %python
good:
  call void @Py_DecRef(ptr %sizes)
  ret i32 0
python:
  %function = get ptr %plan.normalize
  %normal = call ptr @tt.call1(ptr %function, ptr %sizes)
  call void @Py_DecRef(ptr %sizes)
  %refused = icmp eq ptr %normal, null
  br i1 %refused, label %raised, label %read
read:
  %still = call i32 @tt.sizes(ptr %normal, ptr %frame)
  call void @Py_DecRef(ptr %normal)
  ret i32 0
}
"""
