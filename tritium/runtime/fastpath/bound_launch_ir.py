"""The object `kernel[grid]`, a launch bound to a grid: allocation, reuse, deallocation; as LLVM text (see `text`)."""

from __future__ import annotations

__all__ = ["BOUND_LAUNCH"]

BOUND_LAUNCH = """
declare void @PyObject_GC_Del(ptr)

; METH_O: `kernel[grid]`; %self is the address of the table as a Python int. The object freed last is reused, so that a
; launch allocates nothing.
define ptr @tt.at(ptr %self, ptr %grid) {
entry:
  %table = call ptr @PyLong_AsVoidPtr(ptr %self)
  %spare = get ptr %table.spare
  %none = icmp eq ptr %spare, null
  br i1 %none, label %make, label %reuse
reuse:
  put ptr null, %table.spare
  store i64 1, ptr %spare
  br label %fill
make:
  %type = get ptr %table.type
  %made = call ptr @_PyObject_GC_New(ptr %type)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %out, label %fill
fill:
  %bound = phi ptr [ %spare, %reuse ], [ %made, %make ]
  put ptr @tt.call, %bound.vectorcall
  put ptr %table, %bound.table
  %owner = get ptr %table.owner
  call void @Py_IncRef(ptr %owner)
  put ptr %owner, %bound.owner
  call void @Py_IncRef(ptr %grid)
  put ptr %grid, %bound.grid
  call void @PyObject_GC_Track(ptr %bound)
  ret ptr %bound
out:
  ret ptr null
}
@tt.at_name = internal constant [3 x i8] c"at\\00"
@tt.at_doc = internal constant [43 x i8] c"at(grid): a callable that launches with it\\00"
@tt.at_method = global { ptr, ptr, i32, ptr } { ptr @tt.at_name, ptr @tt.at, i32 8, ptr @tt.at_doc }

define void @tt.dealloc(ptr %bound) {
entry:
  call void @PyObject_GC_UnTrack(ptr %bound)
  %grid = get ptr %bound.grid
  put ptr null, %bound.grid
  call void @Py_DecRef(ptr %grid)
  %owner = get ptr %bound.owner
  %table = get ptr %bound.table
  %spare = get ptr %table.spare
  %none = icmp eq ptr %spare, null
  br i1 %none, label %keep, label %free
keep:
  put ptr %bound, %table.spare
  br label %out
free:
  call void @tt.free(ptr %bound)
  br label %out
out:
  call void @Py_DecRef(ptr %owner)                      ; may free the table
  ret void
}

define internal void @tt.free(ptr %bound) {
  %type = get ptr %bound.class
  call void @PyObject_GC_Del(ptr %bound)
  call void @Py_DecRef(ptr %type)
  ret void
}

; Free the object that a table keeps for its next launch
define void @tt.drop(ptr %table) {
entry:
  %bound = get ptr %table.spare
  %none = icmp eq ptr %bound, null
  br i1 %none, label %out, label %free
free:
  put ptr null, %table.spare
  call void @tt.free(ptr %bound)
  br label %out
out:
  ret void
}

define i32 @tt.traverse(ptr %bound, ptr %visit, ptr %argument) {
entry:
  %class = get ptr %bound.class
  %first = call i32 %visit(ptr %class, ptr %argument)
  %stop = icmp ne i32 %first, 0
  br i1 %stop, label %out, label %owned
owned:
  %owner = get ptr %bound.owner
  %second = call i32 %visit(ptr %owner, ptr %argument)
  %stop_too = icmp ne i32 %second, 0
  br i1 %stop_too, label %out, label %last
last:
  %grid = get ptr %bound.grid
  %third = call i32 %visit(ptr %grid, ptr %argument)
  br label %out
out:
  %result = phi i32 [ %first, %entry ], [ %second, %owned ], [ %third, %last ]
  ret i32 %result
}

; tp_clear: only the grid is released, since another finalizer may still call the object
define i32 @tt.clear(ptr %bound) {
  %grid = get ptr %bound.grid
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  put ptr @_Py_NoneStruct, %bound.grid
  call void @Py_DecRef(ptr %grid)
  ret i32 0
}
"""
