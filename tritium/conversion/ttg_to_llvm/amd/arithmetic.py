"""Arithmetic and math of AMD GPUs: instructions where LLVM has intrinsics for them, else our own functions.

| function | f32 | f64 |
|---|---|---|
| exp2, log2, log, log10 | `v_exp_f32`, `v_log_f32`, with scaling of subnormals (LLVM) | our functions |
| sqrt | `v_sqrt_f32`, with scaling of subnormals (LLVM, `!fpmath`) | correctly rounded |
| division | `v_div_scale_f32` to `v_div_fixup_f32` (LLVM), correctly rounded, as Triton's | correctly rounded |
| others | our functions (`conversion/llvm/vecmath`), one lane at a time | the same |

No device library is needed: functions of OCML are answered by those of the same name where the error of ours is known.
"""

from __future__ import annotations

from ....dialects import tt, ttg
from ....ir import Operation, Type
from ....support import UnsupportedOperation
from ....support.lazy import LazyModule
from ....support.patterns import pattern
from ...llvm.vecmath.builder import MathFunction
from ..target_info import TargetInfo, ThreadEmitter

__all__ = ["FPMATH", "AMDArithmetic"]

FPMATH = 6 << 20  # the number of the metadata node that allows 2.5 units in the last place
_vecmath = LazyModule("...llvm.vecmath", __package__)
_HALVES = "{ i32, i32 }"
_OCML = pattern(r"__(?:ocml|triton_hip|ockl)_(\w+?)(?:_[fu](?:32|64))?")
_TESTS = {"isnan": 0x3, "isinf": 0x204, "isfinite": 0x1F8, "signbit": 0x3C}  # classes of llvm.is.fpclass; NaN has none
_CONSTRAINT = pattern(r"~\{\w+\}|[=+]?&?(?:VA|AV|v|s|a|r|i|n|[IJABC]|DA|DB|\d+|\{[vsa](?:\d+|\[\d+:\d+\])\})")
_INTEGERS = {"clz": "ctlz", "popcount": "ctpop", "iabs": "abs"}
_INTRINSICS = {
    "fabs": "fabs", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "round": "round",
    "copysign": "copysign", "fma": "fma", "sqrt": "sqrt", "fmin": "minnum", "fmax": "maxnum", "nearbyint": "nearbyint",
}  # fmt: skip
_NATIVE = {"exp2": "llvm.amdgcn.exp2.f32", "log2": "llvm.log2.f32", "log": "llvm.log.f32", "log10": "llvm.log10.f32"}


class AMDArithmetic(TargetInfo):
    """The arithmetic hooks of `TargetInfo`."""

    libraries: frozenset[str]

    # -- floats ---------------------------------------------------------------------------------------------------

    def has_fma(self, ty: Type) -> bool:
        """Not of bf16."""
        return str(ty) != "bf16"

    def has_min_max(self, ty: Type) -> bool:
        """Not of bf16."""
        return str(ty) != "bf16"

    def rounds_integers_to_bf16(self) -> bool:
        """LLVM rounds twice."""
        return False

    def exp2(self, e: ThreadEmitter, value: str) -> str:
        """v_exp_f32"""
        return e.call("float", "llvm.amdgcn.exp2.f32", ("float", value))

    def sqrt(self, e: ThreadEmitter, value: str) -> str:
        """v_sqrt_f32"""
        e.module.declare("declare float @llvm.sqrt.f32(float)")
        return e.op(f"call float @llvm.sqrt.f32(float {value}), !fpmath !{FPMATH}")

    def divide(self, e: ThreadEmitter, a: str, b: str, approximate: bool = False) -> str:
        """Correctly rounded; `approximate`: by v_rcp_f32."""
        if approximate:
            return e.op(f"fdiv afn arcp float {a}, {b}")
        return e.op(f"fdiv float {a}, {b}")

    def reciprocal(self, e: ThreadEmitter, value: str) -> str:
        """v_rcp_f32"""
        return e.call("float", "llvm.amdgcn.rcp.f32", ("float", value))

    def directed(self, e: ThreadEmitter, op: Operation, name: str, mode: str, ty: str, a: str, b: str) -> str:
        """UnsupportedOperation: the rounding mode is a wave's, not an instruction's."""
        raise UnsupportedOperation(op, f"with directed rounding is not supported on {self.name}")

    def function(self, e: ThreadEmitter, op: Operation, name: str, ty: str, *operands: tuple[str, str]) -> str:
        """An intrinsic that LLVM expands to instructions, or one of our functions."""
        if ty == "float" and name in _NATIVE:
            return e.call(ty, _NATIVE[name], *operands)
        if name not in _vecmath.MATH_FUNCTIONS or any(t != ty for t, _ in operands):
            raise UnsupportedOperation(op, f"of the function {name!r} on {ty} is not supported on {self.name}")
        function = _vecmath.vector_math_function(name, "f64" if ty == "double" else "f32", 1)
        self._require(e, function)
        vector = f"<1 x {ty}>"
        wide = [e.op(f"insertelement {vector} poison, {ty} {v}, i32 0") for _, v in operands]
        value = e.op(f"call {vector} @{function.symbol}({', '.join(f'{vector} {v}' for v in wide)})")
        return e.op(f"extractelement {vector} {value}, i32 0")

    def library_function(
        self, e: ThreadEmitter, op: Operation, symbol: str, pure: bool, ty: str, operands: list[tuple[str, str]]
    ) -> str:
        """`__ocml_sin_f32` and the like: the function of the same name that `function` knows, or an intrinsic; with a
        library `ocml`, that library's function. Other symbols are functions of the libraries, if there are any."""
        found = _OCML.fullmatch(symbol)
        if "ocml" in self.libraries if found is not None else self.libraries and symbol not in _vecmath.MATH_FUNCTIONS:
            return e.call(ty, symbol, *operands, attributes=" #2" if pure else "")
        if found is None and symbol in _vecmath.MATH_FUNCTIONS:  # of the language's own library
            return self.function(e, op, symbol, ty, *operands)
        if found is None:
            raise UnsupportedOperation(op, f"of the library function {symbol} is not supported on {self.name}")
        name = found[1]
        types = [text for text, _ in operands]
        suffix = {"float": "f32", "double": "f64"}.get(types[0], types[0])
        if name in _TESTS and ty == "i32":
            test = e.call("i1", f"llvm.is.fpclass.{suffix}", operands[0], ("i32", str(_TESTS[name])))
            return e.op(f"zext i1 {test} to i32")
        if name in _INTEGERS and types == [types[0]]:
            more = [("i1", "false")] * (name != "popcount")
            count = e.call(types[0], f"llvm.{_INTEGERS[name]}.{suffix}", operands[0], *more)
            return count if ty == types[0] else e.op(f"trunc {types[0]} {count} to {ty}")
        if name == "llrint" and ty == "i64":
            whole = e.call(types[0], f"llvm.rint.{suffix}", operands[0])
            return self.to_integer(e, whole, types[0], True, 64)
        if name == "ldexp":
            return e.call(ty, f"llvm.ldexp.{suffix}.i32", *operands)
        if name in _INTRINSICS and types == [ty] * len(types):
            return e.call(ty, f"llvm.{_INTRINSICS[name]}.{suffix}", *operands)
        if ty not in ("float", "double"):
            raise UnsupportedOperation(op, f"of the library function {symbol} is not supported on {self.name}")
        return self.function(e, op, name, ty, *operands)

    def check_assembly(self, op: Operation | None) -> None:
        """UnsupportedOperation for PTX of the compiler's own, and for constraints that AMD GPUs do not have."""
        if not isinstance(op, (tt.InlineAsm, ttg.InlineAsm)):
            raise UnsupportedOperation(op, f"needs PTX, which {self.name} do not execute")
        for item in op.constraints.replace(" ", "").split(","):
            if item and _CONSTRAINT.fullmatch(item) is None:
                raise UnsupportedOperation(
                    op,
                    f"has the constraint {item!r}, which {self.name} do not have: v is a VGPR, s an SGPR, a an "
                    "accumulation register, a number the operand whose register is shared",
                )

    def _require(self, e: ThreadEmitter, function: MathFunction) -> None:
        for needed in function.requires:
            self._require(e, needed)
        for line in function.declares:
            e.module.declare(line)
        if function.text:
            e.module.define(function.symbol, function.text)

    # -- conversions ----------------------------------------------------------------------------------------------

    def to_integer(self, e: ThreadEmitter, value: str, ty: str, signed: bool, bits: int) -> str:
        """v_cvt_i32_f32 saturates, and makes 0 of NaN; LLVM expands what has no instruction."""
        name = f"llvm.fpto{'si' if signed else 'ui'}.sat.i{bits}.{'f64' if ty == 'double' else 'f32'}"
        return e.call(f"i{bits}", name, (ty, value))

    def narrow_double(self, e: ThreadEmitter, op: Operation | None, value: str, mode: str) -> str:
        """To f32 towards zero: rounded to nearest, then one back where that is larger."""
        if mode != "rz":
            raise UnsupportedOperation(op, f"with directed rounding is not supported on {self.name}")
        near = e.op(f"fptrunc double {value} to float")
        size = e.call("double", "llvm.fabs.f64", ("double", value))
        wide = e.call("double", "llvm.fabs.f64", ("double", e.op(f"fpext float {near} to double")))
        larger = e.op(f"zext i1 {e.op(f'fcmp ogt double {wide}, {size}')} to i32")
        bits = e.op(f"sub i32 {e.op(f'bitcast float {near} to i32')}, {larger}")
        return e.op(f"bitcast i32 {bits} to float")

    def narrow_single(self, e: ThreadEmitter, op: Operation, value: str, target: str, mode: str) -> str:
        """To f16 towards zero: rounded to nearest, then one back where that is larger."""
        if mode != "rz" or target != "f16":
            raise UnsupportedOperation(op, f"to {target} with directed rounding is not supported on {self.name}")
        near = e.op(f"fptrunc float {value} to half")
        size = e.call("float", "llvm.fabs.f32", ("float", value))
        wide = e.call("float", "llvm.fabs.f32", ("float", e.op(f"fpext half {near} to float")))
        larger = e.op(f"zext i1 {e.op(f'fcmp ogt float {wide}, {size}')} to i16")
        return e.op(f"sub i16 {e.op(f'bitcast half {near} to i16')}, {larger}")

    def narrows_singles(self, target: str) -> bool:
        """To f16; bf16 is the upper half of f32."""
        return target != "bf16"

    def byte_permute(self, e: ThreadEmitter, word: str, selector: int) -> str:
        """v_perm_b32: selectors 0 to 3 are the bytes of its second source, 0xc is zero."""
        nibbles = [selector >> 4 * i & 15 for i in range(4)]
        chosen = sum((n if n < 4 else 0xC) << 8 * i for i, n in enumerate(nibbles))
        return e.call("i32", "llvm.amdgcn.perm", ("i32", "0"), ("i32", word), ("i32", str(chosen)))

    # -- integers -------------------------------------------------------------------------------------------------

    def long_shift(self, e: ThreadEmitter, name: str, a: str, b: str) -> str:
        """A shift of 64 bits by a distance of at most 64."""
        inside = e.op(f"icmp ult i64 {b}, 64")
        return e.op(f"select i1 {inside}, i64 {e.op(f'{name} i64 {a}, {b}')}, i64 0")

    def wide_multiply(self, e: ThreadEmitter, a: str, b: str) -> str:
        """v_mul_lo_u32 and v_mul_hi_u32"""
        whole = e.op(f"mul i64 {e.op(f'zext i32 {a} to i64')}, {e.op(f'zext i32 {b} to i64')}")
        low, high = e.op(f"trunc i64 {whole} to i32"), e.op(f"trunc i64 {e.op(f'lshr i64 {whole}, 32')} to i32")
        struct = e.op(f"insertvalue {_HALVES} poison, i32 {low}, 0")
        return e.op(f"insertvalue {_HALVES} {struct}, i32 {high}, 1")
