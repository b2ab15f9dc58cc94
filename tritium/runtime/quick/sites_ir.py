"""The object that `kernel[grid]` is: made, used again, freed; as LLVM text (see `text`)."""

from __future__ import annotations

__all__ = ["SITES"]

SITES = """
declare void @PyObject_GC_Del(ptr)

; METH_O: the object that `kernel[grid]` is; %self is the address of the table as a Python int. The last one that was
; given back is used again, so that a launch allocates nothing.
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
  %site = phi ptr [ %spare, %reuse ], [ %made, %make ]
  put ptr @tt.call, %site.vectorcall
  put ptr %table, %site.table
  %owner = get ptr %table.owner
  call void @Py_IncRef(ptr %owner)
  put ptr %owner, %site.owner
  call void @Py_IncRef(ptr %grid)
  put ptr %grid, %site.grid
  call void @PyObject_GC_Track(ptr %site)
  ret ptr %site
out:
  ret ptr null
}
@tt.at_name = internal constant [3 x i8] c"at\\00"
@tt.at_doc = internal constant [43 x i8] c"at(grid): a callable that launches with it\\00"
@tt.at_method = global { ptr, ptr, i32, ptr } { ptr @tt.at_name, ptr @tt.at, i32 8, ptr @tt.at_doc }

define void @tt.dealloc(ptr %site) {
entry:
  call void @PyObject_GC_UnTrack(ptr %site)
  %grid = get ptr %site.grid
  put ptr null, %site.grid
  call void @Py_DecRef(ptr %grid)
  %owner = get ptr %site.owner
  %table = get ptr %site.table
  %spare = get ptr %table.spare
  %none = icmp eq ptr %spare, null
  br i1 %none, label %keep, label %free
keep:
  put ptr %site, %table.spare
  br label %out
free:
  call void @tt.free(ptr %site)
  br label %out
out:
  call void @Py_DecRef(ptr %owner)                      ; the table may go with it
  ret void
}

define internal void @tt.free(ptr %site) {
  %type = get ptr %site.class
  call void @PyObject_GC_Del(ptr %site)
  call void @Py_DecRef(ptr %type)
  ret void
}

; What a table keeps for its next launch, where there is none
define void @tt.drop(ptr %table) {
entry:
  %site = get ptr %table.spare
  %none = icmp eq ptr %site, null
  br i1 %none, label %out, label %free
free:
  put ptr null, %table.spare
  call void @tt.free(ptr %site)
  br label %out
out:
  ret void
}

define i32 @tt.traverse(ptr %site, ptr %visit, ptr %argument) {
entry:
  %class = get ptr %site.class
  %first = call i32 %visit(ptr %class, ptr %argument)
  %stop = icmp ne i32 %first, 0
  br i1 %stop, label %out, label %owned
owned:
  %owner = get ptr %site.owner
  %second = call i32 %visit(ptr %owner, ptr %argument)
  %stop_too = icmp ne i32 %second, 0
  br i1 %stop_too, label %out, label %last
last:
  %grid = get ptr %site.grid
  %third = call i32 %visit(ptr %grid, ptr %argument)
  br label %out
out:
  %result = phi i32 [ %first, %entry ], [ %second, %owned ], [ %third, %last ]
  ret i32 %result
}

; Part of a cycle that goes: only the grid is given up, as a call may still come from another finalizer
define i32 @tt.clear(ptr %site) {
  %grid = get ptr %site.grid
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  put ptr @_Py_NoneStruct, %site.grid
  call void @Py_DecRef(ptr %grid)
  ret i32 0
}
"""
