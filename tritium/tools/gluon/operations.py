"""What each operation is in Gluon: tables from the name of an operation to its expression."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from ...dialects import arith, tt, ttg
from ...dialects.ttg_layouts import Layout, Slice
from ...frontend.language.libdevice_symbols import PREDICATES, library_names, overloads
from ...ir import (
    DenseElementsAttr,
    FloatAttr,
    FloatType,
    IntegerAttr,
    IntegerType,
    Operation,
    TensorType,
    Value,
    constant_of,
    i1,
    shape_of,
)
from . import asynchronous, control
from .layouts import tensor_type, type_text
from .printer import Expressions, KernelPrinter, NoGluon, Statements, keywords, number_text, policy

__all__ = ["EXPRESSIONS", "STATEMENTS"]

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
    "tt.mulhiui": "umulhi",
}  # fmt: skip
_UNSIGNED = {"arith.shrui": ">>", "arith.divui": "//", "arith.remui": "%"}
_CASTS = ("arith.extsi", "arith.sitofp", "arith.fptosi", "arith.extf", "arith.truncf", "tt.fp_to_fp", "tt.ptr_to_int")
_SIGNED = {"slt": "<", "sle": "<=", "sgt": ">", "sge": ">=", "eq": "==", "ne": "!="}
_UNORDERED = {"ult": ">=", "ule": ">", "ugt": "<=", "uge": "<"}
"""Of floats: what is not so where the predicate holds."""
_ORDERED = {"olt": "<", "ole": "<=", "ogt": ">", "oge": ">=", "oeq": "==", "une": "!="}


def _infix(p: KernelPrinter, op: Operation) -> str:
    a, b = map(p.use, op.operands)
    return f"{a} {_INFIX[op.name]} {b}"


def _call(p: KernelPrinter, op: Operation) -> str:
    return f"gl.{_CALLS[op.name]}({', '.join(map(p.use, op.operands))})"


def _select(p: KernelPrinter, op: arith.Select) -> str:
    """`gl.where`; a branch where one condition chooses between tensors."""
    ty, condition = op.results[0].type, op.operands[0]
    if not isinstance(ty, TensorType) or isinstance(condition.type, TensorType):
        return _call(p, op)
    p.texts[op.results[0]] = name = p.names.of(op.results[0], "chosen")
    _, true, false = map(p.use, op.operands)
    p.line(f"{name} = {false}")
    p.line(f"if {p.use(condition)}:")
    with p.indented():
        p.line(f"{name} = {true}")
    return name


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
    divisor = constant_of(op.operands[1])
    if isinstance(divisor, IntegerAttr) and divisor.value > 0 and not isinstance(op.results[0].type, TensorType):
        return f"{a} // {b} + ({a} % {b} > 0).to({p.type_of(op.results[0])})"
    return f"{a} // {b} + (({a} % {b} != 0) & (({a} < 0) == ({b} < 0))).to({p.type_of(op.results[0])})"


def _compared(p: KernelPrinter, op: arith.CmpI | arith.CmpF) -> str:
    name = op.predicate.name
    if isinstance(op, arith.CmpI) and name[0] == "u":
        a, b = (_unsigned(p, v) for v in op.operands)
        return f"{a} {_SIGNED['s' + name[1:]]} {b}"
    a, b = map(p.use, op.operands)
    if name in _UNORDERED:
        return f"~({a} {_UNORDERED[name]} {b})"
    sign = (_SIGNED if isinstance(op, arith.CmpI) else _ORDERED).get(name)
    if sign is None:
        raise NoGluon(op, f"with the predicate {name}")
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


def _poison(p: KernelPrinter, op: Operation) -> str:
    """A value that is not read: NaN propagates through arithmetic as poison does, so that the same code comes of it."""
    ty = op.results[0].type
    element = p.element(op.results[0])
    if not isinstance(element, (IntegerType, FloatType)):
        raise NoGluon(op, f"of {ty}")
    value = 0 if isinstance(element, IntegerType) else math.nan
    return p.filled(ty, number_text(value)) if isinstance(ty, TensorType) else p.scalar(value, ty)


def _splat(p: KernelPrinter, op: tt.Splat) -> str:
    ty = tensor_type(op.result)
    if isinstance(ty.element, tt.PointerType):
        if all(isinstance(user, tt.AddPtr) and user.operands[0] is op.result for user in op.result.users):
            return p.use(op.src)  # an offset in each element makes a tensor of it
        return f"{p.use(op.src)} + gl.zeros({list(ty.shape)}, gl.int32, {p.layouts.of(ty)})"
    return p.filled(ty, p.use(op.src))


def _in_layout(p: KernelPrinter, op: tt.Trans | tt.Reshape, text: str) -> str:
    """A result whose layout has several names, under that of the IR.

    A reshape that may reorder elements, which Gluon does not have, moves them between threads instead.
    """
    moves = isinstance(op, tt.Reshape) and op.allow_reorder
    return f"gl.convert_layout({text}, {p.layouts.of(op.result.type)}{'' if moves else ', assert_trivial=True'})"


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
    """From the result's layout, if the source is in one that only repeats elements otherwise."""
    text, source, ty = p.use(op.src), tensor_type(op.src), tensor_type(op.result)
    if source.encoding is not ty.encoding:
        wanted = p.layouts.of(TensorType(source.shape, source.element, ty.encoding))
        text = f"gl.convert_layout({text}, {wanted})"
    return f"{text}.broadcast_to({list(ty.shape)})"


def _load(p: KernelPrinter, op: tt.Load) -> str:
    volatile = ", volatile=True" if op.isVolatile else ""
    return f"gl.load({p.use(op.ptr)}{keywords(p, mask=op.mask, other=op.other)}{policy(op)}{volatile})"


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


def _store(p: KernelPrinter, op: tt.Store) -> None:
    p.line(f"gl.store({p.use(op.ptr)}, {p.use(op.value)}{keywords(p, mask=op.mask)}{policy(op)})")


def _reduce(p: KernelPrinter, op: tt.Reduce | tt.Scan) -> None:
    sources = ", ".join(p.use(v) for v in op.srcs)
    sources = sources if len(op.srcs) == 1 else f"({sources})"
    name = "reduce" if isinstance(op, tt.Reduce) else "associative_scan"
    reverse = ", reverse=True" if isinstance(op, tt.Scan) and op.reverse else ""
    p.bind_all(op, f"gl.{name}({sources}, {op.axis}, {p.combination(op)}{reverse})")


def _extern(p: KernelPrinter, op: tt.ExternElementwise) -> str:
    """A function of the device library, by its name in the language."""
    name = _library_name(op.symbol)
    if name is None or op.libname or op.libpath:
        raise NoGluon(op, f"with the symbol {op.symbol}")
    p.imports.add("from tritium.language.extra.cuda import libdevice")
    return f"libdevice.{name}({', '.join(map(p.use, op.operands))})"


@lru_cache
def _library_name(symbol: str) -> str | None:
    """The function whose overloads have a symbol, except those that change the result's type."""
    for name in sorted(library_names("cuda") - PREDICATES):
        if any(found == symbol for found, _ in (overloads("cuda", name) or {}).values()):
            return name
    return None


def _split(p: KernelPrinter, op: tt.Split) -> None:
    """Both halves, under the layout of the IR."""
    names = [p.names.of(r, "half") for r in op.results]
    p.line(f"{', '.join(names)} = gl.split({p.use(op.src)})")
    for name, result in zip(names, op.results):
        p.line(f"{name} = gl.convert_layout({name}, {p.layouts.of(result.type)}, assert_trivial=True)")
        p.texts[result] = name


def _atomic(p: KernelPrinter, op: tt.AtomicRMW) -> str:
    name = op.atomic_rmw_op.name
    order = f', sem="{op.sem.name}", scope="{op.scope.name}"'
    pointer, value = p.use(op.ptr), p.use(op.val)
    if name in ("umax", "umin"):
        ty = p.type_of(op.val).replace("gl.", "gl.u")
        pointer = f"{pointer}.to(gl.pointer_type({ty}), bitcast=True)"
        value = f"gl.to_tensor({value}).to({ty}, bitcast=True)"
    called = _ATOMICS.get(name, name.strip("_"))
    text = f"gl.atomic_{called}({pointer}, {value}{keywords(p, mask=op.mask)}{order})"
    return f"{text}.to({p.type_of(op.val)}, bitcast=True)" if name in ("umax", "umin") else text


_ATOMICS = {"fadd": "add", "exch": "xchg", "umax": "max", "umin": "min"}


def _compare_and_swap(p: KernelPrinter, op: tt.AtomicCAS) -> str:
    arguments = ", ".join(map(p.use, (op.ptr, op.cmp, op.val)))
    return f'gl.atomic_cas({arguments}, sem="{op.sem.name}", scope="{op.scope.name}")'


def _pointer(p: KernelPrinter, op: Operation) -> str:
    ty = p.element(op.results[0])
    assert isinstance(ty, tt.PointerType)
    found = type_text(ty.pointee)
    if found is None:
        raise NoGluon(op, f"to elements of {ty.pointee}")
    return f"{p.use(op.operands[0])}.to(gl.pointer_type({found}){', bitcast=True' * (op.name == 'tt.bitcast')})"


def _bits(p: KernelPrinter, op: Operation) -> str:
    return _pointer(p, op) if isinstance(p.element(op.results[0]), tt.PointerType) else _same_bits(p, op)


def _only_element(p: KernelPrinter, op: tt.Unsplat) -> str:
    """A maximum of one element, which promotes small floats and integers on the way."""
    if p.element(op.src) is i1 or isinstance(p.element(op.src), tt.PointerType):
        raise NoGluon(op, f"of {op.src.type}")
    found = p.use(op.src)
    for axis in reversed(range(len(shape_of(op.src.type)))):
        found = f"gl.max({found}, {axis})"
    return f"{found}.to({p.type_of(op.results[0])})"


def _clamped(p: KernelPrinter, op: tt.ClampF) -> str:
    x, least, most = map(p.use, op.operands)
    if op.propagateNan != tt.PropagateNan.all:
        return f"gl.clamp({x}, {least}, {most})"
    p.imports.add("from tritium.language import PropagateNan")
    return f"gl.clamp({x}, {least}, {most}, propagate_nan=PropagateNan.ALL)"


def _dependent(name: str) -> Callable[[KernelPrinter, Operation], None]:
    """A statement of dependent launches."""

    def write(p: KernelPrinter, op: Operation) -> None:
        p.imports.add(f"from tritium.language.extra.cuda import {name}")
        p.line(f"{name}()")

    return write


EXPRESSIONS: Expressions = {
    **asynchronous.EXPRESSIONS,
    **dict.fromkeys(_INFIX, _infix),
    **dict.fromkeys(_CALLS, _call),
    **dict.fromkeys(_CASTS, _cast),
    **dict.fromkeys(_UNSIGNED, _of_unsigned),
    "arith.negf": lambda p, op: f"-{p.use(op.operands[0])}",
    "arith.select": _select,
    "tt.bitcast": _bits,
    "tt.int_to_ptr": _pointer,
    "tt.extern_elementwise": _extern,
    "tt.atomic_rmw": _atomic,
    "tt.atomic_cas": _compare_and_swap,
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
    "tt.unsplat": _only_element,
    "tt.clampf": _clamped,
    "ub.poison": _poison,
    "tt.load": _load,
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
STATEMENTS: Statements = {
    **asynchronous.STATEMENTS,
    **control.STATEMENTS,
    "tt.store": _store,
    "tt.reduce": _reduce,
    "tt.scan": _reduce,
    "tt.return": lambda p, op: None,
    "tt.split": _split,
    "tt.grid_dependency_wait": _dependent("gdc_wait"),
    "tt.grid_dependency_launch_dependents": _dependent("gdc_launch_dependents"),
    "llvm.intr.assume": lambda p, op: p.line(f"gl.assume({p.use(op.operands[0])})"),
    "ttg.local_store": lambda p, op: p.line(f"{p.use(op.dst)}.store({p.use(op.src)})"),
    "ttg.local_dealloc": lambda p, op: p.line(f"{p.use(op.src)}._keep_alive()"),
    "ttg.barrier": lambda p, op: p.line("gl.barrier()"),
}
