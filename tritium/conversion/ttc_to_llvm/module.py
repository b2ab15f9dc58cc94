"""The module: one LLVM function a kernel, which runs a range of programs in a loop.

    define void @kernel(ptr %args, ptr %ctx, i64 %begin, i64 %end)

loads its arguments and the grid once, then runs the body for each program id in [begin, end). See
`conversion.llvm.abi` for the calling convention.
"""

from __future__ import annotations

from typing import Any

from ...dialects import builtin, tt
from ...ir import Type
from ...support import InternalError, TritiumError
from ...support.dataclasses import dataclass
from ..llvm.abi import ARGUMENT_SLOT_BYTES, CONTEXT, ERROR_RECORD, READ_ONLY_ROW, RECORD_ERROR
from ..llvm.control import lower_region
from ..llvm.module import ModuleContext, Site
from . import arith, control, debug, math, memory, minmax, narrow_floats
from .context import FunctionContext, LocatedContext, lowers
from .types import llvm_type

__all__ = ["LoweredModule", "Site", "ttc_to_llvm"]

_ = (arith, math, memory, minmax, narrow_floats, debug, control)  # imported for the lowerings they register

STACK_LIMIT = 256 << 10
"""Scratch memory up to this many bytes lies on the stack (threads have 2 MiB or more); beyond, on the heap."""
SCRATCH_LIMIT = 1 << 30
"""More scratch memory than this for one program is refused: its tiles cannot be meant."""

AXES = ("x", "y", "z")


@dataclass(frozen=True)
class LoweredModule:
    """LLVM text, the kernel's symbol, the places that can report at run time, scratch bytes of one program."""

    text: str
    name: str
    sites: list[Site]
    scratch_bytes: int


def ttc_to_llvm(module: builtin.Module, target: Any, fusion: bool = True, debug: Any = None) -> LoweredModule:
    """Lower the only public function of `module` for `target`, a description of a CPU.

    `fusion` lets a multiplication and an addition become one fused operation; `debug` (a `DebugInfo`) says where in the
    source instructions come from. TritiumError if the tiles need more
    scratch memory than a program may have.
    """
    context = ModuleContext(target, fusion)
    kernels = [op for op in module.body if isinstance(op, tt.Func)]
    if len(kernels) != 1:
        raise InternalError(f"a CPU module has one function, this has {len(kernels)}")
    body, scratch = _function(context, kernels[0], debug)
    helpers = list(context.functions.values())
    if "@tt.record_error" in body:
        helpers.append(RECORD_ERROR)
    if "@tt.read_only_row" in body:
        helpers.append(READ_ONLY_ROW)
    tail = [] if debug is None else [debug.text()]
    text = "\n\n".join([_header(target), *sorted(context.declares), *helpers, body, *tail]) + "\n"
    return LoweredModule(text, kernels[0].sym_name, context.sites, scratch)


def _header(target: Any) -> str:
    return f'target triple = "{target.triple}"'


def _function(context: ModuleContext, func: tt.Func, debug: Any) -> tuple[str, int]:
    subprogram = "" if debug is None else debug.function(func)
    e = FunctionContext(context) if debug is None else LocatedContext(context, debug)
    e.block = "entry.body"
    for i, arg in enumerate(func.entry.args):
        e.bind(arg, f"%arg{i}")
    lower_region(e, func.regions[0])
    if e.scratch_bytes > SCRATCH_LIMIT:
        raise TritiumError(
            f"the tiles of {func.sym_name} need {e.scratch_bytes >> 20} MiB of scratch memory for one program"
            f" (limit {SCRATCH_LIMIT >> 20} MiB); use smaller block sizes"
        )
    heap = e.scratch_bytes > STACK_LIMIT
    if heap:
        context.declare("declare ptr @aligned_alloc(i64, i64)")
        context.declare("declare void @free(ptr)")
    place = ", ptr %scratch.at" if heap else ""  # an interrupted kernel's scratch memory is freed by this address
    lines = [
        f'define void @"{func.sym_name}"(ptr noalias %args, ptr %ctx, i64 %begin, i64 %end{place}){subprogram} {{',
        "entry:",
        *_entry(func, e, heap),
        *_loop_head(e),
        "  br label %entry.body",
        "entry.body:",
        *e.lines,
        *_loop_tail(heap),
        "}",
    ]
    return "\n".join(lines), e.scratch_bytes


def _slot_load(i: int, ty: Type) -> list[str]:
    text = llvm_type(ty)
    return [
        f"  %slot{i} = getelementptr i8, ptr %args, i64 {ARGUMENT_SLOT_BYTES * i}",
        f"  %arg{i} = load {text}, ptr %slot{i}, align 8",
    ]


def _entry(func: tt.Func, e: FunctionContext, heap: bool) -> list[str]:
    lines: list[str] = []
    for i, arg in enumerate(func.entry.args):
        lines += _slot_load(i, arg.type)
    for axis in AXES:
        field = CONTEXT[f"grid_{axis}"]
        lines.append(f"  %grid_{axis}.at = getelementptr i8, ptr %ctx, i64 {field.offset}")
        lines.append(f"  %grid_{axis} = load i32, ptr %grid_{axis}.at")
    if e.scratch_bytes and heap:
        lines.append(f"  %scratch = call ptr @aligned_alloc(i64 64, i64 {e.scratch_bytes})")
        lines.append("  store volatile ptr %scratch, ptr %scratch.at, align 8")
    elif e.scratch_bytes:
        lines.append(f"  %scratch = alloca [{e.scratch_bytes} x i8], align 64")
    lines += e.entry_allocas
    if e.can_stop:
        offset = CONTEXT["error_record"].offset
        lines += [f"  %record.at = getelementptr i8, ptr %ctx, i64 {offset}", "  %record = load ptr, ptr %record.at"]
    return lines


def _loop_head(e: FunctionContext) -> list[str]:
    lines = [
        "  %gx = zext i32 %grid_x to i64",
        "  %gy = zext i32 %grid_y to i64",
        "  %rows = udiv i64 %begin, %gx",
        "  %x0.wide = urem i64 %begin, %gx",
        "  %y0.wide = urem i64 %rows, %gy",
        "  %z0.wide = udiv i64 %rows, %gy",
        "  %x0 = trunc i64 %x0.wide to i32",
        "  %y0 = trunc i64 %y0.wide to i32",
        "  %z0 = trunc i64 %z0.wide to i32",
        "  br label %program",
        "program:",
        "  %pid = phi i64 [ %begin, %entry ], [ %pid.next, %next ]",
        "  %px = phi i32 [ %x0, %entry ], [ %x.next, %next ]",
        "  %py = phi i32 [ %y0, %entry ], [ %y.next, %next ]",
        "  %pz = phi i32 [ %z0, %entry ], [ %z.next, %next ]",
    ]
    if e.can_stop:
        lines += [
            f"  %state.at = getelementptr i8, ptr %record, i64 {ERROR_RECORD['state'].offset}",
            "  %state = load atomic i32, ptr %state.at monotonic, align 4",
            "  %stopped = icmp ne i32 %state, 0",
            "  br i1 %stopped, label %exit, label %go",
            "go:",
        ]
    return lines


def _loop_tail(heap: bool) -> list[str]:
    return [
        "next:",
        "  %pid.next = add nuw nsw i64 %pid, 1",
        "  %x.plus = add i32 %px, 1",
        "  %x.wraps = icmp eq i32 %x.plus, %grid_x",
        "  %x.next = select i1 %x.wraps, i32 0, i32 %x.plus",
        "  %y.carry = zext i1 %x.wraps to i32",
        "  %y.plus = add i32 %py, %y.carry",
        "  %y.wraps = icmp eq i32 %y.plus, %grid_y",
        "  %y.next = select i1 %y.wraps, i32 0, i32 %y.plus",
        "  %z.carry = zext i1 %y.wraps to i32",
        "  %z.next = add i32 %pz, %z.carry",
        "  %more = icmp slt i64 %pid.next, %end",
        "  br i1 %more, label %program, label %exit",
        "exit:",
        *(["  store volatile ptr null, ptr %scratch.at, align 8", "  call void @free(ptr %scratch)"] if heap else []),
        "  ret void",
    ]


@lowers(tt.GetProgramId)
def _program_id(e: FunctionContext, op: tt.GetProgramId) -> None:
    e.bind(op.result, f"%p{AXES[op.axis]}")


@lowers(tt.GetNumPrograms)
def _num_programs(e: FunctionContext, op: tt.GetNumPrograms) -> None:
    e.bind(op.result, f"%grid_{AXES[op.axis]}")
