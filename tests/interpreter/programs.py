"""Random tile programs: well-formed, within bounds, defined everywhere, the same for the same seed.

A program reads two buffers and writes two others (i32 and f32, `SIZE` elements each). Offsets are cut to the size of
a buffer; divisors are made odd and positive; shift amounts are cut to the width. Values come in the shapes of
`SHAPES`; a value of one shape becomes one of another through splat, expand_dims, broadcast, reduce, trans, reshape.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tritium.dialects import arith, builtin, scf, tt
from tritium.dialects import math as mathd
from tritium.ir import (
    Block,
    Builder,
    FunctionType,
    Region,
    TensorType,
    Type,
    Value,
    element_type,
    f32,
    i1,
    i32,
    i64,
    shape_of,
    with_element,
)

__all__ = ["SIZE", "buffers", "random_program"]

SIZE = 64
SHAPES: list[tuple[int, ...]] = [(), (8,), (4, 8), (4, 1), (1, 8), (8, 4)]
INTEGER = [
    arith.AddI, arith.SubI, arith.MulI, arith.AndI, arith.OrI, arith.XOrI, arith.MaxSI, arith.MinSI, arith.MaxUI,
    arith.MinUI,
]  # fmt: skip
DIVISION = [arith.DivSI, arith.DivUI, arith.RemSI, arith.RemUI, arith.FloorDivSI, arith.CeilDivSI]
FLOAT = [arith.AddF, arith.SubF, arith.MulF, arith.DivF, arith.MaximumF, arith.MinimumF, arith.MaxNumF, arith.MinNumF]
UNARY = [arith.NegF, mathd.AbsF, mathd.Floor, mathd.Ceil, mathd.Trunc, mathd.RoundEven]
NUMBERS = [0, 1, -1, 2, 3, 7, 31, 64, -128, 2**31 - 1, -(2**31)]
FLOATS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -3.25, float("inf"), 1e-40, 3e38]


def buffers(seed: int) -> list[np.ndarray]:
    """The arguments of a launch."""
    rng = np.random.default_rng(seed)
    ints = rng.integers(-(2**31), 2**31, SIZE, dtype=np.int64).astype(np.int32)
    ints[::3] = rng.integers(-4, 5, len(ints[::3]))
    floats = rng.standard_normal(SIZE).astype(np.float32)
    floats[::7] = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42], len(floats[::7]))
    return [ints, floats, np.full(SIZE, 77, np.int32), np.full(SIZE, 77, np.float32)]


class Generator:
    """Builds one program; `values` are those in scope."""

    def __init__(self, seed: int, size: int) -> None:
        self.random = random.Random(seed)
        self.size = size
        self.module = builtin.Module.empty()
        ints, floats = tt.PointerType(i32), tt.PointerType(f32)
        self.func = tt.Func.build("k", FunctionType((ints, floats, ints, floats, i32, i1), ()))
        self.module.body.append(self.func)
        self.b = Builder(self.func.entry)
        args = self.func.entry.args
        self.inputs, self.outputs = args[:2], args[2:4]
        self.values: list[Value] = [*args[4:], self.b.add(tt.GetProgramId(0))]
        self.depth = 0
        self.helper: tt.Func | None = None

    def program(self) -> builtin.Module:
        if self.random.random() < 0.6:
            self.helper = self.function()
        self.statements(self.size)
        for element in (i32, f32):
            self.store(self.value(with_shape(element, self.shape())))
        self.b.insert(tt.Return([]))
        return self.module

    def shape(self) -> tuple[int, ...]:
        return self.random.choice(SHAPES)

    def statements(self, n: int) -> None:
        for _ in range(n):
            kind = self.random.random()
            if kind < 0.06 and self.depth < 2:
                self.branch()
            elif kind < 0.12 and self.depth < 2:
                self.loop()
            elif kind < 0.14 and self.depth < 2:
                self.while_loop()
            elif kind < 0.17 and self.helper is not None:
                self.call()
            elif kind < 0.2:
                self.store(self.value(with_shape(self.random.choice([i32, f32]), self.shape())))
            elif kind < 0.35:
                self.values.append(self.load(self.random.choice([i32, f32]), self.shape()))
            else:
                self.values.append(self.operation())

    # -- values -----------------------------------------------------------------------------------------------

    def value(self, ty: Type) -> Value:
        """A value of type `ty` from those in scope, or a constant, or made of one of another shape."""
        same = [v for v in self.values if v.type is ty]
        if same and self.random.random() < 0.75:
            return self.random.choice(same[-12:])
        element = element_type(ty)
        if self.random.random() < 0.4 or not shape_of(ty):
            numbers = FLOATS if element is f32 else [0, 1] if element is i1 else NUMBERS
            return self.b.add(arith.Constant.of(self.random.choice(numbers), ty))
        return self.reshaped(ty)

    def reshaped(self, ty: Type) -> Value:
        shape, element = shape_of(ty), element_type(ty)
        make = lambda other: self.value(with_shape(element, other))  # noqa: E731
        ways: list[Any] = [lambda: tt.Splat(make(()), result=ty)]
        if shape == (4, 8):
            ways += [lambda: tt.Broadcast(make((4, 1)), result=ty), lambda: tt.Broadcast(make((1, 8)), result=ty)]
        if shape == (1, 8):
            ways.append(lambda: tt.ExpandDims(make((8,)), 0))
        if shape == (8, 4):
            ways += [lambda: tt.Trans(make((4, 8)), (1, 0)), lambda: tt.Reshape(make((4, 8)), result=ty)]
        if shape == (8,) and element is i32:
            start = self.random.choice([0, 3])
            ways.append(lambda: tt.MakeRange(start, start + 8))
        return self.b.add(self.random.choice(ways)())

    def operation(self) -> Value:
        element = self.random.choice([i32, i32, f32, f32, i1])
        ty = with_shape(element, self.shape())
        if element is i1:
            return self.comparison(ty)
        if self.random.random() < 0.12:
            condition = self.value(with_shape(i1, shape_of(ty) if self.random.random() < 0.7 else ()))
            return self.b.add(arith.Select(condition, self.value(ty), self.value(ty)))
        if self.random.random() < 0.1:
            return self.conversion(ty)
        if self.random.random() < 0.06 and shape_of(ty) == (8,):
            return self.reduction(ty)
        return self.float_operation(ty) if element is f32 else self.integer_operation(ty)

    def comparison(self, ty: Type) -> Value:
        choice = self.random.random()
        if choice < 0.3:
            return self.b.add(self.random.choice([arith.AndI, arith.OrI, arith.XOrI])(self.value(ty), self.value(ty)))
        operands = with_shape(f32 if choice < 0.5 else i32, shape_of(ty))
        a, b = self.value(operands), self.value(operands)
        if choice < 0.5:
            return self.b.add(arith.CmpF(self.random.choice(list(arith.CmpFPredicate)), a, b))
        return self.b.add(arith.CmpI(self.random.choice(list(arith.CmpIPredicate)), a, b))

    def integer_operation(self, ty: Type) -> Value:
        a, b = self.value(ty), self.value(ty)
        choice = self.random.random()
        if choice < 0.15:
            low = self.b.add(arith.AndI(b, self.b.add(arith.Constant.of(15, ty))))
            odd = self.b.add(arith.OrI(low, self.b.add(arith.Constant.of(1, ty))))
            return self.b.add(self.random.choice(DIVISION)(a, odd))
        if choice < 0.3:
            amount = self.b.add(arith.AndI(b, self.b.add(arith.Constant.of(31, ty))))
            return self.b.add(self.random.choice([arith.ShLI, arith.ShRSI, arith.ShRUI])(a, amount))
        return self.b.add(self.random.choice(INTEGER)(a, b))

    def float_operation(self, ty: Type) -> Value:
        if self.random.random() < 0.25:
            return self.b.add(self.random.choice(UNARY)(self.value(ty)))
        return self.b.add(self.random.choice(FLOAT)(self.value(ty), self.value(ty)))

    def conversion(self, ty: Type) -> Value:
        shape = shape_of(ty)
        if element_type(ty) is f32:
            cls, source = self.random.choice([(arith.SIToFP, i32), (arith.UIToFP, i32), (arith.Bitcast, i32)])
            return self.b.add(cls(self.value(with_shape(source, shape)), out=ty))
        if self.random.random() < 0.5:
            cls = self.random.choice([arith.ExtUI, arith.ExtSI])
            return self.b.add(cls(self.value(with_shape(i1, shape)), out=ty))
        wide = self.b.add(arith.ExtSI(self.value(ty), out=with_element(ty, i64)))
        return self.b.add(arith.TruncI(wide, out=ty))

    def reduction(self, ty: Type) -> Value:
        source = self.value(with_shape(element_type(ty), (4, 8)))
        cls = arith.AddI if element_type(ty) is i32 else arith.MaximumF
        block = Block([element_type(ty)] * 2)
        inner = Builder(block)
        inner.insert(tt.ReduceReturn([inner.add(cls(*block.args))]))
        return self.b.insert(tt.Reduce([source], 0, Region(block), results_=[ty])).results[0]

    # -- memory -----------------------------------------------------------------------------------------------

    def pointers(self, base: Value, shape: tuple[int, ...]) -> Value:
        ty = with_shape(i32, shape)
        offsets = self.b.add(arith.AndI(self.value(ty), self.b.add(arith.Constant.of(SIZE - 1, ty))))
        if shape:
            base = self.b.add(tt.Splat(base, result=TensorType(shape, base.type)))
        return self.b.add(tt.AddPtr(base, offsets))

    def load(self, element: Type, shape: tuple[int, ...]) -> Value:
        ty = with_shape(element, shape)
        base = self.random.choice([self.inputs, self.outputs])[element is f32]
        pointers = self.pointers(base, shape)
        if self.random.random() < 0.5:
            return self.b.add(tt.Load(pointers))
        return self.b.add(tt.Load(pointers, self.value(with_shape(i1, shape)), self.value(ty)))

    def store(self, value: Value) -> None:
        shape = shape_of(value.type)
        pointers = self.pointers(self.outputs[element_type(value.type) is f32], shape)
        mask = self.value(with_shape(i1, shape)) if self.random.random() < 0.5 else None
        self.b.insert(tt.Store(pointers, value, mask))

    # -- control flow -----------------------------------------------------------------------------------------

    def nested(self, block: Block, types: list[Type], n: int) -> None:
        """Statements in `block`, ending in a yield of values of `types`."""
        outside = list(self.values)
        with self.b.saved():
            self.b.at_end(block)
            self.depth += 1
            self.statements(n)
            self.b.insert(scf.Yield([self.value(t) for t in types]))
            self.depth -= 1
        self.values = outside

    def branch(self) -> None:
        types = [with_shape(self.random.choice([i32, f32]), self.shape()) for _ in range(self.random.randrange(3))]
        op = scf.If.build(self.value(i1), types)
        for block in (op.then_block, op.else_block):
            assert block is not None
            self.nested(block, types, self.random.randrange(5))
        self.b.insert(op)
        self.values += op.results

    def loop(self) -> None:
        types = [with_shape(self.random.choice([i32, f32]), self.shape()) for _ in range(self.random.randrange(4))]
        inits = [self.value(t) for t in types]
        few = self.b.add(arith.AndI(self.value(i32), self.b.add(arith.Constant.of(3, i32))))
        upper = self.random.choice([few, self.b.add(arith.Constant.of(self.random.randrange(4), i32))])
        lower, step = (self.b.add(arith.Constant.of(n, i32)) for n in (0, 1))
        op = scf.For.build(lower, upper, step, inits)
        if self.random.random() < 0.3:
            op.attributes["tt.loop_unroll_factor"] = arith.Constant.of(self.random.choice([2, 3]), i32).value
        outside = list(self.values)
        self.values += op.body.args
        self.nested(op.body, types, self.random.randrange(6))
        self.values = outside
        self.b.insert(op)
        self.values += op.results

    def while_loop(self) -> None:
        types = [with_shape(self.random.choice([i32, f32]), self.shape()) for _ in range(self.random.randrange(3))]
        few, zero = self.b.add(arith.AndI(self.value(i32), self.b.add(arith.Constant.of(3, i32)))), self.number(0)
        inits = [zero, *(self.value(t) for t in types)]
        before, after = Block([v.type for v in inits]), Block([v.type for v in inits])
        outside = list(self.values)
        with self.b.saved():
            self.b.at_end(before)
            self.values += before.args[1:]
            self.depth += 1
            self.statements(self.random.randrange(3))
            go = self.b.add(arith.CmpI(arith.CmpIPredicate.slt, before.args[0], few))
            self.b.insert(scf.Condition(go, [before.args[0], *(self.value(t) for t in types)]))
            self.values = outside + list(after.args[1:])
            self.b.at_end(after)
            self.statements(self.random.randrange(4))
            count = self.b.add(arith.AddI(after.args[0], self.number(1)))
            self.b.insert(scf.Yield([count, *(self.value(t) for t in types)]))
            self.depth -= 1
        self.values = outside
        op = self.b.insert(scf.While(inits, Region(before), Region(after), results_=[v.type for v in inits]))
        self.values += op.results

    def number(self, n: int) -> Value:
        return self.b.add(arith.Constant.of(n, i32))

    def function(self) -> tt.Func:
        """A private function of a number and a tile that the kernel may call; it reads nothing but its arguments."""
        inputs = (i32, with_shape(f32, self.shape()))
        results = tuple(with_shape(self.random.choice([i32, f32]), self.shape()) for _ in range(2))
        func = tt.Func.build("helper", FunctionType(inputs, results), "private", noinline=self.random.random() < 0.2)
        self.module.body.insert_before(func, self.func)
        saved, self.values = self.values, list(func.entry.args)
        with self.b.saved():
            self.b.at_end(func.entry)
            for _ in range(6):
                self.values.append(self.operation())
            self.b.insert(tt.Return([self.value(t) for t in results]))
        self.values = saved
        return func

    def call(self) -> None:
        ty = self.helper.function_type
        op = tt.Call("helper", [self.value(t) for t in ty.inputs], results_=list(ty.results))
        self.values += self.b.insert(op).results


def with_shape(element: Type, shape: tuple[int, ...]) -> Type:
    """A tensor type, or the scalar for shape ()."""
    return TensorType(shape, element) if shape else element


def random_program(seed: int, size: int = 25) -> builtin.Module:
    """A module with one kernel `k(int in, float in, int out, float out, n: i32, flag: i1)`."""
    return Generator(seed, size).program()
