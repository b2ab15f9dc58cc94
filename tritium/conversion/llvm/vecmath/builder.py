"""Expressions over LLVM vectors: the notation the math functions are written in.

A `Value` is the name of an LLVM value together with its type and the function it belongs to; its operators write
instructions. Nothing is folded and nothing is reordered: what stands in the Python source is what is computed,
in that order, with exactly the roundings written. No fast-math flag is ever put on an instruction.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ....support.dataclasses import dataclass
from ..emitter import Emitter

__all__ = [
    "F32",
    "F64",
    "WIDE",
    "FloatFormat",
    "FunctionBuilder",
    "MathFunction",
    "Number",
    "Value",
    "VectorType",
    "define",
]

Number = int | float


@dataclass(frozen=True)
class MathFunction:
    """One LLVM function over vectors, or an LLVM intrinsic that does the same.

    Call `symbol` with `arity` operands of the vector type; put `text` (empty for an intrinsic) of this function and,
    once each, of all it `requires` into the module, with a line for each of `declares`.
    `all_functions` lists the closure in a usable order.
    """

    name: str
    element: str
    lanes: int
    symbol: str
    text: str
    declares: frozenset[str]
    requires: tuple[MathFunction, ...] = ()

    def all_functions(self) -> list[MathFunction]:
        """This function and everything it requires, each once, callees first."""
        found: dict[str, MathFunction] = {}
        for callee in self.requires:
            found.update((f.symbol, f) for f in callee.all_functions())
        found[self.symbol] = self
        return list(found.values())


class VectorType(NamedTuple):
    """`lanes` times an LLVM scalar type (float, double, i1, i32, i64); one lane is the plain scalar."""

    element: str
    lanes: int

    @property
    def text(self) -> str:
        """As LLVM writes it: `<16 x float>`, or `float`."""
        return self.element if self.lanes == 1 else f"<{self.lanes} x {self.element}>"

    @property
    def suffix(self) -> str:
        """As overloaded intrinsics are named: `v16f32`, `i32`."""
        short = {"float": "f32", "double": "f64"}.get(self.element, self.element)
        return short if self.lanes == 1 else f"v{self.lanes}{short}"

    @property
    def is_float(self) -> bool:
        return self.element in ("float", "double")

    def with_element(self, element: str) -> VectorType:
        """The same number of lanes of another scalar."""
        return VectorType(element, self.lanes)


@dataclass(frozen=True)
class FloatFormat:
    """An IEEE binary format: what the bit tricks have to know.

    `rounder` is 1.5 * 2^mantissa: adding it leaves the nearest integer in the low bits of the sum.
    """

    name: str
    element: str
    integer: str
    bits: int
    mantissa: int
    bias: int

    @property
    def rounder(self) -> float:
        return 1.5 * 2.0**self.mantissa

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    def bits_of(self, value: float) -> int:
        """The bit pattern of `value` as an unsigned integer."""
        if self.bits == 32:
            return int.from_bytes(struct.pack(">f", value), "big")
        return int.from_bytes(struct.pack(">d", value), "big")


F32 = FloatFormat("f32", "float", "i32", 32, 23, 127)
F64 = FloatFormat("f64", "double", "i64", 64, 52, 1023)
# Doubles that have to be right to about 32 bits only, as the inside of f32 functions: shorter polynomials.
WIDE = FloatFormat("wide", "double", "i64", 64, 52, 1023)

_INTEGER_BITS = {"i1": 1, "i32": 32, "i64": 64}


class Value:
    """An LLVM value of a function under construction. Plain numbers on either side of an operator are splatted."""

    __slots__ = ("builder", "name", "type")

    def __init__(self, builder: FunctionBuilder, name: str, type: VectorType) -> None:
        self.builder = builder
        self.name = name
        self.type = type

    def _binary(self, opcode: str, other: Value | Number, swap: bool = False) -> Value:
        right = self.builder.lift(other, self.type)
        left, right = (right, self) if swap else (self, right)
        return self.builder.emit(f"{opcode} {self.type.text} {left.name}, {right.name}", self.type)

    def _arithmetic(self, opcode: str, other: Value | Number, swap: bool = False) -> Value:
        return self._binary("f" + opcode if self.type.is_float else opcode, other, swap)

    def __add__(self, other: Value | Number) -> Value:
        return self._arithmetic("add", other)

    def __radd__(self, other: Number) -> Value:
        return self._arithmetic("add", other, swap=True)

    def __sub__(self, other: Value | Number) -> Value:
        return self._arithmetic("sub", other)

    def __rsub__(self, other: Number) -> Value:
        return self._arithmetic("sub", other, swap=True)

    def __mul__(self, other: Value | Number) -> Value:
        return self._arithmetic("mul", other)

    def __rmul__(self, other: Number) -> Value:
        return self._arithmetic("mul", other, swap=True)

    def __truediv__(self, other: Value | Number) -> Value:
        return self._binary("fdiv", other)

    def __rtruediv__(self, other: Number) -> Value:
        return self._binary("fdiv", other, swap=True)

    def __neg__(self) -> Value:
        if self.type.is_float:
            return self.builder.emit(f"fneg {self.type.text} {self.name}", self.type)
        return self.builder.lift(0, self.type) - self

    def __and__(self, other: Value | Number) -> Value:
        return self._binary("and", other)

    def __or__(self, other: Value | Number) -> Value:
        return self._binary("or", other)

    def __xor__(self, other: Value | Number) -> Value:
        return self._binary("xor", other)

    def __invert__(self) -> Value:
        return self._binary("xor", -1)

    def __lshift__(self, count: Value | int) -> Value:
        return self._binary("shl", count)

    def __rshift__(self, count: Value | int) -> Value:
        """Arithmetic shift right."""
        return self._binary("ashr", count)

    def logical_shift_right(self, count: Value | int) -> Value:
        return self._binary("lshr", count)

    def compare(self, predicate: str, other: Value | Number) -> Value:
        """`fcmp` or `icmp` with an LLVM predicate; the mask."""
        right = self.builder.lift(other, self.type)
        opcode = "fcmp" if self.type.is_float else "icmp"
        text = f"{opcode} {predicate} {self.type.text} {self.name}, {right.name}"
        return self.builder.emit(text, self.type.with_element("i1"))

    def _ordered(self, predicate: str, other: Value | Number) -> Value:
        return self.compare(("o" if self.type.is_float else "s") + predicate, other)

    def __lt__(self, other: Value | Number) -> Value:
        return self._ordered("lt", other)

    def __le__(self, other: Value | Number) -> Value:
        return self._ordered("le", other)

    def __gt__(self, other: Value | Number) -> Value:
        return self._ordered("gt", other)

    def __ge__(self, other: Value | Number) -> Value:
        return self._ordered("ge", other)

    def equals(self, other: Value | Number) -> Value:
        """Ordered equality (False for NaN); `==` stays Python's."""
        return self.compare("oeq" if self.type.is_float else "eq", other)

    def is_nan(self) -> Value:
        return self.compare("uno", self)

    def bits(self) -> Value:
        """The bits of floats as integers."""
        return self.cast("bitcast", {"float": "i32", "double": "i64"}[self.type.element])

    def as_float(self) -> Value:
        """Integer bits as floats."""
        return self.cast("bitcast", {"i32": "float", "i64": "double"}[self.type.element])

    def cast(self, opcode: str, element: str) -> Value:
        """`bitcast`, `fpext`, `fptrunc`, `sitofp`, `sext`, … to another scalar; itself when that is the same."""
        if element == self.type.element:
            return self
        type = self.type.with_element(element)
        return self.builder.emit(f"{opcode} {self.type.text} {self.name} to {type.text}", type)


class FunctionBuilder:
    """Writes one LLVM function over `lanes` lanes of `format`."""

    def __init__(self, format: FloatFormat, lanes: int, has_scalef: bool = False) -> None:
        self.format = format
        self.lanes = lanes
        self.has_scalef = has_scalef
        self.emitter = Emitter()
        self.declares: set[str] = set()
        self.requires: list[MathFunction] = []
        self.type = VectorType(format.element, lanes)

    def view(self, format: FloatFormat) -> FunctionBuilder:
        """The same function seen in another format: its constants and bit tricks are those of that format."""
        other = FunctionBuilder(format, self.lanes)
        other.emitter, other.declares, other.requires = self.emitter, self.declares, self.requires
        return other

    def emit(self, text: str, type: VectorType) -> Value:
        return Value(self, self.emitter.op(text), type)

    def lift(self, value: Value | Number, type: VectorType) -> Value:
        """A Python number as a constant of `type`; a Value of that type as it is."""
        if isinstance(value, Value):
            if value.type != type:
                raise TypeError(f"a value of type {value.type.text} where {type.text} is meant")
            return value
        scalar = _float_constant(value, type.element) if type.is_float else _integer_constant(value, type.element)
        return Value(self, scalar if type.lanes == 1 else f"splat ({type.element} {scalar})", type)

    def constant(self, value: Number) -> Value:
        """A float of the function's own format in all lanes."""
        return self.lift(value, self.type)

    def integer(self, value: int) -> Value:
        """An integer of the width of the function's format in all lanes."""
        return self.lift(value, self.type.with_element(self.format.integer))

    def intrinsic(self, name: str, *operands: Value) -> Value:
        """`llvm.<name>` of operands and result of one type."""
        type = operands[0].type
        symbol = f"llvm.{name}.{type.suffix}"
        self.declares.add(f"declare {type.text} @{symbol}({', '.join([type.text] * len(operands))})")
        arguments = ", ".join(f"{type.text} {v.name}" for v in operands)
        return self.emit(f"call {type.text} @{symbol}({arguments})", type)

    def require(self, function: MathFunction) -> None:
        """Note that this function needs another in its module."""
        if all(f.symbol != function.symbol for f in self.requires):
            self.requires.append(function)

    def call(self, function: MathFunction, *operands: Value) -> Value:
        """A call of another of our functions; result of the first operand's type."""
        self.require(function)
        type = operands[0].type
        arguments = ", ".join(f"{v.type.text} {v.name}" for v in operands)
        return self.emit(f"call {type.text} @{function.symbol}({arguments})", type)

    def fma(self, a: Value, b: Value | Number, c: Value | Number) -> Value:
        """a * b + c with one rounding."""
        return self.intrinsic("fma", a, self.lift(b, a.type), self.lift(c, a.type))

    def abs(self, a: Value) -> Value:
        return self.intrinsic("fabs", a)

    def copysign(self, magnitude: Value, sign: Value) -> Value:
        return self.intrinsic("copysign", magnitude, sign)

    def sqrt(self, a: Value) -> Value:
        return self.intrinsic("sqrt", a)

    def select(self, mask: Value, yes: Value | Number, no: Value | Number) -> Value:
        """Lane by lane `yes` where the mask is set, `no` elsewhere."""
        type = next((v.type for v in (yes, no) if isinstance(v, Value)), self.type)
        yes, no = self.lift(yes, type), self.lift(no, type)
        return self.emit(f"select {mask.type.text} {mask.name}, {type.text} {yes.name}, {type.text} {no.name}", type)

    def rint(self, a: Value) -> Value:
        """To the nearest integer, ties to even."""
        return self.intrinsic("roundeven", a)

    def gather(self, table: MathFunction, index: Value) -> Value:
        """table[index] for a table of doubles and i64 indices."""
        self.require(table)
        type = index.type.with_element("double")
        pointers = self.emitter.op(f"getelementptr double, ptr @{table.symbol}, {index.type.text} {index.name}")
        if index.type.lanes == 1:
            return self.emit(f"load double, ptr {pointers}, align 8", type)
        lanes = index.type.lanes
        symbol = f"llvm.masked.gather.{type.suffix}.v{lanes}p0"
        self.declares.add(f"declare {type.text} @{symbol}(<{lanes} x ptr>, i32 immarg, <{lanes} x i1>, {type.text})")
        operands = f"<{lanes} x ptr> {pointers}, i32 8, <{lanes} x i1> splat (i1 true), {type.text} poison"
        return self.emit(f"call {type.text} @{symbol}({operands})", type)

    def at_least(self, a: Value, bound: Number) -> Value:
        """max(a, bound); NaN stays NaN (x86's max returns its second operand then, and this is that instruction)."""
        constant = self.lift(bound, a.type)
        return self.select(constant > a, constant, a)

    def at_most(self, a: Value, bound: Number) -> Value:
        """min(a, bound); NaN stays NaN."""
        constant = self.lift(bound, a.type)
        return self.select(constant < a, constant, a)

    def scalef(self, a: Value, n: Value) -> Value:
        """a * 2^n for an integral float n, rounded once: AVX-512's `vscalef`, over 512-bit vectors."""
        ps, mask = ("ps", "i16") if self.format is F32 else ("pd", "i8")
        name, text = f"llvm.x86.avx512.mask.scalef.{ps}.512", a.type.text
        self.declares.add(f"declare {text} @{name}({text}, {text}, {text}, {mask}, i32 immarg)")
        arguments = f"{text} {a.name}, {text} {n.name}, {text} zeroinitializer, {mask} -1, i32 4"
        return self.emit(f"call {text} @{name}({arguments})", a.type)

    def freeze(self, a: Value) -> Value:
        """The same; a poison lane becomes some number. For functions with branches: those on poison are undefined."""
        return self.emit(f"freeze {a.type.text} {a.name}", a.type)

    def any(self, mask: Value) -> str:
        """The name of an i1: is any lane set?"""
        if mask.type.lanes == 1:
            return mask.name
        symbol = f"llvm.vector.reduce.or.{mask.type.suffix}"
        self.declares.add(f"declare i1 @{symbol}({mask.type.text})")
        return self.emitter.op(f"call i1 @{symbol}({mask.type.text} {mask.name})")

    def rarely(self, mask: Value, usual: Value, rare: Callable[[], Value]) -> Value:
        """`usual`, or when any lane of the mask is set what `rare` writes into a block of its own."""
        self.declares.add("declare i1 @llvm.expect.i1(i1, i1)")
        flag = self.emitter.op(f"call i1 @llvm.expect.i1(i1 {self.any(mask)}, i1 false)")
        before, inside, after = self.emitter.block, self.emitter.fresh_label("rare"), self.emitter.fresh_label("join")
        self.emitter.stmt(f"br i1 {flag}, label %{inside}, label %{after}")
        self.emitter.label(inside)
        value = rare()
        inside = self.emitter.block
        self.emitter.stmt(f"br label %{after}")
        self.emitter.label(after)
        return self.emit(f"phi {usual.type.text} [ {usual.name}, %{before} ], [ {value.name}, %{inside} ]", usual.type)

    def while_any(self, start: Value, mask: Callable[[Value], Value], step: Callable[[Value], Value]) -> Value:
        """`v = start; while any lane of mask(v): v = step(v)`; step must leave the other lanes alone."""
        head, body, done = (self.emitter.fresh_label(hint) for hint in ("while", "do", "done"))
        before = self.emitter.block
        self.emitter.stmt(f"br label %{head}")
        self.emitter.label(head)
        value = self.emit("phi", start.type)
        line = len(self.emitter.lines) - 1
        flag = self.any(mask(value))
        self.emitter.stmt(f"br i1 {flag}, label %{body}, label %{done}")
        self.emitter.label(body)
        following = step(value)
        incoming = f"[ {start.name}, %{before} ], [ {following.name}, %{self.emitter.block} ]"
        self.emitter.lines[line] = f"  {value.name} = phi {start.type.text} {incoming}"
        self.emitter.stmt(f"br label %{head}")
        self.emitter.label(done)
        return value

    def polynomial(self, x: Value, coefficients: Sequence[float]) -> Value:
        """c0 + c1 x + c2 x^2 + … by Horner's rule, one fma a coefficient."""
        result = self.lift(coefficients[-1], x.type)
        for c in reversed(coefficients[:-1]):
            result = self.fma(result, x, c)
        return result

    def split_polynomial(self, x: Value, coefficients: Sequence[float]) -> Value:
        """The same as the lower terms plus x^h times the upper ones: shorter chains for long polynomials.

        Even and odd powers would be balanced better, but their sums of alternating signs cancel.
        """
        if len(coefficients) < 8:
            return self.polynomial(x, coefficients)
        half, power = 1, x
        while 4 * half <= len(coefficients):
            half, power = 2 * half, power * power
        upper = self.polynomial(x, coefficients[half:])
        return self.fma(upper, power, self.polynomial(x, coefficients[:half]))


def _float_constant(value: Number, element: str) -> str:
    """LLVM's spelling: the bits of the double equal to the (rounded) constant."""
    number = float(value)
    if element == "float":
        number = struct.unpack("<f", struct.pack("<f", number))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def _integer_constant(value: Number, element: str) -> str:
    bits = _INTEGER_BITS[element]
    if bits == 1:
        return "true" if value else "false"
    wrapped = int(value) & ((1 << bits) - 1)
    return str(wrapped - (1 << bits) if wrapped >> (bits - 1) else wrapped)


def define(
    name: str,
    format: FloatFormat,
    lanes: int,
    arity: int,
    body: Callable[..., Value],
    inline: bool = True,
    has_scalef: bool = False,
) -> MathFunction:
    """Write `tt.<name>.<suffix>`, whose result is what `body(builder, *operands)` returns.

    Functions of slow paths are not inlined: they would only enlarge the loops that hardly ever call them.
    """
    b = FunctionBuilder(format, lanes, has_scalef)
    operands = [Value(b, f"%{letter}", b.type) for letter in "xyz"[:arity]]
    result = body(b, *operands)
    symbol = f"tt.{name}.{b.type.suffix}" + (".scalef" if has_scalef else "")
    parameters = ", ".join(f"{b.type.text} {v.name}" for v in operands)
    attributes = "alwaysinline nounwind willreturn memory(none)" if inline else "noinline cold nounwind memory(none)"
    text = (
        f"define internal {b.type.text} @{symbol}({parameters}) {attributes} {{\n"
        f"entry:\n{b.emitter.text()}\n  ret {b.type.text} {result.name}\n}}\n"
    )
    return MathFunction(name, format.name, lanes, symbol, text, frozenset(b.declares), tuple(b.requires))
