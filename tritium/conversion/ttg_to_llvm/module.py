"""The module: one LLVM function a kernel, and one for each function that stays a call.

    define ptx_kernel void @kernel(<arguments>, ptr addrspace(1) %global_scratch, ptr addrspace(1) %profile_scratch)

Arguments are those of the `tt.func`, in order; the two that follow are addresses of memory that the launcher provides
where the kernel asks for it (Triton's kernels have them, too). A function that is called takes the parts of its
arguments, the address of its shared memory, and the two; it returns a struct of the parts of its results.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from ...analysis.register_pressure import (
    HIGH_PRESSURE,
    is_marked_high_pressure,
    loads_limit_occupancy,
    max_accumulators,
)
from ...analysis.tma import DESCRIPTOR_BYTES, FORMER_UNLIKELY, UNLIKELY
from ...dialects import arith, builtin, tt
from ...dialects.tt_types import PointerType, is_descriptor
from ...dialects.ttg_context import num_ctas, num_warps
from ...dialects.ttg_memory import MemDescType
from ...hardware.nvidia_features import TMA
from ...ir import CountedLoop, FunctionType, IfLike, IntegerAttr, IntegerType, LoopLike, Operation, Value
from ...support import InternalError
from ...support.dataclasses import dataclass
from ...support.lazy import LazyModule
from ..llvm.control import CONTROL, lower_for, lower_if, lower_region
from .context import LOWERINGS, FunctionContext, lowers
from .instruction_order import sink_to_first_use
from .program import GLOBAL_SCRATCH, OFFSET, global_scratch
from .target_info import ModuleContext, TargetInfo, require
from .types import types_of

__all__ = ["LoweredModule", "ttg_to_llvm"]

LOWERINGS.update(CONTROL)

SHARED = "@global_smem"
_cluster_memory = LazyModule("...analysis.cluster_memory", __package__)
_trips = LazyModule("...analysis.trips", __package__)
_warps = LazyModule(".nvidia.warp_specialize", __package__)

_SCRATCH = (f"ptr addrspace(1) {GLOBAL_SCRATCH}", "ptr addrspace(1) %profile_scratch")


@lowers(CountedLoop)
def _for(e: FunctionContext, op: CountedLoop) -> None:
    """A loop that keeps WGMMAs in flight across iterations waits for the last ones where it ends.

    ptxas does not see that they are waited for where the way past the loop comes in between, and waits for each of them
    (C7514: 256 x 128 by eight warps).
    """
    in_flight = any(inner.name == "ttng.warp_group_dot" and inner.isAsync for inner in op.body)  # type: ignore[attr-defined]
    wait = functools.partial(e.asm, "wgmma.wait_group.sync.aligned 0;", "~{memory}", [])
    whole = None
    if op.ub.defining_op.__class__ is arith.MinSI:
        whole = _trips.whole_block(op, lambda value: e.facts.of(value).element_divisor())
    lower_for(e, op, wait if in_flight else None, whole)
    if is_marked_high_pressure(op) and e.is_kernel and e.warps.alone:
        e.reload_thread_id()


@lowers(IfLike)
def _if(e: FunctionContext, op: IfLike) -> None:
    """Keep the computations of an unlikely else region inside it.

    LLVM would hoist invariant ones out of a loop around the branch: 64 offsets of 64 bits for the rows that a thread of
    a 128 x 128 x 64 dot stores, for which no registers are left. It hoists no values of inline assembly.
    """
    if not (op.attributes.keys() & (UNLIKELY, FORMER_UNLIKELY)) or op.else_block is None:
        lower_if(e, op)
        return
    used = {v: None for inner in op.else_block for part in inner.walk() for v in part.operands}
    known = {v: e.parts(v) for v in used if isinstance(v.type, IntegerType) and v.type.width == 64 and v in e.names}

    def hide() -> None:
        for value, (part,) in known.items():
            if not part.lstrip("-").isdigit():
                e.bind(value, [e.target.opaque(e, part)])

    lower_if(e, op, hide)
    e.names.update(known)


@dataclass(frozen=True)
class LoweredModule:
    """LLVM text, the kernel's symbol, and the bytes of shared memory that a launch must give to a block."""

    text: str
    name: str
    shared_bytes: int


def ttg_to_llvm(module: builtin.Module, target: TargetInfo, options: Any, debug: Any = None) -> LoweredModule:
    """Lower a module of tensors with layouts, whose only public function is the kernel.

    `options` has `enable_fp_fusion`, `maxnreg` and the like (see CUDAOptions); `debug` makes source locations. Raises
    UnsupportedOperation, which knows the user's line, for what has no lowering.
    """
    functions = [op for op in module.body if isinstance(op, tt.Func) and not op.is_declaration]
    kernels = [f for f in functions if f.sym_visibility in (None, "public")]
    if len(kernels) != 1:
        raise InternalError(f"a module has one kernel, this has {len(kernels)}")
    (kernel,) = kernels
    warps = num_warps(kernel) or options.num_warps
    total_warps = max(warps, _number(module, "ttg.total-num-warps"))
    context = ModuleContext(
        target,
        options.enable_fp_fusion,
        num_warps=warps,
        total_warps=total_warps,
        registers=_number(module, "ttg.maxnreg") or getattr(options, "maxnreg", None),
        num_ctas=num_ctas(module),
        debug=debug,
        global_scratch=_number(module, "ttg.global_scratch_memory_size"),
        high_register_pressure=max_accumulators(module, warps) > HIGH_PRESSURE,
        loads_limit_occupancy=loads_limit_occupancy(module, 32 * total_warps),
        has_wgmma=any(op.name == "ttng.warp_group_dot" for op in module.walk()),
    )
    bodies = [_function(context, f, options, f is kernel) for f in functions]
    head = [f'target triple = "{target.triple}"']
    if any(SHARED in body for body in (*context.functions.values(), *bodies)):
        head.append(f"{SHARED} = external addrspace(3) global [0 x i8], align {target.shared_alignment(context)}")
    tail = [*([] if debug is None else [debug.text()]), *target.module_flags(context)]
    attributes = [
        "attributes #0 = { nounwind }",
        "attributes #1 = { convergent nounwind }",
        "attributes #2 = { nounwind willreturn memory(none) }",
        f"attributes #3 = {{ {target.no_access_merging if context.mergeable_accesses else 'nounwind'} }}",
    ]
    parts = [*head, *sorted(context.declares), *context.functions.values(), *bodies, *attributes, *tail]
    return LoweredModule("\n\n".join(parts) + "\n", kernel.sym_name, _shared_bytes(module))


def _number(module: Operation, name: str) -> int:
    found = module.attributes.get(name)
    return found.value if isinstance(found, IntegerAttr) else 0


def _shared_bytes(module: Operation) -> int:
    """Whole words of 16 bytes: LLVM loads an aligned one where it needs a part of it."""
    return -(-_number(module, "ttg.shared") // 16) * 16


def _function(context: ModuleContext, func: tt.Func, options: Any, is_kernel: bool) -> str:
    block_id = "%block" if context.num_ctas > 1 else "0"
    e = FunctionContext(context, SHARED if is_kernel else "%shared", block_id, func)
    if context.total_warps > context.num_warps:
        e.specialization = _warps.specialization_of(context, func)
    parameters = _parameters(e, func)
    if not is_kernel:
        parameters.append("ptr addrspace(3) %shared")
    subprogram = "" if context.debug is None else context.debug.function(func)
    lower_region(e, func.regions[0])
    if e.specialization is not None:
        _warps.lower_workers(e)
    head = f"{context.target.kernel_convention} void" if is_kernel else f"internal {_returned(func)}"
    attributes = context.target.kernel_attributes(context) if is_kernel else "#1"
    signature = f'@"{_assembled(func.sym_name)}"({", ".join([*parameters, *_scratch(e)])})'
    return "\n".join([
        f"define {head} {signature} {attributes} #3{subprogram} {{",
        "entry:" if e.specialization is None else "head:",
        *context.target.thread_ids(context),
        *(f"  {line}" for line in e.entry_lines),
        *([] if e.specialization is None else _warps.parting(context, e.specialization)),
        *sink_to_first_use(e.lines, sink_floats=any(isinstance(op, LoopLike) for op in func.walk())),
        "}",
    ])  # fmt: skip


def _scratch(e: FunctionContext) -> list[str]:
    """The parameters that are addresses of memory which a launch provides."""
    more = e.target.parameter_attributes() if e.is_kernel else ""
    return [parameter.replace(" %", f"{more} %") for parameter in _SCRATCH] if more else list(_SCRATCH)


def _parameters(e: FunctionContext, func: tt.Func) -> list[str]:
    """Bind the arguments of a function; what LLVM should write for them."""
    out = []
    for i, arg in enumerate(func.entry.args):
        types = types_of(arg.type)
        names = [f"%arg{i}" if len(types) == 1 else f"%arg{i}.{k}" for k in range(len(types))]
        whole = isinstance(arg.type, MemDescType) and arg.type.shape == arg.type.allocShape[-len(arg.type.shape) :]
        e.bind(arg, [names[0], *["0"] * (len(names) - 1)] if whole else names)  # a whole buffer begins at 0
        more = e.target.parameter_attributes() if e.is_kernel else ""
        out += [f"{ty}{more}{_attributes(e, func, i, arg)} {name}" for ty, name in zip(types, names)]
    return out


_BY_VALUE = f' byval([{DESCRIPTOR_BYTES} x i8]) align 64 "nvvm.grid_constant"'


def _attributes(e: FunctionContext, func: tt.Func, i: int, arg: Value) -> str:
    """What the specialization knows of a pointer, so that LLVM and the reader of the PTX know it too.

    A descriptor is passed by value: TMA reads it from parameter memory.
    """
    if is_descriptor(arg.type) and e.is_kernel:
        require(e, func, TMA, f"takes a tensor descriptor, {arg.type}, which ")
        return _BY_VALUE
    if not isinstance(arg.type, PointerType) or func.arg_attrs is None:
        return ""
    found = func.arg_attrs.elements[i].get("tt.divisibility")
    n = found.value if isinstance(found, IntegerAttr) else 1
    return f" align {n}" if n > 1 and not n & (n - 1) else ""


def _returned(func: tt.Func) -> str:
    ty = func.function_type
    assert isinstance(ty, FunctionType)
    types = [t for result in ty.results for t in types_of(result)]
    return f"{{ {', '.join(types)} }}" if types else "void"


@lowers(tt.Return)
def _return(e: FunctionContext, op: tt.Return) -> None:
    if e.is_kernel and e.module.num_ctas > 1 and _accesses_other_ctas(op):
        e.cluster_barrier()  # no CTA exits while others access its memory
    parts = [(ty, v) for value in op.srcs for ty, v in zip(types_of(value.type), e(value))]
    if not parts:
        if e.specialization is not None:
            _warps.dismiss_workers(e)
        e.stmt("ret void")
        return
    struct = f"{{ {', '.join(ty for ty, _ in parts)} }}"
    whole = "poison"
    for i, (ty, v) in enumerate(parts):
        whole = e.op(f"insertvalue {struct} {whole}, {ty} {v}, {i}")
    e.stmt(f"ret {struct} {whole}")


def _accesses_other_ctas(op: Operation) -> bool:
    """Whether CTAs access the shared memory of others anywhere in the module of an operation."""
    module = op
    while module.parent_op is not None:
        module = module.parent_op
    return any(_cluster_memory.accesses_other_ctas(found) for found in module.walk())


def _assembled(symbol: str) -> str:
    """A name that ptxas reads, too: symbols of functions have the types of their arguments in them, as `T<i32, c4>`."""
    return re.sub(r"[^\w.$]", lambda found: f"_{ord(found[0]):x}_", symbol)


@lowers(tt.Call)
def _call(e: FunctionContext, op: tt.Call) -> None:
    operands = [f"{ty} {v}" for value in op.args for ty, v in zip(types_of(value.type), e(value))]
    shared = e.scratch(op) if "allocation.offset" in op.attributes else e.shared
    scratch = global_scratch(e, op) if OFFSET in op.attributes else GLOBAL_SCRATCH
    operands += [f"ptr addrspace(3) {shared}", f"ptr addrspace(1) {scratch}", _SCRATCH[1]]
    types = [t for result in op.results for t in types_of(result.type)]
    struct = f"{{ {', '.join(types)} }}" if types else "void"
    call = f'call {struct} @"{_assembled(op.callee)}"({", ".join(operands)})'
    if not types:
        e.stmt(call)
        return
    parts = iter(e.fields(struct, e.op(call), len(types)))
    for result in op.results:
        e.bind(result, [next(parts) for _ in types_of(result.type)])
