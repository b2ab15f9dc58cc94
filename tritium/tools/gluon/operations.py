"""What each operation is in Gluon: tables from the name of an operation to its expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ...dialects import arith, tt, ttg, ttng
from ...dialects.ttg_layouts import Blocked, Layout, Slice
from ...dialects.ttg_memory import AsyncTokenType
from ...ir import CountedLoop, DenseElementsAttr, FloatAttr, IntegerAttr, Operation, TensorType, Value, i1, shape_of
from .layouts import tensor_type
from .printer import KernelPrinter, NoGluon, number_text

__all__ = ["EXPRESSIONS", "STATEMENTS"]

Expression: TypeAlias = Callable[..., str]
Statement: TypeAlias = Callable[..., None]

_INFIX = {
    "arith.addi": "+", "arith.subi": "-", "arith.muli": "*", "arith.addf": "+", "arith.subf": "-", "arith.mulf": "*",
    "arith.andi": "&", "arith.ori": "|", "arith.xori": "^", "arith.shli": "<<", "arith.shrsi": ">>",
    "arith.divsi": "//", "arith.remsi": "%", "tt.addptr": "+",
}  # fmt: skip
_CALLS = {
    "arith.maxsi": "maximum", "arith.minsi": "minimum", "arith.maxnumf": "maximum", "arith.minnumf": "minimum",
    "arith.select": "where", "math.exp": "exp", "math.exp2": "exp2", "math.log": "log", "math.log2": "log2",
    "math.sin": "sin", "math.cos": "cos", "math.sqrt": "sqrt", "math.rsqrt": "rsqrt", "math.absf": "abs",
    "math.absi": "abs", "math.floor": "floor", "math.ceil": "ceil", "math.erf": "erf", "math.fma": "fma",
    "tt.precise_divf": "div_rn", "tt.precise_sqrt": "sqrt_rn", "tt.join": "join",
}  # fmt: skip
_UNSIGNED = {"arith.shrui": ">>", "arith.divui": "//", "arith.remui": "%"}
_CASTS = ("arith.extsi", "arith.sitofp", "arith.fptosi", "arith.extf", "arith.truncf", "tt.fp_to_fp", "tt.ptr_to_int")
EXACT = 1 << 30
"""This many imprecise accumulations or more: all, which is what Gluon's default asks for."""
_SIGNED = {"slt": "<", "sle": "<=", "sgt": ">", "sge": ">=", "eq": "==", "ne": "!="}
_ORDERED = {"olt": "<", "ole": "<=", "ogt": ">", "oge": ">=", "oeq": "==", "une": "!="}


def _infix(p: KernelPrinter, op: Operation) -> str:
    a, b = map(p.use, op.operands)
    return f"{a} {_INFIX[op.name]} {b}"


def _call(p: KernelPrinter, op: Operation) -> str:
    return f"gl.{_CALLS[op.name]}({', '.join(map(p.use, op.operands))})"


def _select(p: KernelPrinter, op: arith.Select) -> str:
    ty, condition = op.results[0].type, op.operands[0]
    if not isinstance(ty, TensorType) or isinstance(condition.type, TensorType):
        return _call(p, op)
    everywhere = f"gl.full({list(ty.shape)}, {p.use(condition)}, gl.int1, {p.layouts.of(ty)})"
    return f"gl.where({everywhere}, {p.use(op.operands[1])}, {p.use(op.operands[2])})"


def _cast(p: KernelPrinter, op: Operation) -> str:
    return f"{p.use(op.operands[0])}.to({p.type_of(op.results[0])})"


def _unsigned(p: KernelPrinter, value: Value) -> str:
    """The bits of an integer as an unsigned one."""
    if p.element(value) is i1:
        return p.use(value)
    return f"gl.to_tensor({p.use(value)}).to({p.type_of(value).replace('gl.', 'gl.u')}, bitcast=True)"


def _from_bits(p: KernelPrinter, op: Operation) -> str:
    """From an unsigned integer."""
    return f"{_unsigned(p, op.operands[0])}.to({p.type_of(op.results[0])})"


def _of_unsigned(p: KernelPrinter, op: Operation) -> str:
    """An operation on unsigned integers, whose result has their bits."""
    a, b = (_unsigned(p, v) for v in op.operands)
    return f"({a} {_UNSIGNED[op.name]} {b}).to({p.type_of(op.results[0])}, bitcast=True)"


def _same_bits(p: KernelPrinter, op: Operation) -> str:
    return f"{p.use(op.operands[0])}.to({p.type_of(op.results[0])}, bitcast=True)"


def _narrowed(p: KernelPrinter, op: arith.TruncI) -> str:
    if p.element(op.results[0]) is i1:
        raise NoGluon(op, "to i1")
    return _cast(p, op)


def _divided(p: KernelPrinter, op: arith.DivF) -> str:
    if str(p.element(op.results[0])) not in ("f32", "f64"):
        raise NoGluon(op, "of numbers of 16 bits")
    a, b = map(p.use, op.operands)
    return f"{a} / {b}"


def _rounded_up(p: KernelPrinter, op: arith.CeilDivSI) -> str:
    a, b = map(p.use, op.operands)
    return f"{a} // {b} + (({a} % {b} != 0) & (({a} < 0) == ({b} < 0))).to({p.type_of(op.results[0])})"


def _compared(p: KernelPrinter, op: arith.CmpI | arith.CmpF) -> str:
    name = op.predicate.name
    if isinstance(op, arith.CmpI) and name[0] == "u":
        a, b = (_unsigned(p, v) for v in op.operands)
        return f"{a} {_SIGNED['s' + name[1:]]} {b}"
    sign = (_SIGNED if isinstance(op, arith.CmpI) else _ORDERED).get(name)
    if sign is None:
        raise NoGluon(op, f"with the predicate {name}")
    a, b = map(p.use, op.operands)
    return f"{a} {sign} {b}"


def _constant(p: KernelPrinter, op: arith.Constant) -> str:
    ty, attr = op.results[0].type, op.attributes["value"]
    if not isinstance(ty, TensorType):
        assert isinstance(attr, (IntegerAttr, FloatAttr))
        return p.scalar(attr.value, ty)
    value = op.splat_value()
    if not isinstance(attr, DenseElementsAttr) or value is None:
        raise NoGluon(op, "of different elements")
    return p.filled(ty, number_text(value))


def _splat(p: KernelPrinter, op: tt.Splat) -> str:
    ty = tensor_type(op.result)
    if isinstance(ty.element, tt.PointerType):
        if all(isinstance(user, tt.AddPtr) and user.operands[0] is op.result for user in op.result.users):
            return p.use(op.src)  # an offset in each element makes a tensor of it
        return f"{p.use(op.src)} + gl.zeros({list(ty.shape)}, gl.int32, {p.layouts.of(ty)})"
    return p.filled(ty, p.use(op.src))


def _policy(op: tt.Load | tt.Store | ttg.AsyncCopyGlobalToLocal) -> str:
    policy = op.cachePolicy
    if policy is None:
        return ""
    if not isinstance(policy, tt.CachePolicy):
        raise NoGluon(op, f"with the policy {policy}")
    modifier, eviction = policy.cache_modifier.name, policy.eviction_policy.name
    text = "" if modifier == "none" else f', cache_modifier=".{modifier}"'
    return text + ("" if eviction == "evict_normal" else f', eviction_policy="{eviction}"')


def _keywords(p: KernelPrinter, **values: Value | None) -> str:
    return "".join(f", {name}={p.use(value)}" for name, value in values.items() if value is not None)


def _in_layout(p: KernelPrinter, op: tt.Trans | tt.Reshape, text: str) -> str:
    """A result whose layout has several names, under that of the IR."""
    return f"gl.convert_layout({text}, {p.layouts.of(op.result.type)}, assert_trivial=True)"


def _expanded(p: KernelPrinter, op: tt.ExpandDims) -> str:
    """From a slice of the result's layout: Gluon accepts no other one of the same map."""
    text, source, encoding = p.use(op.src), tensor_type(op.src), tensor_type(op.result).encoding
    assert isinstance(encoding, Layout)
    layout = Slice(op.axis, encoding)
    if source.encoding is not layout:
        wanted = p.layouts.of(TensorType(source.shape, source.element, layout))
        text = f"gl.convert_layout({text}, {wanted}, assert_trivial=True)"
    return f"gl.expand_dims({text}, {op.axis})"


def _repeated(p: KernelPrinter, op: tt.Broadcast) -> str:
    """From the result's layout, if the source is in one that is the same for its shape."""
    text, source, ty = p.use(op.src), tensor_type(op.src), tensor_type(op.result)
    if source.encoding is not ty.encoding:
        wanted = p.layouts.of(TensorType(source.shape, source.element, ty.encoding))
        text = f"gl.convert_layout({text}, {wanted}, assert_trivial=True)"
    return f"{text}.broadcast_to({list(ty.shape)})"


def _load(p: KernelPrinter, op: tt.Load) -> str:
    volatile = ", volatile=True" if op.isVolatile else ""
    return f"gl.load({p.use(op.ptr)}{_keywords(p, mask=op.mask, other=op.other)}{_policy(op)}{volatile})"


def _dot(p: KernelPrinter, op: tt.Dot) -> str:
    a, b, c = (p.use(v) for v in (op.a, op.b, op.c))
    if isinstance(tensor_type(op.result).encoding, Blocked):
        return f"gl.dot_fma({a}, {b}, {c})"
    p.imports.add("from tritium.experimental.gluon.language.nvidia.ampere import mma_v2")
    return f"mma_v2({a}, {b}, {c}{_precision(p, op)})"


def _precision(p: KernelPrinter, op: tt.Dot) -> str:
    return f', "{op.inputPrecision.name}"' if str(p.element(op.a)) == "f32" else ""


def _wgmma(p: KernelPrinter, op: ttng.WarpGroupDot) -> str:
    p.imports.add("from tritium.experimental.gluon.language.nvidia.hopper import warpgroup_mma")
    text = f"warpgroup_mma({p.use(op.a)}, {p.use(op.b)}, {p.use(op.c)}{_keywords(p, use_acc=op.useC)}"
    if str(p.element(op.a)) == "f32":
        text += f', precision="{op.inputPrecision.name}"'
    if 0 < op.maxNumImpreciseAcc < EXACT:
        text += f", max_num_imprecise_acc={op.maxNumImpreciseAcc}"
    return f"{text}{', is_async=True' * op.isAsync})"


def _wgmma_wait(p: KernelPrinter, op: ttng.WarpGroupDotWait) -> None:
    p.imports.add("from tritium.experimental.gluon.language.nvidia.hopper import warpgroup_mma_wait")
    inputs = ", ".join(p.use(v) for v in op.inputs)
    p.bind_all(op, f"warpgroup_mma_wait({op.pendings}, ({inputs},))")


def _index(p: KernelPrinter, op: ttg.MemDescIndex) -> str:
    return f"{p.use(op.src)}.index({p.use(op.index)})"


def _subslice(p: KernelPrinter, op: ttg.MemDescSubslice) -> str:
    text = p.use(op.src)
    for d, (at, n, whole) in enumerate(zip(op.offsets, shape_of(op.result.type), shape_of(op.src.type))):
        text += f".slice({at}, {n}, {d})" if n != whole else ""
    return text


def _alloc(p: KernelPrinter, op: ttg.LocalAlloc) -> str:
    ty = op.result.type
    shape = list(shape_of(ty))
    value = "" if op.src is None else f", {p.use(op.src)}"
    return f"gl.allocate_shared_memory({p.type_of(op.result)}, {shape}, {p.layouts.of(ty)}{value})"


def _async_copy(p: KernelPrinter, op: ttg.AsyncCopyGlobalToLocal) -> None:
    made = None if op.other is None else op.other.defining_op
    if op.other is not None and not (isinstance(made, arith.Constant) and made.splat_value() == 0):
        raise NoGluon(op, "with elements other than zero where the mask is false")
    p.imports.add("from tritium.experimental.gluon.language.nvidia.ampere import async_copy")
    volatile = ", volatile=True" if op.isVolatile else ""
    arguments = f"{p.use(op.result)}, {p.use(op.src)}{_keywords(p, mask=op.mask)}{_policy(op)}{volatile}"
    p.line(f"async_copy.async_load({arguments})")


def _commit(p: KernelPrinter, op: Operation) -> None:
    p.line("async_copy.commit_group()")


def _wait(p: KernelPrinter, op: ttg.AsyncWait) -> None:
    p.imports.add("from tritium.experimental.gluon.language.nvidia.ampere import async_copy")
    p.line(f"async_copy.wait_group({op.num})")


def _fence(p: KernelPrinter, op: Operation) -> None:
    p.imports.add("from tritium.experimental.gluon.language.nvidia.hopper import fence_async_shared")
    p.line("fence_async_shared()")


def _store(p: KernelPrinter, op: tt.Store) -> None:
    p.line(f"gl.store({p.use(op.ptr)}, {p.use(op.value)}{_keywords(p, mask=op.mask)}{_policy(op)})")


def _reduce(p: KernelPrinter, op: tt.Reduce | tt.Scan) -> None:
    sources = ", ".join(p.use(v) for v in op.srcs)
    sources = sources if len(op.srcs) == 1 else f"({sources})"
    name = "reduce" if isinstance(op, tt.Reduce) else "associative_scan"
    reverse = ", reverse=True" if isinstance(op, tt.Scan) and op.reverse else ""
    p.bind_all(op, f"gl.{name}({sources}, {op.axis}, {p.combination(op)}{reverse})")


def _for(p: KernelPrinter, op: CountedLoop) -> None:
    if "unsignedCmp" in op.attributes:
        raise NoGluon(op, "with unsigned bounds")
    body = op.regions[0].blocks[0]
    index, *carried = body.args
    last = body.last
    assert last is not None
    names, values = [], []
    for argument, first, next_value, result in zip(carried, op.operands[op.init_start :], last.operands, op.results):
        if isinstance(argument.type, AsyncTokenType):
            continue
        name = p.names.of(argument, "carried")
        made = next_value.defining_op
        text = p.use(first)
        if isinstance(made, ttng.WarpGroupDot) and made.isAsync:
            p.imports.add("from tritium.experimental.gluon.language.nvidia.hopper import warpgroup_mma_init")
            text = f"warpgroup_mma_init({text})"
        p.line(f"{name} = {text}")
        p.texts[argument] = p.texts[result] = name
        names.append(name)
        values.append(next_value)
    p.texts[index] = p.names.of(index, "i")
    p.line(f"for {p.texts[index]} in range({p.use(op.lb)}, {p.use(op.ub)}, {p.use(op.step)}):")
    with p.indented():
        p.block(body)
        p.assign(names, list(map(p.use, values)))


def _if(p: KernelPrinter, op: Operation) -> None:
    names = [p.names.of(r, "chosen") for r in op.results]
    for i, region in enumerate(op.regions):
        if not region.blocks:
            continue
        p.line(f"if {p.use(op.operands[0])}:" if i == 0 else "else:")
        with p.indented():
            p.block(region.blocks[0])
            last = region.blocks[0].last
            assert last is not None
            p.assign(names, list(map(p.use, last.operands)))
    p.texts.update(zip(op.results, names))


EXPRESSIONS: dict[str, Expression] = {
    **dict.fromkeys(_INFIX, _infix),
    **dict.fromkeys(_CALLS, _call),
    **dict.fromkeys(_CASTS, _cast),
    **dict.fromkeys(_UNSIGNED, _of_unsigned),
    "arith.select": _select,
    "tt.bitcast": _same_bits,
    "arith.bitcast": _same_bits,
    "arith.uitofp": _from_bits,
    "arith.extui": _from_bits,
    "arith.trunci": _narrowed,
    "arith.ceildivsi": _rounded_up,
    "arith.divf": _divided,
    "arith.cmpi": _compared,
    "arith.cmpf": _compared,
    "arith.constant": _constant,
    "tt.splat": _splat,
    "tt.load": _load,
    "tt.dot": _dot,
    "ttng.warp_group_dot": _wgmma,
    "tt.get_program_id": lambda p, op: f"gl.program_id({int(op.axis)})",
    "tt.get_num_programs": lambda p, op: f"gl.num_programs({int(op.axis)})",
    "tt.make_range": lambda p, op: f"gl.arange({op.start}, {op.end}, {p.layouts.of(op.result.type)})",
    "tt.expand_dims": _expanded,
    "tt.broadcast": _repeated,
    "tt.trans": lambda p, op: _in_layout(p, op, f"gl.permute({p.use(op.src)}, {list(op.order)})"),
    "tt.reshape": lambda p, op: _in_layout(p, op, f"gl.reshape({p.use(op.src)}, {list(shape_of(op.result.type))})"),
    "ttg.convert_layout": lambda p, op: f"gl.convert_layout({p.use(op.src)}, {p.layouts.of(op.result.type)})",
    "ttg.local_alloc": _alloc,
    "ttg.local_load": lambda p, op: f"{p.use(op.src)}.load({p.layouts.of(op.result.type)})",
    "ttg.memdesc_index": _index,
    "ttg.memdesc_subslice": _subslice,
    "ttg.memdesc_trans": lambda p, op: f"{p.use(op.src)}.permute({list(op.order)})",
    "ttg.memdesc_reshape": lambda p, op: f"{p.use(op.src)}.reshape({list(shape_of(op.result.type))})",
}
STATEMENTS: dict[str, Statement] = {
    "tt.store": _store,
    "tt.reduce": _reduce,
    "tt.scan": _reduce,
    "tt.return": lambda p, op: None,
    "llvm.intr.assume": lambda p, op: p.line(f"gl.assume({p.use(op.operands[0])})"),
    "scf.for": _for,
    "scf.if": _if,
    "scf.yield": lambda p, op: None,
    "ttg.local_store": lambda p, op: p.line(f"{p.use(op.dst)}.store({p.use(op.src)})"),
    "ttg.local_dealloc": lambda p, op: p.line(f"{p.use(op.src)}._keep_alive()"),
    "ttg.barrier": lambda p, op: p.line("gl.barrier()"),
    "ttg.async_copy_global_to_local": _async_copy,
    "ttg.async_commit_group": _commit,
    "ttg.async_wait": _wait,
    "ttng.fence_async_shared": _fence,
    "ttng.warp_group_dot_wait": _wgmma_wait,
}
