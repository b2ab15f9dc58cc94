"""How native code calls Python's objects, as LLVM text (see `text`): by vectorcall, and by older means in Python 3.10.

`@tt.vectorcall(function, arguments, count, names)` is `PyObject_Vectorcall`, `@tt.call1(function, argument)`
`PyObject_CallOneArg`; Python 3.10 has both in its headers only.
"""

from __future__ import annotations

__all__ = ["CALLS", "OLD_CALLS"]

CALLS = """
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_CallOneArg(ptr, ptr)

define internal ptr @tt.vectorcall(ptr %function, ptr %values, i64 %count, ptr %names) {
  %result = call ptr @PyObject_Vectorcall(ptr %function, ptr %values, i64 %count, ptr %names)
  ret ptr %result
}

define internal ptr @tt.call1(ptr %function, ptr %value) {
  %result = call ptr @PyObject_CallOneArg(ptr %function, ptr %value)
  ret ptr %result
}
"""

OLD_CALLS = """
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare ptr @PyObject_Call(ptr, ptr, ptr)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare ptr @PyDict_New()

define internal ptr @tt.vectorcall(ptr %function, ptr %values, i64 %count, ptr %list) {
entry:
  %tuple = call ptr @PyTuple_New(i64 %count)
  %failed = icmp eq ptr %tuple, null
  br i1 %failed, label %out, label %next
out:
  ret ptr null
next:
  %i = phi i64 [ 0, %entry ], [ %j, %each ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %each, label %names
each:
  %at = getelementptr ptr, ptr %values, i64 %i
  %value = load ptr, ptr %at
  call void @Py_IncRef(ptr %value)
  %set = call i32 @PyTuple_SetItem(ptr %tuple, i64 %i, ptr %value)
  %j = add i64 %i, 1
  br label %next
names:
  %plain = icmp eq ptr %list, null
  br i1 %plain, label %call, label %named
named:
  %dict = call ptr @PyDict_New()
  %listed = get i64 %list.count
  br label %pair
pair:
  %k = phi i64 [ 0, %named ], [ %k_next, %add ]
  %left = icmp ult i64 %k, %listed
  br i1 %left, label %add, label %call
add:
  %name = call ptr @PyTuple_GetItem(ptr %list, i64 %k)
  %place = add i64 %count, %k
  %named_at = getelementptr ptr, ptr %values, i64 %place
  %named_value = load ptr, ptr %named_at
  %added = call i32 @PyDict_SetItem(ptr %dict, ptr %name, ptr %named_value)
  %k_next = add i64 %k, 1
  br label %pair
call:
  %keywords = phi ptr [ null, %names ], [ %dict, %pair ]
  %result = call ptr @PyObject_Call(ptr %function, ptr %tuple, ptr %keywords)
  call void @Py_DecRef(ptr %tuple)
  call void @Py_DecRef(ptr %keywords)                   ; of null it does nothing
  ret ptr %result
}

define internal ptr @tt.call1(ptr %function, ptr %value) {
  %result = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %function, ptr %value, ptr null)
  ret ptr %result
}
"""
