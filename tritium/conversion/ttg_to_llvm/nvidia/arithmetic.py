"""Arithmetic and math of NVIDIA GPUs: approximate instructions, libdevice, conversions by `cvt`."""

from __future__ import annotations

from ....hardware.nvidia import NvidiaGPU
from ....hardware.nvidia_features import BF16_ARITHMETIC, FP8_CONVERSIONS, INTEGER_TO_BF16, MIN_MAX_16_BITS
from ....ir import Operation, Type
from ..target_info import TargetInfo, ThreadEmitter

__all__ = ["NVIDIAArithmetic"]

_SMALL_FLOATS = frozenset(("f8E5M2", "f8E4M3FN"))
_HALVES = "{ i32, i32 }"
_LETTERS = {"float": ("f", "f32"), "double": ("d", "f64")}

_TO_INTEGER = {  # (source, with a sign, bits): hardware conversions are defined for all inputs
    ("float", True, 32): "llvm.nvvm.f2i.rz",
    ("float", False, 32): "llvm.nvvm.f2ui.rz",
    ("float", True, 64): "llvm.nvvm.f2ll.rz",
    ("float", False, 64): "llvm.nvvm.f2ull.rz",
    ("double", True, 32): "llvm.nvvm.d2i.rz",
    ("double", False, 32): "llvm.nvvm.d2ui.rz",
    ("double", True, 64): "llvm.nvvm.d2ll.rz",
    ("double", False, 64): "llvm.nvvm.d2ull.rz",
}


class NVIDIAArithmetic(TargetInfo):
    """The arithmetic hooks of `TargetInfo`, for a `gpu`."""

    gpu: NvidiaGPU

    # -- floats ---------------------------------------------------------------------------------------------------

    def has_fma(self, ty: Type) -> bool:
        """bf16 since sm_80."""
        return str(ty) != "bf16" or self.gpu.has(BF16_ARITHMETIC)

    def has_min_max(self, ty: Type) -> bool:
        """16 bits since sm_80."""
        return str(ty) not in ("f16", "bf16") or self.gpu.has(MIN_MAX_16_BITS)

    def rounds_integers_to_bf16(self) -> bool:
        """Since sm_90."""
        return self.gpu.has(INTEGER_TO_BF16)

    def exp2(self, e: ThreadEmitter, value: str) -> str:
        """ex2.approx"""
        return e.call("float", "llvm.nvvm.ex2.approx.f", ("float", value))

    def sqrt(self, e: ThreadEmitter, value: str) -> str:
        """sqrt.approx"""
        return e.call("float", "llvm.nvvm.sqrt.approx.f", ("float", value))

    def divide(self, e: ThreadEmitter, a: str, b: str, approximate: bool = False) -> str:
        """div.full, or div.approx"""
        name = "llvm.nvvm.div.approx.f" if approximate else "llvm.nvvm.div.full"
        return e.call("float", name, ("float", a), ("float", b))

    def reciprocal(self, e: ThreadEmitter, value: str) -> str:
        """rcp.approx.ftz"""
        return e.call("float", "llvm.nvvm.rcp.approx.ftz.f", ("float", value))

    def directed(self, e: ThreadEmitter, op: Operation, name: str, mode: str, ty: str, a: str, b: str) -> str:
        """add.rm.f32 and the like"""
        letter, suffix = _LETTERS[ty]
        line, constraints = f"{name}.{mode}.{suffix} $0, $1, $2;", f"={letter},{letter},{letter}"
        return e.asm(line, constraints, [(ty, a), (ty, b)], ty, False)

    def function(self, e: ThreadEmitter, op: Operation, name: str, ty: str, *operands: tuple[str, str]) -> str:
        """A function of libdevice: it reads no memory and depends on nothing but its operands."""
        return e.call(ty, f"__nv_{name}{'' if ty == 'double' else 'f'}", *operands, attributes=" #2")

    def library_function(
        self, e: ThreadEmitter, op: Operation, symbol: str, pure: bool, ty: str, operands: list[tuple[str, str]]
    ) -> str:
        """A call, which linking of libdevice resolves."""
        return e.call(ty, symbol, *operands, attributes=" #2" if pure else "")

    # -- conversions ----------------------------------------------------------------------------------------------

    def to_integer(self, e: ThreadEmitter, value: str, ty: str, signed: bool, bits: int) -> str:
        """cvt.rzi"""
        number = e.call(f"i{bits}", _TO_INTEGER[ty, signed, bits], (ty, value))
        if bits == 64 or ty == "double":  # there, NaN does not become 0
            ordered = e.op(f"fcmp ord {ty} {value}, {value}")
            number = e.op(f"select i1 {ordered}, i{bits} {number}, i{bits} 0")
        return number

    def narrow_double(self, e: ThreadEmitter, op: Operation | None, value: str, mode: str) -> str:
        """cvt.rz.f32.f64 and the like"""
        return e.call("float", f"llvm.nvvm.d2f.{mode}", ("double", value))

    def narrow_single(self, e: ThreadEmitter, op: Operation, value: str, target: str, mode: str) -> str:
        """cvt.rz.bf16.f32 and the like"""
        return e.asm(f"cvt.{mode}.{target}.f32 $0, $1;", "=h,f", [("float", value)], "i16", False)

    def narrows_singles(self, target: str) -> bool:
        """To bf16 since sm_80."""
        return target != "bf16" or self.gpu.has(BF16_ARITHMETIC)

    def byte_permute(self, e: ThreadEmitter, word: str, selector: int) -> str:
        """prmt"""
        return e.call("i32", "llvm.nvvm.prmt", ("i32", word), ("i32", "0"), ("i32", str(selector)))

    @property
    def native_small_floats(self) -> frozenset[str]:
        """e5m2 and e4m3 since Ada."""
        return _SMALL_FLOATS if self.gpu.has(FP8_CONVERSIONS) else frozenset()

    # -- integers -------------------------------------------------------------------------------------------------

    def long_shift(self, e: ThreadEmitter, name: str, a: str, b: str) -> str:
        """As PTX, whose distances have 32 bits: LLVM 22 makes a select around a shift into that, and drops the upper 32
        bits of the distance."""
        text = {"shl": "shl.b64 $0, $1, $2;", "lshr": "shr.u64 $0, $1, $2;"}[name]
        return e.asm(text, "=l,l,r", [("i64", a), ("i32", e.op(f"trunc i64 {b} to i32"))], "i64", False)

    def wide_multiply(self, e: ThreadEmitter, a: str, b: str) -> str:
        """mul.wide.u32

        LLVM splits a 64-bit multiplication with both halves used into two of 32 bits, and ptxas leaves it at that: 18 %
        more instructions in a dropout with Philox (ptxas 13.0, sm_90, 2026-11). Hence PTX.
        """
        text = "{\n.reg .b64 whole;\nmul.wide.u32 whole, $2, $3;\nmov.b64 {$0, $1}, whole;\n}"
        second = "r" if b.startswith("%") else "n"
        return e.asm(text, f"=r,=r,r,{second}", [("i32", a), ("i32", b)], _HALVES, side_effects=False)
