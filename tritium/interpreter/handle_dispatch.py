"""Which method of `InterpreterBuilder` executes each operation that the language's semantics make."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..dialects import tt
from ..frontend.dtypes import get_int_dtype
from ..ir import Operation, element_type
from ..support import UNKNOWN
from .evaluator import BlockPointer, TensorDesc, UndefinedError, shaped
from .handle_builder import InterpreterBuilder
from .handle_values import Held
from .handles import TensorHandle, from_array, language_type, retyped
from .immediate import ImmediateBuilder, Known

__all__ = ["HandleBuilder"]

Method = Callable[[InterpreterBuilder, Any], Any]


class HandleBuilder(ImmediateBuilder):
    """Executes each operation by the method of `target` for it; the others, among them those with regions, by the
    evaluator, which needs the elements."""

    __slots__ = ("target",)

    def __init__(self, target: InterpreterBuilder) -> None:
        super().__init__(target.evaluator)
        self.target = target

    def insert(self, op: Any) -> Any:
        """Execute `op`, or link it into the region that is being built; the op is returned."""
        if self.block is not self.here:
            return super().insert(op)
        if op.loc is UNKNOWN:
            op.loc = self.loc
        method = METHODS.get(op.name)
        if method is None:
            outcome = self._evaluated(op)
        else:
            made = method(self.target, op)
            outcome = made if len(op.results) > 1 else (made,)
        op.results = [Held(r.type, value, op) for r, value in zip(op.results, outcome)]
        op.drop_references()
        return op

    def _evaluated(self, op: Operation) -> list[Any]:
        evaluator = self.evaluator
        evaluator.program, evaluator.grid = self.target.grid_idx, self.target.grid_dim
        values = [shaped(v, r.type) for v, r in zip(evaluator.execute(op, Known()), op.results)]
        if any(isinstance(value, (TensorDesc, BlockPointer)) for value in values):
            raise UndefinedError(f"{op.name} of a descriptor cannot be interpreted")
        for text in evaluator.printed:
            print(text)
        evaluator.printed.clear()
        return [from_array(value, r.type) for value, r in zip(values, op.results)]

    def argument(self, ty: Any, data: Any, loc: Any = UNKNOWN) -> Held:  # type: ignore[override]
        """A value that is known."""
        return Held(ty, from_array(data, ty))


# -- operands -----------------------------------------------------------------------------------------------------


def _handle(value: Any) -> Any:
    """The handle of an operand; None for one that is not there."""
    if value is None:
        return None
    return value.handle if value.__class__ is Held else from_array(value.data, value.type)


def _handles(values: Sequence[Any]) -> list[Any]:
    return [_handle(v) for v in values]


def _as_integer(value: Any, signed: bool) -> Any:
    """An operand of integers, with the sign that the operation reads them with."""
    width = element_type(value.type).width  # type: ignore[attr-defined]
    handle = _handle(value)
    return handle if width == 1 else retyped(handle, get_int_dtype(width, signed))


# -- methods ------------------------------------------------------------------------------------------------------


def _elementwise(name: str) -> Method:
    return lambda b, op: getattr(b, name)(*_handles(op.operands))


def _integers(name: str, signed: bool) -> Method:
    return lambda b, op: getattr(b, name)(*(_as_integer(v, signed) for v in op.operands))


def _cast(name: str, *extra: Any, signed: bool | None = None) -> Method:
    def call(b: InterpreterBuilder, op: Any) -> Any:
        source = op.operands[0]
        handle = _handle(source) if signed is None else _as_integer(source, signed)
        result = language_type(op.results[0].type, unsigned=signed is False or name == "create_fp_to_ui")
        return getattr(b, name)(handle, result, *extra)

    return call


def _fp_to_fp(b: InterpreterBuilder, op: Any) -> Any:
    return b.create_fp_to_fp(_handle(op.src), language_type(op.results[0].type), op.rounding)


def _compare(kind: str) -> Method:
    def call(b: InterpreterBuilder, op: Any) -> Any:
        name = op.predicate.name
        if kind == "fcmp":
            return getattr(b, f"create_fcmp{name.upper()}")(*_handles(op.operands))
        signed = not name.startswith("u")
        return getattr(b, f"create_icmp{name.upper()}")(*(_comparable(v, signed) for v in op.operands))

    return call


def _comparable(value: Any, signed: bool) -> Any:
    is_integer = hasattr(element_type(value.type), "width") and hasattr(element_type(value.type), "signedness")
    return _as_integer(value, signed) if is_integer else _handle(value)


def _constant(b: InterpreterBuilder, op: Any) -> Any:
    return from_array(b.evaluator.execute(op, Known())[0], op.results[0].type)


def _hints(policy: Any) -> tuple[Any, Any]:
    """Cache modifier and eviction policy of an access."""
    if policy is None:
        return tt.CacheModifier.none, tt.EvictionPolicy.evict_normal
    return policy.cache_modifier, policy.eviction_policy


def _hinted(b: InterpreterBuilder, name: str, head: Sequence[Any], policy: Any, *tail: Any) -> Any:
    """Call a method of an access: with modifier and eviction policy, which clients written for releases before 3.9
    expect, or with one policy where the method that stands there takes exactly the arguments of 3.9."""
    method = getattr(b, name)
    modifier, eviction = _hints(policy)
    if not _binds(method, len(head) + 2 + len(tail)):
        return method(*head, policy, *tail)
    return method(*head, modifier, eviction, *tail)


def _binds(method: Any, count: int) -> bool:
    try:
        inspect.signature(method).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # no signature is known
        return True
    return True


def _load(b: InterpreterBuilder, op: Any) -> Any:
    ptr, volatile = _handle(op.ptr), bool(op.isVolatile)
    if element_type(op.ptr.type).__class__ is tt.PointerType and _is_block_pointer(op.ptr):
        head = (ptr, list(op.boundaryCheck), op.padding)
        return _hinted(b, "create_tensor_pointer_load", head, op.cachePolicy, volatile)
    if op.mask is None:
        return _hinted(b, "create_load", (ptr,), op.cachePolicy, volatile)
    head = (ptr, _handle(op.mask), _handle(op.other))
    return _hinted(b, "create_masked_load", head, op.cachePolicy, volatile)


def _store(b: InterpreterBuilder, op: Any) -> None:
    ptr, value = _handle(op.ptr), _handle(op.value)
    if _is_block_pointer(op.ptr):
        head: tuple[Any, ...] = (ptr, value, list(op.boundaryCheck))
        _hinted(b, "create_tensor_pointer_store", head, op.cachePolicy)
    elif op.mask is None:
        _hinted(b, "create_store", (ptr, value), op.cachePolicy)
    else:
        _hinted(b, "create_masked_store", (ptr, value, _handle(op.mask)), op.cachePolicy)


def _is_block_pointer(value: Any) -> bool:
    ty = element_type(value.type)
    return isinstance(ty, tt.PointerType) and getattr(ty.pointee, "shape", ()) != ()


def _make_block_pointer(b: InterpreterBuilder, op: Any) -> Any:
    parts = [_handles(part) for part in (op.shape, op.strides, op.offsets)]
    return b.create_make_block_ptr(_handle(op.base), *parts, list(op.result.type.pointee.shape), list(op.order))


def _make_descriptor(b: InterpreterBuilder, op: Any) -> Any:
    block = op.result.type.block
    signed = getattr(block.element, "signedness", "") != "u"
    shape, strides = _handles(op.shape), _handles(op.strides)
    return b.create_make_tensor_descriptor(_handle(op.base), shape, strides, list(block.shape), signed, op.padding)


def _descriptor_load(b: InterpreterBuilder, op: Any) -> Any:
    loaded = _hinted(b, "create_descriptor_load", (_handle(op.desc), _handles(op.indices)), op.cachePolicy)
    if isinstance(loaded, TensorHandle) and loaded.data.shape != op.result.type.shape:
        return TensorHandle(loaded.data.reshape(op.result.type.shape), loaded.dtype)
    return loaded


def _descriptor_store(b: InterpreterBuilder, op: Any) -> None:
    value, desc = _handle(op.src), _handle(op.desc)
    if isinstance(value, TensorHandle):
        value = TensorHandle(value.data.reshape(op.desc.type.block.shape), value.dtype)
    b.create_descriptor_store(desc, value, _handles(op.indices))


def _atomic_rmw(b: InterpreterBuilder, op: Any) -> Any:
    """The mask that is not there holds everywhere, as clients expect one."""
    mask = _handle(op.mask)
    if mask is None:
        ptr = _handle(op.ptr)
        mask = TensorHandle(ptr.data == ptr.data, language_type(_I1)) if isinstance(ptr, TensorHandle) else None
    return b.create_atomic_rmw(op.atomic_rmw_op, _handle(op.ptr), _handle(op.val), mask, op.sem, op.scope)


_I1 = get_int_dtype(1, False).to_ir()


def _dot_scaled(b: InterpreterBuilder, op: Any) -> Any:
    left = (_handle(op.a), _handle(op.a_scale), op.a_elem_type)
    right = (_handle(op.b), _handle(op.b_scale), op.b_elem_type)
    return b.create_dot_scaled(*left, *right, op.fastMath, op.lhs_k_pack, op.rhs_k_pack, _handle(op.c))


def _external(b: InterpreterBuilder, op: Any) -> Any:
    result = language_type(op.result.type)
    return b.create_extern_elementwise(op.libname, op.libpath, op.symbol, _handles(op.srcs), result, op.pure)


def _print(b: InterpreterBuilder, op: Any) -> None:
    if "tt.format" in op.attributes:
        values = (v if v.ndim else v.item() for v in (o.data for o in op.args))
        print(op.prefix.format(*values))
    else:
        b.create_print(op.prefix, op.hex, _handles(op.args), list(op.isSigned))


METHODS: dict[str, Method] = {
    **{f"arith.{n}f": _elementwise(f"create_f{n}") for n in ("add", "sub", "mul", "div", "rem", "neg")},
    **{f"arith.{n}": _elementwise(f"create_{n}") for n in ("maximumf", "minimumf", "maxnumf", "minnumf", "select")},
    **{f"arith.{n}i": _elementwise(f"create_{n}") for n in ("add", "sub", "mul", "and", "or", "xor")},
    "arith.shli": _elementwise("create_shl"),
    "arith.shrsi": _integers("create_ashr", True),
    "arith.shrui": _integers("create_lshr", False),
    **{f"arith.{n}si": _integers(f"create_s{n}", True) for n in ("div", "rem")},
    **{f"arith.{n}ui": _integers(f"create_u{n}", False) for n in ("div", "rem")},
    **{f"arith.{n}{s}i": _integers(f"create_{n}{s}i", s == "s") for n in ("max", "min") for s in "su"},
    "arith.cmpi": _compare("icmp"),
    "arith.cmpf": _compare("fcmp"),
    "arith.constant": _constant,
    "arith.extsi": _cast("create_int_cast", True, signed=True),
    "arith.extui": _cast("create_int_cast", False, signed=False),
    "arith.trunci": _cast("create_int_cast", False),
    "arith.sitofp": _cast("create_si_to_fp", signed=True),
    "arith.uitofp": _cast("create_ui_to_fp", signed=False),
    "arith.fptosi": _cast("create_fp_to_si"),
    "arith.fptoui": _cast("create_fp_to_ui"),
    "arith.extf": _cast("create_fp_ext"),
    "arith.truncf": _cast("create_fp_trunc"),
    "tt.bitcast": _cast("create_bitcast"),
    "tt.ptr_to_int": _cast("create_ptr_to_int"),
    "tt.fp_to_fp": _fp_to_fp,
    **{f"math.{n}": _elementwise(f"create_{n}") for n in (
        "cos", "sin", "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "floor", "ceil", "erf", "fma")},
    "math.absf": _elementwise("create_fabs"),
    "math.absi": _elementwise("create_iabs"),
    **{f"tt.{n}": _elementwise(f"create_{n}") for n in ("precise_sqrt", "precise_divf", "approx_divf")},
    "tt.mulhiui": _integers("create_umulhi", False),
    "tt.clampf": lambda b, op: b.create_clampf(*_handles(op.operands), op.propagateNan),
    "tt.get_program_id": lambda b, op: b.create_get_program_id(int(op.axis)),
    "tt.get_num_programs": lambda b, op: b.create_get_num_programs(int(op.axis)),
    "tt.make_range": lambda b, op: b.create_make_range(language_type(op.results[0].type), op.start, op.end),
    "tt.splat": lambda b, op: b.create_splat(language_type(op.results[0].type), _handle(op.operands[0])),
    "tt.unsplat": _elementwise("create_unsplat"),
    "tt.broadcast": lambda b, op: b.create_broadcast(_handle(op.operands[0]), list(op.results[0].type.shape)),
    "tt.expand_dims": lambda b, op: b.create_expand_dims(_handle(op.operands[0]), op.axis),
    "tt.reshape": lambda b, op: b.create_reshape(
        _handle(op.src), list(op.result.type.shape), bool(op.allow_reorder)),
    "tt.trans": lambda b, op: b.create_trans(_handle(op.operands[0]), list(op.order)),
    "tt.cat": _elementwise("create_cat"),
    "tt.join": _elementwise("create_join"),
    "tt.split": _elementwise("create_split"),
    "tt.gather": lambda b, op: b.create_gather(*_handles(op.operands), op.axis),
    "tt.histogram": lambda b, op: b.create_histogram(
        _handle(op.src), op.result.type.shape[0], _handle(op.mask)),
    "tt.addptr": lambda b, op: b.create_addptr(_handle(op.ptr), _as_integer(op.offset, True)),
    "tt.load": _load,
    "tt.store": _store,
    "tt.make_tensor_ptr": _make_block_pointer,
    "tt.advance": lambda b, op: b.create_advance(_handle(op.ptr), _handles(op.offsets)),
    "tt.make_tensor_descriptor": _make_descriptor,
    "tt.descriptor_load": _descriptor_load,
    "tt.descriptor_store": _descriptor_store,
    "tt.descriptor_gather": lambda b, op: b.create_descriptor_gather(
        _handle(op.desc), _handle(op.x_offsets), _handle(op.y_offset), language_type(op.result.type)),
    "tt.descriptor_scatter": lambda b, op: b.create_descriptor_scatter(
        _handle(op.desc), _handle(op.src), _handle(op.x_offsets), _handle(op.y_offset)),
    "tt.atomic_rmw": _atomic_rmw,
    "tt.atomic_cas": lambda b, op: b.create_atomic_cas(*_handles(op.operands), op.sem, op.scope),
    "tt.atomic_load": lambda b, op: b.create_atomic_load(_handle(op.ptr), _handle(op.mask), op.sem, op.scope),
    "tt.atomic_store": lambda b, op: b.create_atomic_store(
        _handle(op.ptr), _handle(op.value), _handle(op.mask), op.sem, op.scope),
    "tt.atomic_poll": lambda b, op: b.create_atomic_poll(
        _handle(op.ptr), _handle(op.expected), _handle(op.timeout), op.sem, op.scope),
    "tt.dot": lambda b, op: b.create_dot(*_handles((op.a, op.b, op.c)), op.inputPrecision, op.maxNumImpreciseAcc),
    "tt.dot_scaled": _dot_scaled,
    "tt.extern_elementwise": _external,
    "tt.elementwise_inline_asm": lambda b, op: b.create_inline_asm(
        op.asm_string, op.constraints, _handles(op.args), [language_type(r.type) for r in op.results], op.pure,
        op.packed_element),
    "tt.print": _print,
    "tt.assert": lambda b, op: b.create_assert(_handle(op.condition), op.message),
    "llvm.intr.assume": lambda b, op: b.create_assume(_handle(op.cond)),
    "ttg.barrier": lambda b, op: b.create_barrier(),
}  # fmt: skip


def _int_to_ptr(b: InterpreterBuilder, op: Any) -> Any:
    """Addresses in a program may be of any memory of this process."""
    handle = _handle(op.operands[0])
    if isinstance(handle, TensorHandle):
        b.memory.open(handle.data.astype("int64"))
    return b.create_int_to_ptr(handle, language_type(op.results[0].type))


METHODS["tt.int_to_ptr"] = _int_to_ptr
