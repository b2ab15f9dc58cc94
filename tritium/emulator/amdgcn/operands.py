"""Readers and writers of operands: closures made once for an instruction, called with the state at each execution.

A reader gives an array over the waves of the group and their lanes; what does not depend on a wave or a lane has length
1 along that axis. Scalar instructions read arrays over waves. Types are spelled as in the names of instructions: b32,
u32, i32, f32, b64, u64, i64, f64, b16, u16, i16, f16, bf16; `mask` is one bit a lane in scalar registers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import AssemblyError
from ..types import Array
from .assembly import Instruction, Operand, float_bits
from .lane_moves import LaneMove
from .state import ACCUMULATORS, EXEC, M0, SCALARS, VCC, State

__all__ = ["DTYPES", "Builder", "Limits", "Reader", "Writer", "bits_of_type", "store"]

Reader = Callable[[State], Array]
Writer = Callable[[State, Array], None]
Extra = Callable[[State], Array] | None

DTYPES: dict[str, type[np.generic]] = {
    "b8": np.uint8,
    "u8": np.uint8,
    "i8": np.int8,
    "b16": np.uint16,
    "u16": np.uint16,
    "i16": np.int16,
    "f16": np.float16,
    "bf16": np.uint16,
    "b32": np.uint32,
    "u32": np.uint32,
    "i32": np.int32,
    "f32": np.float32,
    "b64": np.uint64,
    "u64": np.uint64,
    "i64": np.int64,
    "f64": np.float64,
}
_SELECT = {"DWORD": (0, 32), "WORD_0": (0, 16), "WORD_1": (16, 16)} | {f"BYTE_{n}": (8 * n, 8) for n in range(4)}
U32, U64 = np.uint32, np.uint64


def bits_of_type(ty: str) -> int:
    """The width of a type in bits."""
    return int(ty.lstrip("biuf"))


class Builder:
    """Makes the readers and writers of one instruction, and records the registers that it reads and writes.

    Registers are recorded as numbers: scalar registers as they are, vector registers from `SCALARS` on.
    """

    def __init__(self, i: Instruction, limits: Limits) -> None:
        self.i, self.limits = i, limits
        self.reads: set[int] = set()
        self.writes: set[int] = set()
        self.lane_move = LaneMove.of(i, limits.lanes)

    # -- registers -----------------------------------------------------------------------------------------------------

    def fail(self, message: str) -> AssemblyError:
        return AssemblyError(f"{self.i.name}: {message}", self.i)

    def row(self, op: Operand, n: int = 0) -> int:
        """The number of a vector register operand's n-th register, checked against what the kernel allocates."""
        limit = self.limits.accumulators if op.kind == "a" else self.limits.vectors
        if op.kind not in ("v", "a"):
            raise self.fail("an operand must be a vector register")
        if op.number + n >= limit:
            raise self.fail(f"{op.kind}{op.number + n} is beyond the {limit} registers that the kernel allocates")
        return op.number + n + (ACCUMULATORS if op.kind == "a" else 0)

    def use(self, op: Operand, words: int, write: bool = False) -> None:
        """Record an access to the registers of an operand."""
        into = self.writes if write else self.reads
        if op.kind in ("v", "a"):
            into.update(SCALARS + self.row(op, n) for n in range(words))
        elif op.kind == "s":
            into.update(range(op.number, min(op.number + words, SCALARS)))

    # -- sources -------------------------------------------------------------------------------------------------------

    def source(self, n: int, ty: str, vector: bool = True, op_sel: int | None = None) -> Reader:
        """The reader of operand number `n` as a value of a type, with its modifiers."""
        op = self.i.operands[n]
        if ty == "mask":
            return self.mask(op)
        bits = bits_of_type(ty)
        self.use(op, -(-bits // 32))
        raw = self.raw(op, ty, bits, vector, n)
        if bits <= 16 or "src0_sel" in self.i.modifiers:
            raw = self.narrowed(raw, op, bits, n, op_sel)
        return self.typed(raw, op, ty, bits)

    def raw(self, op: Operand, ty: str, bits: int, vector: bool, n: int) -> Reader:
        """The reader of 32 or 64 bits."""
        if op.kind in ("v", "a"):
            if not vector:
                raise self.fail("a scalar instruction does not read vector registers")
            low = self.vector_row(self.row(op), n)
            return low if bits <= 32 else self.joined(low, self.vector_row(self.row(op, 1), n))
        if op.kind == "s":
            low = self.scalar_row(op.number, vector)
            return low if bits <= 32 else self.joined(low, self.scalar_row(op.number + 1, vector))
        return self.constant(op, ty, bits, vector)

    def vector_row(self, row: int, n: int) -> Reader:
        move = self.lane_move
        if move is not None and n == self.first_source:
            return lambda s: move.moved(s, s.vectors[row][s.at])
        return lambda s: s.vectors[row][s.at]

    @property
    def first_source(self) -> int:
        """The operand that DPP moves between lanes: the first source, after the destinations."""
        name = self.i.name
        if name.startswith("v_cmpx") and len(self.i.operands) == 2:
            return 0
        return 2 if "_co_" in name else 1

    def scalar_row(self, row: int, vector: bool) -> Reader:
        if row >= SCALARS:
            raise self.fail(f"there is no scalar register {row}")
        if vector:
            return lambda s: s.scalars[row, s.at][:, None]
        return lambda s: s.scalars[row, s.at]

    @staticmethod
    def joined(low: Reader, high: Reader) -> Reader:
        return lambda s: low(s).astype(U64) | (high(s).astype(U64) << U64(32))

    def constant(self, op: Operand, ty: str, bits: int, vector: bool) -> Reader:
        """Inline constants and literals (MI300 ISA, section 6.2.1; RDNA3 ISA, section 6.2)."""
        value = self.constant_bits(op, ty, bits)
        mask = (1 << (64 if bits == 64 else 32)) - 1
        array = np.full((1, 1) if vector else (1,), value & mask, U64 if bits == 64 else U32)
        array.flags.writeable = False
        return lambda s: array

    def constant_bits(self, op: Operand, ty: str, bits: int) -> int:
        if op.kind == "int":
            value = int(op.value)
            if self.i.name in _SIGNED_16 or (self.i.name.startswith("s_cmpk_") and self.i.name.endswith("i32")):
                return ((value & 0xFFFF) ^ 0x8000) - 0x8000
            # A literal is the high half of a double.
            return value << 32 if ty == "f64" and not -16 <= value <= 64 else value
        if op.kind == "float":
            if ty == "bf16":
                return float_bits(op.value, 32) >> 16
            if ty in ("u16", "i16"):  # integer instructions take all 32 bits, of which `op_sel` can pick the high half
                return float_bits(op.value, 32)
            return float_bits(op.value, 16 if bits <= 16 else 64 if ty in ("f64", "b64", "u64", "i64") else 32)
        if op.is_null:
            return 0
        if op.kind in ("symbol", "word", "call"):
            return self.limits.symbol(op, self.i)
        raise self.fail(f"cannot read the operand {op.name!r}")

    def narrowed(self, raw: Reader, op: Operand, bits: int, n: int, op_sel: int | None) -> Reader:
        """The part of a register that an operand is: a half, or what SDWA selects (MI300 ISA, section 6.3)."""
        first = self.first_source
        selected = self.i.modifiers.get(f"src{n - first}_sel") if n >= first else None
        if selected is not None:
            shift, width = _SELECT[selected]
            return _field(raw, shift, width, op.extend)
        if bits > 16:
            return raw
        if op_sel is None and op.is_register:
            op_sel = int(op.half == "h")
            if n >= first:
                op_sel |= self.i.bits("op_sel", 0, n + 1)[n - first]
        if op_sel and (op.is_register or op.kind == "int"):
            return lambda s: raw(s) >> U32(16)
        return raw

    def typed(self, raw: Reader, op: Operand, ty: str, bits: int) -> Reader:
        """Apply `neg` and `abs`, and view as the type."""
        dtype = DTYPES[ty]
        word = {8: np.uint8, 16: np.uint16, 32: U32, 64: U64}[bits]
        if bits < 32:
            inner = raw

            def raw(s: State) -> Array:
                return inner(s).astype(word)

        sign = word(1 << (bits - 1))
        if op.absolute:
            raw = _then(raw, lambda x: x & ~sign)
        if op.negate:
            raw = _then(raw, (lambda x: x ^ sign) if "f" in ty else (lambda x: -x))
        if dtype == word:
            return raw
        if ty in ("f32", "f64"):
            return _flushed(raw, ty, self.i)
        return lambda s: raw(s).view(dtype)

    def mask(self, op: Operand) -> Reader:
        """A bit a lane: carries and conditions."""
        words = self.limits.lanes // 32
        self.use(op, words)
        if op.kind == "s":
            register = op.number
            return lambda s: s.mask_of(register)
        value = int(op.value) & ((1 << self.limits.lanes) - 1)
        if op.kind == "float":
            value = float_bits(op.value, 32)
        bits = np.array([[value >> n & 1 for n in range(self.limits.lanes)]], bool)
        return lambda s: bits

    def implicit_vcc(self) -> Reader:
        return self.mask(Operand("s", VCC, self.limits.lanes // 32))

    def m0(self) -> Reader:
        self.reads.add(M0)
        return lambda s: s.scalars[M0, s.at]

    def scc(self) -> Reader:
        return lambda s: s.scc[s.at]

    # -- destinations --------------------------------------------------------------------------------------------------

    def destination(self, n: int, ty: str) -> Writer:
        """The writer of operand number `n` of a vector instruction."""
        op = self.i.operands[n]
        if ty == "mask":
            return self.mask_destination(op)
        bits = bits_of_type(ty)
        self.use(op, -(-bits // 32), write=True)
        if op.kind == "s":
            raise self.fail("the destination must be a vector register")
        row = self.row(op)
        if bits == 64:
            return self.pair(row, self.row(op, 1), ty)
        if "dst_sel" in self.i.modifiers:
            return self.part(row, op, ty)
        if bits <= 16:
            return self.half(row, op, ty)
        return self.word(row, ty)

    def word(self, row: int, ty: str) -> Writer:
        extra = self.lane_move.written if self.lane_move is not None else None
        if ty == "f32":
            return lambda s, value: store(s, s.floats[row], value, extra)
        if ty == "i32":
            return lambda s, value: store(s, s.vectors[row].view(np.int32), value, extra)
        return lambda s, value: store(s, s.vectors[row], value, extra)

    def pair(self, low: int, high: int, ty: str) -> Writer:
        extra = self.lane_move.written if self.lane_move is not None else None
        dtype = DTYPES[ty]

        def write(s: State, value: Array) -> None:
            bits = np.asarray(value, dtype).view(U64)
            store(s, s.vectors[low], bits.astype(U32), extra)
            store(s, s.vectors[high], (bits >> U64(32)).astype(U32), extra)

        return write

    def half(self, row: int, op: Operand, ty: str) -> Writer:
        """Sixteen bits: half of a register; the other half keeps its value, or becomes zero where the GPU says so.

        GFX9 clears the high half in most instructions; those encoded with `op_sel`, and GFX11, preserve it.
        """
        dtype = DTYPES[ty]
        first = self.first_source
        sources = len(self.i.operands) - first
        high = op.half == "h" or bool(self.i.bits("op_sel", 0, sources + 1)[sources])
        clears = self.limits.generation == 9 and self.i.name not in _PRESERVING and not high and not op.half
        extra = self.lane_move.written if self.lane_move is not None else None
        self.use(op, 1)
        bits = bits_of_type(ty)

        def write(s: State, value: Array) -> None:
            word = np.asarray(value, dtype).view(np.uint16 if bits == 16 else np.uint8).astype(U32)
            if not clears:
                old = s.vectors[row][s.at]
                word = (old & U32(0xFFFF)) | (word << U32(16)) if high else (old & U32(0xFFFF0000)) | word
            store(s, s.vectors[row], word, extra)

        return write

    def part(self, row: int, op: Operand, ty: str) -> Writer:
        """What SDWA selects of the destination (MI300 ISA, section 6.3)."""
        shift, width = _SELECT[self.i.modifiers["dst_sel"]]
        unused = self.i.modifiers.get("dst_unused", "UNUSED_PAD")
        mask = U32(((1 << width) - 1) << shift)
        dtype, bits = DTYPES[ty], bits_of_type(ty)
        self.use(op, 1)

        def write(s: State, value: Array) -> None:
            word = np.asarray(value, dtype).view({16: np.uint16, 32: U32}[bits]).astype(U32)
            word = (word << U32(shift)) & mask
            if unused == "UNUSED_PRESERVE":
                word = word | (s.vectors[row][s.at] & ~mask)
            elif unused == "UNUSED_SEXT":
                top = (word >> U32(shift + width - 1)) & U32(1)
                word = word | np.where(top == 1, U32((0xFFFFFFFF << (shift + width)) & 0xFFFFFFFF), U32(0))
            store(s, s.vectors[row], word)

        return write

    def mask_destination(self, op: Operand) -> Writer:
        """A bit a lane: 0 for lanes that EXEC disables."""
        if op.is_null:
            return lambda s, value: None
        if op.kind != "s":
            raise self.fail("the destination must be scalar registers")
        self.use(op, self.limits.lanes // 32, write=True)
        register, move = op.number, self.lane_move
        if move is not None:
            return lambda s, value: s.set_mask(
                register, np.broadcast_to(value, s.exec.shape) & s.exec & move.written(s)
            )
        return lambda s, value: s.set_mask(register, np.broadcast_to(value, s.exec.shape) & s.exec)

    def scalar_destination(self, n: int, ty: str) -> Writer:
        """The writer of operand number `n` of a scalar instruction."""
        op = self.i.operands[n]
        if op.is_null:
            return lambda s, value: None
        if op.kind != "s":
            raise self.fail("the destination must be a scalar register")
        bits = bits_of_type(ty)
        self.use(op, -(-bits // 32), write=True)
        row, dtype = op.number, DTYPES[ty]
        is_exec = row >= EXEC or (bits == 64 and row + 1 >= EXEC)

        def write(s: State, value: Array) -> None:
            raw = np.asarray(value, dtype)
            if bits == 64:
                raw = raw.view(U64)
                s.scalars[row, s.at] = raw.astype(U32)
                s.scalars[row + 1, s.at] = (raw >> U64(32)).astype(U32)
            else:
                s.scalars[row, s.at] = raw.astype(np.int64).astype(U32) if bits < 32 else raw.view(U32)
            if is_exec:
                s.load_exec()

        return write


class Limits:
    """What a kernel allocates and is compiled for: what operands may name. `symbol` resolves labels and constants."""

    def __init__(
        self,
        generation: int,
        lanes: int,
        vectors: int,
        accumulators: int,
        symbol: Callable[[Operand, Instruction], int],
        code_address: int = 0,
    ) -> None:
        self.generation, self.lanes, self.code_address = generation, lanes, code_address
        self.vectors, self.accumulators = vectors, accumulators
        self.symbol = symbol


#: 16-bit instructions of GFX9 that preserve the other half of the destination (MI300 ISA, section 12.15, and
#: "GFX9" in the notes on 16-bit instructions of LLVM's AMDGPU backend).
_PRESERVING = frozenset(
    [
        "v_mad_f16",
        "v_mad_u16",
        "v_mad_i16",
        "v_fma_f16",
        "v_div_fixup_f16",
        "v_fma_mixlo_f16",
        "v_fma_mixhi_f16",
        "v_min3_f16",
        "v_max3_f16",
        "v_med3_f16",
        "v_min3_i16",
        "v_max3_i16",
        "v_med3_i16",
        "v_min3_u16",
        "v_max3_u16",
        "v_med3_u16",
        "v_add_i16",
        "v_sub_i16",
        "v_pack_b32_f16",
        "v_interp_p2_f16",
        "v_cvt_pk_fp8_f32",
        "v_cvt_pk_bf8_f32",
    ]
)


#: Scalar instructions with a signed immediate of 16 bits, which may be written without its sign.
_SIGNED_16 = ("s_movk_i32", "s_cmovk_i32", "s_addk_i32", "s_mulk_i32")


def store(s: State, row: Array, value: Array, extra: Extra = None) -> None:
    """Write a vector register in the lanes that execute."""
    at = s.at
    if s.full and extra is None:
        row[at] = value
        return
    mask = s.exec if extra is None else s.exec & extra(s)
    if s.sliced:
        np.copyto(row[at], value, where=mask, casting="unsafe")
    else:
        old = row[at]
        np.copyto(old, value, where=mask, casting="unsafe")
        row[at] = old


def _then(raw: Reader, change: Callable[[Array], Array]) -> Reader:
    return lambda s: change(raw(s))


def _field(raw: Reader, shift: int, width: int, extend: bool) -> Reader:
    if extend:
        return lambda s: (
            ((raw(s) << U32(32 - shift - width)).view(np.int32) >> np.int32(32 - width)).astype(np.int32).view(U32)
        )
    mask = U32((1 << width) - 1)
    return lambda s: (raw(s) >> U32(shift)) & mask


#: Instructions that move or select floats without changing denormals.
_EXACT = frozenset(
    [
        "v_cmp_class_f32",
        "v_cmp_class_f64",
        "v_cmpx_class_f32",
        "v_cmpx_class_f64",
        "v_cndmask_b32",
        "v_div_fixup_f32",
        "v_div_scale_f32",
        "v_div_scale_f64",
        "v_div_fixup_f64",
    ]
)


def _flushed(raw: Reader, ty: str, i: Instruction) -> Reader:
    """Floats; denormals become zero where the mode says so (MI300 ISA, section 6.5)."""
    dtype = DTYPES[ty]
    if i.name in _EXACT:
        return lambda s: raw(s).view(dtype)
    if ty == "f32":
        smallest, attribute = np.float32(2.0**-126), "flush32"
    else:
        smallest, attribute = np.float64(2.0**-1022), "flush64"

    def read(s: State) -> Array:
        value = raw(s).view(dtype)
        if getattr(s, attribute):
            return np.where(np.abs(value) < smallest, np.copysign(dtype(0), value), value)
        return value

    return read
