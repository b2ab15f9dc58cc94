"""A function of LLVM text as a built-in function of CPython (METH_FASTCALL): integers in, None or a report out."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["python_method"]

Parameter = tuple[str, str]
"""The type ("ptr" or "i64") and the name of one."""

_PRELUDE = """
@PyExc_TypeError = external global ptr
@_Py_NoneStruct = external global i8
declare ptr @PyLong_AsVoidPtr(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare ptr @PyLong_FromLong(i64)
declare ptr @PyBytes_FromStringAndSize(ptr, i64)
declare ptr @PyErr_Occurred()
declare void @PyErr_SetString(ptr, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
"""

_METHOD = """
@tt.usage = internal constant [$usage_bytes x i8] c"$usage\\00"
@tt.name = internal constant [7 x i8] c"launch\\00"
@tt.method = global { ptr, ptr, i32, ptr } { ptr @tt.name, ptr @tt.python_launch, i32 128, ptr @tt.usage }

; %self is the address of the launcher's state as a Python int; None, or what the call reports
define ptr @tt.python_launch(ptr %self, ptr %values, i64 %count) {
entry:
  %record = alloca [$record_bytes x i8], align 8
  %enough = icmp sge i64 %count, $required
  %few = icmp sle i64 %count, $most
  %right = and i1 %enough, %few
  br i1 %right, label %begin, label %wrong
wrong:
  %error = load ptr, ptr @PyExc_TypeError
  call void @PyErr_SetString(ptr %error, ptr @tt.usage)
  ret ptr null
begin:
  %state = call ptr @PyLong_AsVoidPtr(ptr %self)
  br label %get0
$conversions
ready:
  %occurred = call ptr @PyErr_Occurred()
  %clean = icmp eq ptr %occurred, null
  br i1 %clean, label %go, label %fail
fail:
  ret ptr null
go:
  %thread = call ptr @PyEval_SaveThread()
  %status = call i32 @$function(ptr %state, $arguments)
  call void @PyEval_RestoreThread(ptr %thread)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %none, label %odd
odd:                                                    ; an exception: the call was interrupted
  %raised = call ptr @PyErr_Occurred()
  %told_by_status = icmp eq ptr %raised, null
  br i1 %told_by_status, label %report, label %fail
none:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
report:
$report
  ret ptr %told
}
"""

_CONVERSION = """
get$i:
  %given$i = icmp sgt i64 %count, $i
  br i1 %given$i, label %read$i, label %have$i
read$i:
  %at$i = getelementptr ptr, ptr %values, i64 $i
  %object$i = load ptr, ptr %at$i
  %read.$name = call $type @$convert(ptr %object$i)
  br label %have$i
have$i:
  %$name = phi $type [ $zero, %get$i ], [ %read.$name, %read$i ]
  br label %$next
"""

_STATUS = "  %wide = sext i32 %status to i64\n  %told = call ptr @PyLong_FromLong(i64 %wide)"
_RECORD = "  %told = call ptr @PyBytes_FromStringAndSize(ptr %record, i64 $record_bytes)"

_CONVERT = {"ptr": ("PyLong_AsVoidPtr", "null"), "i64": ("PyLong_AsLongLong", "0")}


def python_method(function: str, usage: str, parameters: Sequence[Parameter], required: int, record_bytes: int) -> str:
    """`@tt.method`, a PyMethodDef of `launch`, which calls `i32 @function(ptr state, parameters...)` without the GIL.

    The last of its parameters may be left out down to `required`, and are 0 then. A status other than 0 is the result
    as an int; with `record_bytes`, a last argument is the place of a record, whose bytes are the result in its stead.
    """
    conversions = ""
    for i, (ty, name) in enumerate(parameters):
        convert, zero = _CONVERT[ty]
        following = f"get{i + 1}" if i + 1 < len(parameters) else "ready"
        values = {"i": str(i), "name": name, "type": ty, "convert": convert, "zero": zero, "next": following}
        conversions += _filled(_CONVERSION, values)
    arguments = ", ".join(f"{ty} %{name}" for ty, name in parameters)
    values = {
        "usage": usage,
        "usage_bytes": str(len(usage) + 1),
        "required": str(required),
        "most": str(len(parameters)),
        "conversions": conversions.strip("\n"),
        "function": function,
        "arguments": arguments + (", ptr %record" if record_bytes else ""),
        "report": _RECORD if record_bytes else _STATUS,
    }
    return _PRELUDE + _filled(_filled(_METHOD, values), {"record_bytes": str(record_bytes)})


def _filled(text: str, values: dict[str, str]) -> str:
    for name in sorted(values, key=len, reverse=True):
        text = text.replace(f"${name}", values[name])
    return text
