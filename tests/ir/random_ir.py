"""Random IR that verifies: functions with nested control flow, regions, branches, odd names, attributes, locations."""

from __future__ import annotations

import math
import random

from tritium.dialects import arith, builtin, cf, scf, tt
from tritium.dialects import math as math_dialect
from tritium.ir import (
    UNIT,
    ArrayAttr,
    Block,
    Builder,
    DenseArrayAttr,
    DenseElementsAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    OpaqueAttr,
    Operation,
    Region,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    Type,
    TypeAttr,
    Value,
    bf16,
    bool_attr,
    element_type,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
    with_element,
)
from tritium.support import UNKNOWN, CallSiteLoc, FileLineColLoc, FusedLoc, Location, NameLoc

INTEGERS = [i8, i16, i32, i64]
FLOATS = [f16, bf16, f32, f64]
SHAPES = [(), (), (4,), (8, 2), (1, 4)]
HINTS = [None, None, "x", "y", "x_0", "acc", "0", "a b", "arg0", "c1_i32", "größe", "x_1_2", "cst"]
BINARY_INTEGER = [arith.AddI, arith.SubI, arith.MulI, arith.AndI, arith.OrI, arith.XOrI, arith.MaxSI, arith.DivSI]
BINARY_FLOAT = [arith.AddF, arith.SubF, arith.MulF, arith.DivF, arith.MaxNumF, arith.MinimumF]
UNARY_FLOAT = [arith.NegF, math_dialect.Exp, math_dialect.Sqrt, math_dialect.AbsF]


class RandomIR:
    """Makes one module from a seed; `foreign` allows attributes of dialects that nobody knows."""

    def __init__(self, seed: int, foreign: bool = True) -> None:
        self.rng = random.Random(seed)
        self.foreign = foreign
        self.functions: list[tt.Func] = []

    # -- types, attributes, locations -----------------------------------------------------------------------------

    def type(self) -> Type:
        element = self.rng.choice([*INTEGERS, *FLOATS, i1, tt.PointerType(f32), tt.PointerType(i8)])
        shape = self.rng.choice(SHAPES)
        return TensorType(shape, element) if shape else element

    def number(self, ty: Type) -> float | int:
        if isinstance(ty, IntegerType):
            return self.rng.choice([0, 1, -1, self.rng.getrandbits(ty.width), (1 << ty.width) - 1])
        special = [0.0, -0.0, 1.0, math.inf, -math.inf, math.nan, 1e-40, 0.1]
        return self.rng.choice([*special, self.rng.uniform(-100, 100), self.rng.gauss(0, 1e-6)])

    def attribute(self, depth: int = 0):
        rng = self.rng
        ty = self.type()
        element = rng.choice([*INTEGERS, *FLOATS, i1])
        makers = [
            lambda: IntegerAttr(rng.getrandbits(40), rng.choice(INTEGERS)),
            lambda: FloatAttr(self.number(f32), rng.choice(FLOATS)),
            lambda: bool_attr(rng.random() < 0.5),
            lambda: StringAttr("".join(rng.choice('ab "\\\n\t\0ü∂//{}<>') for _ in range(rng.randint(0, 8)))),
            lambda: SymbolRefAttr(rng.choice(["f", "a.b", "strange name", "0"])),
            lambda: TypeAttr(rng.choice([ty, FunctionType((ty, i32), ()), FunctionType((), (ty,))])),
            lambda: UNIT,
            lambda: OpaqueAttr('#other.thing<{a = [1, 2], b = ">"}>') if self.foreign else UNIT,
            lambda: (
                DenseArrayAttr(tuple(self.number(element) for _ in range(rng.randint(0, 3))), element)
                if element not in FLOATS
                else DenseArrayAttr((1.0, 0.5), element)
            ),
            lambda: self.dense(TensorType(rng.choice([(), (1,), (2, 3), (0,)]), element)),
        ]
        if depth < 2:
            makers.append(lambda: ArrayAttr(tuple(self.attribute(depth + 1) for _ in range(rng.randint(0, 3)))))
            makers.append(lambda: DictionaryAttr({k: self.attribute(depth + 1) for k in rng.sample("abc", 2)}))
        return rng.choice(makers)()

    def dense(self, ty: TensorType) -> DenseElementsAttr:
        count = self.rng.choice([1, ty.numel]) if ty.numel else 0
        if count == 0:
            return DenseElementsAttr((self.number(ty.element),), ty)
        return DenseElementsAttr(tuple(self.number(ty.element) for _ in range(count)), ty)

    def location(self, depth: int = 0) -> Location:
        rng = self.rng
        position = FileLineColLoc(rng.choice(["a.py", 'odd "name".py']), rng.randint(1, 9), rng.randint(1, 9))
        if depth > 2 or rng.random() < 0.4:
            return rng.choice([UNKNOWN, position])
        kind = rng.randrange(3)
        if kind == 0:
            return NameLoc(rng.choice(["x", "y"]), self.location(depth + 1))
        if kind == 1:
            return CallSiteLoc(self.location(depth + 1), self.location(depth + 1))
        return FusedLoc.of((self.location(depth + 1), position))

    # -- operations -----------------------------------------------------------------------------------------------

    def pick(self, values: list[Value], want) -> Value | None:
        found = [v for v in values if want(v.type)]
        return self.rng.choice(found) if found else None

    def constant(self, b: Builder, ty: Type) -> Value:
        if isinstance(ty, TensorType):
            return b.add(arith.Constant(self.dense(ty)))
        return b.add(arith.Constant.of(self.number(ty), ty))

    def value(self, b: Builder, values: list[Value], ty: Type) -> Value:
        """A value of this type: one at hand, a constant, or a pointer made from an integer."""
        found = self.pick(values, lambda t: t is ty)
        if found is not None and self.rng.random() < 0.9:
            return found
        if isinstance(element_type(ty), tt.PointerType):
            return b.add(tt.IntToPtr(self.value(b, values, with_element(ty, i64)), result=ty))
        return self.constant(b, ty)

    def operation(self, b: Builder, values: list[Value], depth: int) -> None:
        rng = self.rng
        makers = [self.arithmetic, self.arithmetic, self.cast, self.memory, self.shape, self.call, self.reduction]
        if depth < 2:
            makers += [self.loop, self.branch, self.while_loop]
        before = b.block.last
        rng.choice(makers)(b, values, depth)
        op = b.block.first if before is None else before.next
        while op is not None:
            op.loc = self.location()
            if op.results:
                op.results[0].hint = rng.choice(HINTS)
            if rng.random() < 0.1:
                op.attributes[rng.choice(["k", "a.b", "odd key"])] = self.attribute()
            values += op.results
            op = op.next

    def arithmetic(self, b: Builder, values: list[Value], depth: int) -> None:
        rng = self.rng
        ty = self.type()
        if isinstance(element_type(ty), tt.PointerType):
            b.insert(tt.AddPtr(self.value(b, values, ty), self.value(b, values, with_element(ty, i32))))
            return
        x, y = self.value(b, values, ty), self.value(b, values, ty)
        if element_type(ty) in FLOATS:
            choice = rng.randrange(4)
            if choice == 0:
                b.insert(rng.choice(UNARY_FLOAT)(x))
            elif choice == 1:
                b.insert(arith.CmpF(rng.choice(list(arith.CmpFPredicate)), x, y))
            elif choice == 2:
                b.insert(rng.choice(BINARY_FLOAT)(x, y, rng.choice([None, "contract", "fast"])))
            else:
                b.insert(math_dialect.Fma(x, y, x))
        elif rng.random() < 0.3:
            b.insert(arith.CmpI(rng.choice(list(arith.CmpIPredicate)), x, y))
        elif rng.random() < 0.3:
            c = self.value(b, values, rng.choice([i1, with_element(ty, i1)]))
            b.insert(arith.Select(c, x, y))
        else:
            b.insert(rng.choice(BINARY_INTEGER)(x, y))

    def cast(self, b: Builder, values: list[Value], depth: int) -> None:
        rng = self.rng
        shape = rng.choice(SHAPES)

        def typed(element: Type) -> Type:
            return TensorType(shape, element) if shape else element

        x8, x32, f = (self.value(b, values, typed(t)) for t in (i8, i32, f32))
        makers = [
            lambda: arith.ExtSI(x8, out=typed(i32)),
            lambda: arith.ExtUI(x8, rng.random() < 0.5, out=typed(i64)),
            lambda: arith.TruncI(x32, out=typed(i8)),
            lambda: arith.SIToFP(x32, out=typed(f16)),
            lambda: arith.FPToSI(f, out=typed(i64)),
            lambda: arith.TruncF(f, rng.choice([None, *arith.RoundingMode]), out=typed(bf16)),
            lambda: arith.Bitcast(f, out=typed(i32)),
            lambda: tt.FpToFp(f, rng.choice(list(tt.RoundingMode)), result=typed(f16)),
        ]
        b.insert(rng.choice(makers)())

    def memory(self, b: Builder, values: list[Value], depth: int) -> None:
        rng = self.rng
        shape = rng.choice(SHAPES)
        pointer = TensorType(shape, tt.PointerType(f32)) if shape else tt.PointerType(f32)
        ptr = self.value(b, values, pointer)
        mask = self.value(b, values, with_element(pointer, i1)) if rng.random() < 0.6 else None
        value = self.value(b, values, with_element(pointer, f32))
        eviction, hints = rng.choice(list(tt.EvictionPolicy)), tt.CacheModifier
        read = tt.CachePolicy.of(rng.choice([hints.none, hints.ca, hints.cg, hints.cs, hints.cv]), eviction)
        written = tt.CachePolicy.of(rng.choice([hints.none, hints.wb, hints.cg, hints.cs, hints.wt]), eviction)
        kind = rng.randrange(3)
        if kind == 0:
            other = value if mask is not None and rng.random() < 0.5 else None
            b.insert(tt.Load(ptr, mask, other, cachePolicy=read, isVolatile=rng.random() < 0.2))
        elif kind == 1:
            b.insert(tt.Store(ptr, value, mask, cachePolicy=written))
        else:
            b.insert(tt.AtomicRMW(tt.AtomicOp.fadd, ptr, value, mask, rng.choice(list(tt.MemSemantic))))

    def shape(self, b: Builder, values: list[Value], depth: int) -> None:
        element = self.rng.choice([*INTEGERS, *FLOATS])
        scalar = self.value(b, values, element)
        tile = b.add(tt.Splat(scalar, result=TensorType((4,), element)))
        row = b.add(tt.ExpandDims(tile, 0))
        wide = b.add(tt.Broadcast(row, result=TensorType((2, 4), element)))
        wide = b.add(tt.Trans(wide, (1, 0)))
        b.add(tt.Reshape(wide, self.rng.random() < 0.5, result=TensorType((8,), element)))
        b.add(tt.MakeRange(0, 4))
        b.insert(tt.Split(b.add(tt.Join(tile, tile, result=TensorType((4, 2), element)))))

    def call(self, b: Builder, values: list[Value], depth: int) -> None:
        if not self.functions:
            return
        callee = self.rng.choice(self.functions)
        ty = callee.function_type
        args = [self.value(b, values, t) for t in ty.inputs]
        b.insert(tt.Call(callee.sym_name, args, results_=list(ty.results)))

    def reduction(self, b: Builder, values: list[Value], depth: int) -> None:
        element = self.rng.choice(FLOATS)
        src = self.value(b, values, TensorType((8, 2), element))
        block = Block([element, element])
        inner = Builder(block)
        combined = inner.add(self.rng.choice(BINARY_FLOAT)(*block.args))
        if self.rng.random() < 0.5:
            inner.insert(tt.ReduceReturn([combined]))
            b.insert(tt.Reduce([src], 1, Region(block), results_=[TensorType((8,), element)]))
        else:
            inner.insert(tt.ScanReturn([combined]))
            b.insert(tt.Scan([src], 0, self.rng.random() < 0.5, Region(block), results_=[src.type]))

    # -- control flow ---------------------------------------------------------------------------------------------

    def body(self, block: Block, values: list[Value], depth: int, want: list[Type]) -> tuple[Builder, list[Value]]:
        for arg in block.args:
            arg.hint = self.rng.choice(HINTS)
        inner = Builder(block)
        inside = [*values, *block.args]
        for _ in range(self.rng.randint(0, 3)):
            self.operation(inner, inside, depth + 1)
        return inner, [self.value(inner, inside, t) for t in want]

    def loop(self, b: Builder, values: list[Value], depth: int) -> None:
        ty = self.rng.choice([i32, i64])
        bounds = [self.value(b, values, ty) for _ in range(3)]
        inits = [self.value(b, values, self.type()) for _ in range(self.rng.randint(0, 2))]
        loop = scf.For.build(*bounds, inits)
        inner, results = self.body(loop.body, values, depth, [v.type for v in inits])
        inner.insert(scf.Yield(results))
        b.insert(loop)

    def branch(self, b: Builder, values: list[Value], depth: int) -> None:
        types = [self.type() for _ in range(self.rng.randint(0, 2))]
        branch = scf.If.build(self.value(b, values, i1), types, bool(types) or self.rng.random() < 0.5)
        for region in branch.regions:
            if region.blocks:
                inner, results = self.body(region.block, values, depth, types)
                inner.insert(scf.Yield(results))
        b.insert(branch)

    def while_loop(self, b: Builder, values: list[Value], depth: int) -> None:
        inits = [self.value(b, values, self.type()) for _ in range(self.rng.randint(0, 2))]
        results = [self.type() for _ in range(self.rng.randint(0, 2))]
        before, after = Block([v.type for v in inits]), Block(results)
        inner, passed = self.body(before, values, depth, [i1, *results])
        inner.insert(scf.Condition(passed[0], passed[1:]))
        inner, again = self.body(after, values, depth, [v.type for v in inits])
        inner.insert(scf.Yield(again))
        b.insert(scf.While(inits, Region(before), Region(after), results_=results))

    # -- functions ------------------------------------------------------------------------------------------------

    def function(self, name: str) -> tt.Func:
        rng = self.rng
        inputs, results = ([self.type() for _ in range(rng.randint(0, 4))] for _ in range(2))
        func = tt.Func.build(name, FunctionType(tuple(inputs), tuple(results)), rng.choice(["public", "private"]))
        if inputs and rng.random() < 0.5:
            some = {"tt.divisibility": IntegerAttr(16, i32), "tt.note": UNIT}
            entries = [some, *(rng.choice([{}, some]) for _ in inputs[1:])]
            func.attributes["arg_attrs"] = ArrayAttr(tuple(map(DictionaryAttr, entries)))
        for arg in func.entry.args:
            arg.hint, arg.loc = rng.choice(HINTS), self.location()
        values: list[Value] = list(func.entry.args)
        b = Builder(func.entry)
        for _ in range(rng.randint(1, 12)):
            self.operation(b, values, 0)
        if rng.random() < 0.5:
            self.blocks(func, b, values, results)
        else:
            b.insert(tt.Return([self.value(b, values, t) for t in results]))
        return func

    def blocks(self, func: tt.Func, b: Builder, values: list[Value], results: list[Type]) -> None:
        """A diamond with a loop back, its blocks in any order."""
        rng = self.rng
        shared = self.type()
        head, left, right, tail = Block([shared]), Block(), Block([shared]), Block(results)
        b.insert(cf.Br([self.value(b, values, shared)], head))
        inner, (c, x) = self.body(head, values, 1, [i1, shared])
        inner.insert(cf.CondBr(c, [], [x], left, right))
        seen = [*values, *head.args]
        inner, out = self.body(left, seen, 1, results)
        inner.insert(cf.Br(out, tail))
        inner, (c, x, *out) = self.body(right, seen, 1, [i1, shared, *results])
        inner.insert(cf.CondBr(c, [x], out, head, tail))
        inner, out = self.body(tail, seen, 1, results)
        inner.insert(tt.Return(out))
        rest = [head, left, right, tail]
        rng.shuffle(rest)
        for block in rest:
            func.regions[0].append(block)

    def module(self) -> Operation:
        """A module of one to three functions."""
        module = builtin.Module.empty()
        for i in range(self.rng.randint(1, 3)):
            func = self.function(["f", "g", "strange name"][i])
            module.body.append(func)
            self.functions.append(func)
        if self.rng.random() < 0.3:
            module.attributes["ttg.target"] = StringAttr("cpu")
        return module
