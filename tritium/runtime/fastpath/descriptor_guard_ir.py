"""The guard of host descriptors, as LLVM text (see `text`)."""

from __future__ import annotations

__all__ = ["DESCRIPTOR_GUARD"]

DESCRIPTOR_GUARD = """
@PyList_Type = external global i8
declare i64 @PyTuple_Size(ptr)
declare i64 @PyList_Size(ptr)
declare ptr @PyList_GetItem(ptr, i64)

define internal ptr @tt.type_of(ptr %list) alwaysinline {
  %type = get ptr %list.type
  ret ptr %type
}

; The value of a list or tuple of %rank integers in the attribute %name, at %to; 1 where it is another, and perhaps
; something is raised
define internal i32 @tt.integers(ptr %value, ptr %name, i64 %rank, ptr %to) {
entry:
  %over = alloca i32, align 4
  %list = call ptr @PyObject_GetAttr(ptr %value, ptr %name)
  %absent = icmp eq ptr %list, null
  br i1 %absent, label %no, label %kind
kind:
  %type = get ptr %list.type
  %is_list = icmp eq ptr %type, @PyList_Type
  br i1 %is_list, label %of_list, label %of_tuple
of_list:
  %list_size = call i64 @PyList_Size(ptr %list)
  br label %sized
of_tuple:
  %tuple_size = call i64 @PyTuple_Size(ptr %list)      ; -1 and an error for what is no tuple
  br label %sized
sized:
  %size = phi i64 [ %list_size, %of_list ], [ %tuple_size, %of_tuple ]
  %fits = icmp eq i64 %size, %rank
  br i1 %fits, label %next, label %drop
next:
  %i = phi i64 [ 0, %sized ], [ %j, %keep ]
  %more = icmp ult i64 %i, %rank
  br i1 %more, label %each, label %yes
each:
  br i1 %is_list, label %list_item, label %tuple_item
list_item:
  %from_list = call ptr @PyList_GetItem(ptr %list, i64 %i)
  br label %read
tuple_item:
  %from_tuple = call ptr @PyTuple_GetItem(ptr %list, i64 %i)
  br label %read
read:
  %item = phi ptr [ %from_list, %list_item ], [ %from_tuple, %tuple_item ]
  %item_type = call ptr @tt.type_of(ptr %item)
  %is_integer = icmp eq ptr %item_type, @PyLong_Type
  br i1 %is_integer, label %number, label %drop
number:
  %v = call i64 @PyLong_AsLongLongAndOverflow(ptr %item, ptr %over)
  %overflow = load i32, ptr %over
  %small = icmp eq i32 %overflow, 0
  br i1 %small, label %keep, label %drop
keep:
  %at = getelementptr i64, ptr %to, i64 %i
  store i64 %v, ptr %at
  %j = add i64 %i, 1
  br label %next
yes:
  call void @Py_DecRef(ptr %list)
  ret i32 0
drop:
  call void @Py_DecRef(ptr %list)
  br label %no
no:
  ret i32 1
}

; 0 if %count words are equal
define internal i32 @tt.differ(ptr %a, ptr %b, i64 %count) {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %j, %each ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %each, label %good
each:
  %a_at = getelementptr i64, ptr %a, i64 %i
  %b_at = getelementptr i64, ptr %b, i64 %i
  %left = load i64, ptr %a_at
  %right = load i64, ptr %b_at
  %same = icmp eq i64 %left, %right
  %j = add i64 %i, 1
  br i1 %same, label %next, label %bad
good:
  ret i32 0
bad:
  ret i32 1
}

; The address of the attribute %name, which its owner keeps; null where there is none
define internal ptr @tt.attribute(ptr %value, ptr %name) {
entry:
  %found = call ptr @PyObject_GetAttr(ptr %value, ptr %name)
  call void @Py_DecRef(ptr %found)                      ; it is only compared
  ret ptr %found
}

; Check the base of a descriptor by a guard of its own, which stores the address where the parameters will be; the
; address goes to %to, too
define internal i32 @tt.base(ptr %guard, ptr %array, ptr %frame, ptr %to) {
entry:
  %check = get ptr %guard.check
  %bad = call i32 %check(ptr %guard, ptr %array, ptr %frame)
  %slot = get i64 %guard.slot
  %at = and i64 %slot, 4294967295
  %from = getelementptr i8, ptr %frame, i64 %at
  %address = load i64, ptr %from, align 1
  store i64 %address, ptr %to
  ret i32 %bad
}

; A host descriptor: its fields are those of an entry of the memo, which has the parameters; else call(value) is asked
define i32 @tt.guard_descriptor(ptr %guard, ptr %value, ptr %frame) {
entry:
  %fields = alloca [$fields x i64], align 8             ; address, rounding, shape, strides
  %blocks = alloca [$rank x i64], align 8
  %alike = call i1 @tt.of_type(ptr %guard, ptr %value)
  br i1 %alike, label %base, label %no
no:
  ret i32 1
base:
  %memo = get ptr %guard.object
  %base_guard = get ptr %memo.base
  %base_name = get ptr %memo.base_name
  %array = call ptr @PyObject_GetAttr(ptr %value, ptr %base_name)
  %gone = icmp eq ptr %array, null
  br i1 %gone, label %unknown, label %check
check:
  %bad = call i32 @tt.base(ptr %base_guard, ptr %array, ptr %frame, ptr %fields)
  call void @Py_DecRef(ptr %array)
  %fine = icmp eq i32 %bad, 0
  br i1 %fine, label %block, label %unknown
block:
  %rank = get i64 %memo.rank
  %block_name = get ptr %memo.block_shape_name
  %no_block = call i32 @tt.integers(ptr %value, ptr %block_name, i64 %rank, ptr %blocks)
  %some_block = icmp eq i32 %no_block, 0
  br i1 %some_block, label %same_block, label %unknown
same_block:
  %known_block = get ptr %memo.block
  %other_block = call i32 @tt.differ(ptr %blocks, ptr %known_block, i64 %rank)
  %right_block = icmp eq i32 %other_block, 0
  br i1 %right_block, label %pads, label %unknown
pads:
  %padding_name = get ptr %memo.padding_name
  %padding = call ptr @tt.attribute(ptr %value, ptr %padding_name)
  %known_padding = get ptr %memo.padding
  %right_padding = icmp eq ptr %padding, %known_padding
  br i1 %right_padding, label %rounds, label %unknown
rounds:
  %round_name = get ptr %memo.round_f32_to_tf32_name
  %round = call ptr @tt.attribute(ptr %value, ptr %round_name)
  %round_to = getelementptr i64, ptr %fields, i64 1
  store ptr %round, ptr %round_to
  %shape_name = get ptr %memo.shape_name
  %shape_to = getelementptr i64, ptr %fields, i64 2
  %no_shape = call i32 @tt.integers(ptr %value, ptr %shape_name, i64 %rank, ptr %shape_to)
  %some_shape = icmp eq i32 %no_shape, 0
  br i1 %some_shape, label %strides, label %unknown
strides:
  %strides_name = get ptr %memo.strides_name
  %strides_to = getelementptr i64, ptr %shape_to, i64 %rank
  %no_strides = call i32 @tt.integers(ptr %value, ptr %strides_name, i64 %rank, ptr %strides_to)
  %some_strides = icmp eq i32 %no_strides, 0
  br i1 %some_strides, label %look, label %unknown
look:
  %twice = shl i64 %rank, 1
  %count = add i64 %twice, 2
  br label %next
next:
  %i = phi i64 [ 0, %look ], [ %j, %each ], [ %j, %filled ]
  %more = icmp ult i64 %i, $descriptors
  br i1 %more, label %each, label %unknown
each:
  %first = getelementptr i8, ptr %memo, i64 $entries
  %entry_at = getelementptr ptr, ptr %first, i64 %i
  %known = load ptr, ptr %entry_at
  %j = add i64 %i, 1
  %empty = icmp eq ptr %known, null
  br i1 %empty, label %next, label %filled
filled:
  %known_fields = get ptr %known.fields
  %other = call i32 @tt.differ(ptr %fields, ptr %known_fields, i64 %count)
  %found = icmp eq i32 %other, 0
  br i1 %found, label %copy, label %next
copy:
  %bytes = get ptr %known.bytes
  call void @Py_IncRef(ptr %bytes)
  %result = call i32 @tt.copy(ptr %guard, ptr %bytes, ptr %frame)
  ret i32 %result
unknown:
  call void @PyErr_Clear()
  %asked = call i32 @tt.guard_bytes(ptr %guard, ptr %value, ptr %frame)
  ret i32 %asked
}
"""
