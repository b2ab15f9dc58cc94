"""widen-loops: Merge pairs of iterations of a loop of narrow dots into one iteration of twice the width.

    for %i = 0 to %n {                                  for %i = 0 to %middle step 2 {
      %k = load %p                  : 128x32              %k = load %p'                : 128x64
      %s = dot %q, %k, 0            : 128x32              %s = dot %q, %k, 0           : 128x64
      %e = exp2 %s                                  =>    %e = exp2 %s
      %acc' = dot %e, trans %k, %acc                      %acc' = dot %e, trans %k, %acc
      %p += 32 * %stride                                  %p' += 64 * %stride
    }                                                   }
                                                        for %i = %middle to %n { the loop as it is }      at most once

WGMMAs with few columns read their left operand from shared memory too often: 64 x 32 x 16 takes 24 cycles, 64 x 64 x 16
takes 32 (beyond 128 bytes per cycle of shared memory nothing is gained, so that wider dots stay as they are).

A loop qualifies if all values it computes are scalars, accumulators, or tensors with the axis that is widened:

- an accumulator is carried, without that axis, and its only use is `%acc' = dot %a, %b, %acc`, where the axis is K.
  The MMA instructions of K = 64 are those of two K = 32, in the same order;
- M and N of other dots, elementwise operations, transposes and masks are independent per element of the axis;
- of a carried pointer, both iterations are known: `%p` and `%p + %delta`. Addresses are the same to the bit: offsets of
  the second half are added as the loop adds them, and not multiplied anew;
- nothing in the loop writes memory, and no loop inside of it runs.

Results are the same bits. Loops are left alone where accumulators would exceed `MAX_ACCUMULATORS` registers of a thread
(of 255), or prefetching would be less than `MIN_STAGES` deep.
"""

from __future__ import annotations

from math import prod

from ..dialects import arith, tt
from ..dialects.tt_types import CacheModifier, PointerType
from ..dialects.ttg_switches import is_on
from ..ir import (
    ELEMENTWISE,
    PURE,
    WRITE,
    Builder,
    CountedLoop,
    DenseElementsAttr,
    IntegerAttr,
    Operation,
    PlainLoad,
    TensorType,
    Value,
    constant_of,
    count,
    element_type,
    functions_of,
    i32,
    i64,
    is_tensor_dot,
    may_change,
    memory_effects,
    pass_on,
    shape_of,
)
from ..support.dataclasses import dataclass
from .versions import empty_branch

__all__ = ["WidenOptions", "widen_loops"]

MAX_COLUMNS = 64
"""Columns of a dot after widening: from 64 on, the tensor core and not shared memory limits a WGMMA of m64nNk16, by
max(N / 2, (2048 + 32 N) / 128) cycles."""

MAX_ACCUMULATORS = 192
"""Registers of a thread for results of dots after widening: attention gradients with 192 (d128, 8 warps) do not
spill, those of d64 spill 5 registers outside of loops (ptxas 13.5)."""

MIN_STAGES = 3
"""With two stages of 64 rows instead of three, attention gradients lose what widening gains: 349 TFLOP/s instead of
449, 357 with five stages of 32 (H200, November 2026)."""

MAX_SHARED = 200 << 10
"""Bytes of shared memory for the stages of the wide loop and for operands that do not change (227 KiB are there)."""

_REQUESTS = ("tt.warp_specialize", "tt.flatten", "tt.loop_unroll_factor")


@dataclass(frozen=True)
class WidenOptions:
    """`threads`: of a program. `num_stages`: of loops that do not state it."""

    threads: int = 128
    num_stages: int = 3


@pass_on("function", options=WidenOptions, statistics={"loops widened": "loops with two iterations in one"})
def widen_loops(op: Operation, options: WidenOptions = WidenOptions()) -> bool:
    """Merge pairs of iterations of a loop of narrow dots into one iteration of twice the width."""
    widened = 0
    for func in functions_of(op) if is_on(op, "widen-loops") else ():
        for loop in [inner for inner in func.walk_post() if isinstance(inner, CountedLoop)]:
            if _qualifies(loop, options):
                widened += _Widening(loop, options).run()
    count("loops widened", widened)
    return widened > 0


def _qualifies(loop: CountedLoop, options: WidenOptions) -> bool:
    """Whether the loop itself may have twice the step: counts from a constant, writes nothing, requests nothing."""
    lb, step = _integer(loop.lb), _integer(loop.step)
    if loop.unsignedCmp or lb is None or step is None or lb < 0 or step <= 0:
        return False
    if any(name in loop.attributes for name in _REQUESTS) or _wide_stages(loop, options) < MIN_STAGES:
        return False
    return not any(op.regions or memory_effects(op) & WRITE for op in loop.body)


def _wide_stages(loop: CountedLoop, options: WidenOptions) -> int:
    """The stages that prefetch as many rows as before: one iteration computes, the others are ahead."""
    said = loop.attributes.get("tt.num_stages")
    stages = said.value if isinstance(said, IntegerAttr) else options.num_stages
    return 1 + stages // 2


class _Widening:
    """The wide form of one loop: `axis` has the dimension that is widened of each tensor that has it."""

    def __init__(self, loop: CountedLoop, options: WidenOptions) -> None:
        self.loop, self.options = loop, options
        self.size = 0
        self.axis: dict[Value, int] = {}
        self.accumulated: dict[Value, tt.Dot] = {}  # by the carried value
        self.moving: dict[Value, Value] = {}  # carried pointers -> the addptr that moves them
        self.counting: dict[Value, int] = {}  # carried integers -> what is added in each iteration
        self.repeated: dict[tuple[Value, int], Value] = {}

    def run(self) -> int:
        """Replace the loop; returns 1 if it could be."""
        if not self.classify() or not self.pays() or not may_change("widen-loops", self.loop):
            return 0
        self.replace()
        return 1

    # -- which values have the axis -----------------------------------------------------------------------------------

    def classify(self) -> bool:
        """Find the axis of all values from the accumulators on; False where a value cannot be widened."""
        sizes = set()
        for arg, value in zip(self.loop.iter_args, self.loop.yielded, strict=True):
            op = value.defining_op
            if isinstance(op, tt.Dot) and op.c is arg and _adds_in_order(op) and _used_once(arg) and _used_once(value):
                self.accumulated[arg] = op
                sizes.add(shape_of(op.a.type)[1])
            elif isinstance(op, arith.AddI) and op.lhs is arg and not shape_of(arg.type):
                by = _integer(op.rhs)
                if by is None:
                    return False
                self.counting[arg] = by
        if len(sizes) != 1:
            return False
        self.size = sizes.pop()
        if self.size % 16 or 2 * self.size > MAX_COLUMNS:
            return False
        for dot in self.accumulated.values():
            if not self.has_axis(dot.a, 1) or not self.has_axis(dot.b, 0):
                return False
        known = (*self.accumulated, *self.moving, *self.counting)
        moved = {self.loop.results[self.loop.iter_args.index(arg)] for arg in self.moving}
        return all(arg in known for arg in self.loop.iter_args) and not any(list(r.uses) for r in moved)

    def has_axis(self, value: Value, dim: int) -> bool:
        """Note that `value` is widened along `dim`; False if that is not possible."""
        if value in self.axis:
            return self.axis[value] == dim
        self.axis[value] = dim
        if shape_of(value.type)[dim] != self.size:
            return False
        if self.is_fixed(value):
            return self.can_repeat(value, dim)
        op = value.defining_op
        if op is None:
            return self.can_move(value, dim)
        if isinstance(op, PlainLoad):
            return _may_merge(op) and all(self.has_axis(v, dim) for v in op.operands)
        if isinstance(op, tt.Dot):
            fixed = dim == 1 and _adds_in_order(op) and self.is_fixed(op.a)
            return fixed and self.has_axis(op.b, 1) and self.has_axis(op.c, 1)
        if isinstance(op, arith.AddI) and self.is_position(op):
            return True
        source = _source_of(op, dim)
        if source is None:
            return False
        return all(self.is_fixed(v) if d is None else self.has_axis(v, d) for v, d in source)

    def is_fixed(self, value: Value) -> bool:
        """Whether a value is computed from values outside of the loop alone."""
        if self.loop.is_defined_outside(value):
            return True
        op = value.defining_op
        return op is not None and bool(op.traits & PURE) and not op.regions and all(map(self.is_fixed, op.operands))

    def can_repeat(self, value: Value, dim: int) -> bool:
        """Whether a value that is the same in all iterations can be computed for two of them."""
        op = value.defining_op
        if op is None:
            return False
        if isinstance(op, tt.MakeRange):
            return op.start == 0
        if isinstance(op, arith.Constant):
            attr = constant_of(value)
            return isinstance(attr, DenseElementsAttr) and len(attr.values) == 1
        if isinstance(op, tt.Splat):
            return True
        source = _source_of(op, dim)
        return source is not None and all(d is None or self.can_repeat(v, d) for v, d in source)

    def can_move(self, arg: Value, dim: int) -> bool:
        """Whether a carried value is a tensor of pointers that each iteration moves by the same scalar."""
        if not isinstance(element_type(arg.type), PointerType):
            return False
        i = self.loop.iter_args.index(arg)
        op = self.loop.yielded[i].defining_op
        if not isinstance(op, tt.AddPtr) or op.ptr is not arg or not self.is_fixed(op.offset):
            return False
        by = op.offset.defining_op
        if not isinstance(by, tt.Splat) and _integer(op.offset) is None:
            return False
        self.moving[arg] = op.offset
        return self.can_repeat(self.loop.inits[i], dim)

    def is_position(self, op: arith.AddI) -> bool:
        """Whether `op` is `splat(s) + [0, size)` of a scalar that grows by the size in each iteration."""
        splat, run = op.lhs.defining_op, op.rhs.defining_op
        if not isinstance(splat, tt.Splat) or not isinstance(run, tt.MakeRange) or run.start != 0:
            return False
        growth = self.growth(splat.src)
        return growth is not None and (growth - self.size) % 2**32 == 0

    def growth(self, value: Value) -> int | None:
        """What an integer grows by from one iteration to the next, modulo 2^32; None if unknown."""
        if self.is_fixed(value):
            return 0
        if value is self.loop.induction_variable:
            return _integer(self.loop.step)
        if value in self.counting:
            return self.counting[value]
        op = value.defining_op
        if isinstance(op, arith.AddI):
            left, right = self.growth(op.lhs), self.growth(op.rhs)
            return None if left is None or right is None else left + right
        if isinstance(op, arith.MulI):
            factor, growth = _integer(op.rhs), self.growth(op.lhs)
            return growth * factor if factor is not None and growth is not None else None
        return None

    def pays(self) -> bool:
        """Whether a WGMMA gets wider, and registers and shared memory suffice."""
        dots = [op for op in self.loop.body if is_tensor_dot(op)]
        inner = [op for op in dots if op not in self.accumulated.values()]
        if not inner or self.options.threads % 128 or any(op.d not in self.axis for op in inner):
            return False
        if any(shape_of(op.d.type)[0] < 64 for op in dots):
            return False
        elements = sum(prod(shape_of(op.d.type)) * (2 if op.d in self.axis else 1) for op in dots)
        fixed = {op.a for op in inner}
        loads = [op.results[0] for op in self.loop.body if isinstance(op, PlainLoad)]
        shared = sum(map(_bytes, fixed)) + 2 * _wide_stages(self.loop, self.options) * sum(map(_bytes, loads))
        return elements <= MAX_ACCUMULATORS * self.options.threads and shared <= MAX_SHARED

    # -- code ---------------------------------------------------------------------------------------------------------

    def replace(self) -> None:
        """Emit the wide loop, and the loop as it is for a last iteration without a second."""
        loop = self.loop
        b = Builder(loop.parent, loop, loop.loc)
        trips, ty = loop.trip_count(), loop.lb.type
        pairs = self.pairs(b)
        two = b.add(arith.Constant.of(2, ty))
        whole = b.add(arith.MulI(b.add(arith.MulI(pairs, two)), loop.step))
        middle = b.add(arith.AddI(loop.lb, whole))
        inits = [self.initial(b, arg, init) for arg, init in zip(loop.iter_args, loop.inits, strict=True)]
        main = loop.clone_without_body(loop.lb, middle, b.add(arith.MulI(loop.step, two)), inits)
        main.attributes["tt.num_stages"] = IntegerAttr(_wide_stages(loop, self.options), i32)
        b.insert(main)
        self.fill(main)
        if trips is not None and trips % 2 == 0:
            for old, new in zip(loop.results, main.results, strict=True):
                old.replace_all_uses_with(new)
            loop.erase()
            return
        self.last_iteration(b, middle, pairs, main)
        loop.erase()

    def last_iteration(self, b: Builder, middle: Value, pairs: Value, main: CountedLoop) -> None:
        """Emit the last iteration of an odd count, on the condition that there is one.

        It is no loop of one trip: operands kept in registers, or buffered ahead, do not pay for one iteration.
        """
        loop = self.loop
        kept = [i for i, arg in enumerate(loop.iter_args) if arg not in self.moving]
        condition = b.add(arith.CmpI(arith.CmpIPredicate.slt, middle, loop.ub))
        branch = empty_branch(b, condition, [loop.results[i] for i in kept])
        then, otherwise = branch.then_block, branch.else_block
        assert otherwise is not None
        inner = Builder(then, loc=loop.loc)
        mapping: dict[Value, Value] = {loop.induction_variable: middle}
        for arg, init, result in zip(loop.iter_args, loop.inits, main.results, strict=True):
            mapping[arg] = self.moved(inner, init, arg, pairs) if arg in self.moving else result
        for op in loop.body:
            if op is not loop.terminator:
                inner.insert(op.clone(mapping))
        then.append(branch.make_yield([mapping.get(v, v) for v in (loop.yielded[i] for i in kept)], loop.loc))
        otherwise.append(branch.make_yield([main.results[i] for i in kept], loop.loc))
        for i, new in zip(kept, branch.results, strict=True):
            new.hint = loop.results[i].hint
            loop.results[i].replace_all_uses_with(new)

    def pairs(self, b: Builder) -> Value:
        """The number of pairs of iterations; the lower bound is not negative, so that no difference overflows."""
        loop, ty = self.loop, self.loop.lb.type
        span = b.add(arith.SubI(b.add(arith.MaxSI(loop.ub, loop.lb)), loop.lb))
        trips = b.add(arith.CeilDivSI(span, loop.step))
        out: Value = b.add(arith.DivSI(trips, b.add(arith.Constant.of(2, ty))))
        return out

    def initial(self, b: Builder, arg: Value, init: Value) -> Value:
        """The initial value of the wide loop: pointers of the first iteration, and those moved once."""
        if arg not in self.moving:
            return init
        dim = self.axis[arg]
        low = self.repeat(b, init, dim)
        shape = shape_of(low.type)
        run = b.add(tt.MakeRange(0, 2 * self.size))
        second = b.add(arith.DivUI(run, b.add(arith.Constant.of(self.size, run.type))))
        for axis in range(len(shape)):
            if axis != dim:
                second = b.add(tt.ExpandDims(second, axis=axis))
        second = b.add(tt.Broadcast(second, result=TensorType(shape, i32))) if len(shape) > 1 else second
        wide = b.add(arith.ExtSI(second, out=TensorType(shape, i64)))
        by = b.add(tt.Splat(self.step_of(b, arg), result=wide.type))
        out: Value = b.add(tt.AddPtr(low, b.add(arith.MulI(wide, by))))
        return out

    def moved(self, b: Builder, init: Value, arg: Value, pairs: Value) -> Value:
        """Pointers of the last iteration: those of the first, moved once for each iteration before."""
        count = pairs if pairs.type is i64 else b.add(arith.ExtSI(pairs, out=i64))
        count = b.add(arith.MulI(count, b.add(arith.Constant.of(2, i64))))
        by = b.add(arith.MulI(count, self.step_of(b, arg)))
        offsets = b.add(tt.Splat(by, result=TensorType(shape_of(init.type), i64)))
        out: Value = b.add(tt.AddPtr(init, offsets))
        return out

    def step_of(self, b: Builder, arg: Value) -> Value:
        """The scalar that pointers are moved by, as an i64 before the loop: offsets are signed."""
        offset = self.moving[arg]
        number = _integer(offset)
        if number is not None:
            step: Value = b.add(arith.Constant.of(number, i64))
            return step
        splat = offset.defining_op
        assert isinstance(splat, tt.Splat)
        source = self.hoisted(b, splat.src)
        if source.type is not i64:
            source = b.add(arith.ExtSI(source, out=i64))
        return source

    def hoisted(self, b: Builder, value: Value) -> Value:
        """A fixed value, computed before the loop."""
        if self.loop.is_defined_outside(value):
            return value
        op = value.defining_op
        assert op is not None
        out: Value = b.insert(op.clone({v: self.hoisted(b, v) for v in op.operands})).results[0]
        return out

    def repeat(self, b: Builder, value: Value, dim: int) -> Value:
        """Emit a fixed value twice along `dim`, before the loop."""
        key = value, dim
        if key not in self.repeated:
            self.repeated[key] = self.emit_repeated(b, value, dim)
        return self.repeated[key]

    def emit_repeated(self, b: Builder, value: Value, dim: int) -> Value:
        op = value.defining_op
        ty = self.widened(value.type, dim)
        assert op is not None
        out: Value
        if isinstance(op, tt.MakeRange):
            run = b.add(tt.MakeRange(0, 2 * self.size))
            out = b.add(arith.RemUI(run, b.add(arith.Constant.of(self.size, run.type))))
        elif isinstance(op, arith.Constant):
            attr = constant_of(value)
            assert isinstance(attr, DenseElementsAttr)
            out = b.add(arith.Constant(DenseElementsAttr(attr.values, ty)))
        elif isinstance(op, tt.Splat):
            out = b.add(tt.Splat(self.hoisted(b, op.src), result=ty))
        else:
            source = _source_of(op, dim)
            assert source is not None
            operands = [self.hoisted(b, v) if d is None else self.repeat(b, v, d) for v, d in source]
            out = b.insert(_like(op, operands, ty)).results[0]
        return out

    def widened(self, ty: object, dim: int) -> TensorType:
        """The type of twice the size along `dim`."""
        assert isinstance(ty, TensorType)
        shape = [n * 2 if i == dim else n for i, n in enumerate(ty.shape)]
        return TensorType(tuple(shape), ty.element)

    def fill(self, main: CountedLoop) -> None:
        """Emit the body of the wide loop, in the order of the loop's."""
        loop = self.loop
        before = Builder(main.parent, main, loop.loc)
        b = Builder(main.body, loc=loop.loc)
        mapping: dict[Value, Value] = dict(zip(loop.body.args, main.body.args, strict=True))
        for new, old in zip(main.body.args, loop.body.args, strict=True):
            new.hint = old.hint
        for value, dim in self.axis.items():
            if self.is_fixed(value):
                mapping[value] = self.repeat(before, value, dim)
        for op in loop.body:
            value = op.results[0] if op.results else None
            if value in self.axis and value not in mapping:
                mapping[value] = self.emit(b, op, mapping)
            elif op in self.accumulated.values():
                operands = [self.plain(b, v, mapping) for v in op.operands]
                mapping[value] = b.insert(_like(op, operands, value.type)).results[0]
        b.insert(main.make_yield([self.next(b, before, mapping, main, i) for i in range(len(loop.iter_args))]))

    def emit(self, b: Builder, op: Operation, mapping: dict[Value, Value]) -> Value:
        """Emit an operation of the body that has the axis."""
        out: Value
        if isinstance(op, arith.AddI) and self.is_position(op):
            start = self.plain(b, op.lhs.defining_op.src, mapping)
            out = b.add(tt.Splat(start, result=self.widened(op.result.type, 0)))
            out = b.add(arith.AddI(out, b.add(tt.MakeRange(0, 2 * self.size))))
            return out
        operands = [self.plain(b, v, mapping) for v in op.operands]
        out = b.insert(_like(op, operands, self.widened(op.results[0].type, self.axis[op.results[0]]))).results[0]
        return out

    def plain(self, b: Builder, value: Value, mapping: dict[Value, Value]) -> Value:
        """An operand in the wide loop; scalars and fixed values are emitted at their first use."""
        if value in mapping:
            return mapping[value]
        if self.loop.is_defined_outside(value):
            return value
        op = value.defining_op
        assert op is not None
        # Operands of a value without the axis have none either, though other users may need them with it.
        operands = {v: self.unwidened(b, v, mapping) for v in op.operands}
        mapping[value] = out = b.insert(op.clone(operands)).results[0]
        return out

    def unwidened(self, b: Builder, value: Value, mapping: dict[Value, Value]) -> Value:
        """An operand without the axis."""
        if value not in self.axis:
            return self.plain(b, value, mapping)
        if self.loop.is_defined_outside(value):
            return value
        op = value.defining_op
        assert op is not None
        out: Value = b.insert(op.clone({v: self.unwidened(b, v, mapping) for v in op.operands})).results[0]
        return out

    def next(self, b: Builder, before: Builder, mapping: dict[Value, Value], main: CountedLoop, i: int) -> Value:
        """What the wide loop carries on: accumulators, and pointers and integers after two iterations."""
        arg, new = self.loop.iter_args[i], main.iter_args[i]
        out: Value
        if arg in self.accumulated:
            out = mapping[self.loop.yielded[i]]
        elif arg in self.counting:
            out = b.add(arith.AddI(new, b.add(arith.Constant.of(2 * self.counting[arg], arg.type))))
        else:
            step = self.step_of(before, arg)
            twice = before.add(arith.AddI(step, step))
            offsets = b.add(tt.Splat(twice, result=TensorType(shape_of(new.type), i64)))
            out = b.add(tt.AddPtr(new, offsets))
        return out


def _like(op: Operation, operands: list[Value], ty: TensorType) -> Operation:
    """The operation on other operands, with a result of type `ty`."""
    made: Operation = type(op).create(operands, [ty], dict(op.attributes), [], loc=op.loc)
    return made


def _source_of(op: Operation, dim: int) -> list[tuple[Value, int | None]] | None:
    """The operands of an operation, each with its dimension that is `dim` of the result; None where it has none.

    None for operations of which an element depends on others along the dimension, or on its index.
    """
    if isinstance(op, tt.ExpandDims):
        return None if op.axis == dim else [(op.src, dim - (op.axis < dim))]
    if isinstance(op, tt.Trans):
        return [(op.src, list(op.order)[dim])]
    if isinstance(op, tt.Broadcast):
        return [(op.src, None if shape_of(op.src.type)[dim] == 1 else dim)]
    if not op.traits & ELEMENTWISE or not op.traits & PURE or len(op.results) != 1 or op.regions:
        return None
    return [(v, dim if shape_of(v.type) else None) for v in op.operands]


def _adds_in_order(dot: tt.Dot) -> bool:
    """Whether a dot of two ranges of K adds what two dots add, in their order: 16-bit floats of two dimensions.

    Their MMA instructions have K = 16; 8-bit floats may be added to partial sums outside of them.
    """
    types = dot.a.type, dot.b.type, dot.d.type
    widths = [getattr(element_type(ty), "width", 0) for ty in types]
    return all(len(shape_of(ty)) == 2 for ty in types) and widths == [16, 16, 32]


def _integer(value: Value) -> int | None:
    """The integer that a scalar, or every element of a tensor, is."""
    attr = constant_of(value)
    if isinstance(attr, DenseElementsAttr) and len(attr.values) == 1 and isinstance(attr.values[0], int):
        return attr.values[0]
    return attr.value if isinstance(attr, IntegerAttr) else None


def _used_once(value: Value) -> bool:
    return len(list(value.uses)) == 1


def _may_merge(load: PlainLoad) -> bool:
    """Whether a load may be issued before the loads of the iteration before it: it does not ask for memory itself."""
    policy = load.attributes.get("cachePolicy")
    return not memory_effects(load) & WRITE and (policy is None or policy.cache_modifier is not CacheModifier.cv)


def _bytes(value: Value) -> int:
    """The size of a tensor."""
    return prod(shape_of(value.type)) * getattr(element_type(value.type), "width", 64) // 8
