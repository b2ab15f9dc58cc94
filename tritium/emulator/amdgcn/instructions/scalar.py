"""Scalar ALU instructions (MI300 ISA, sections 5 and 12.1-12.4; RDNA3 ISA, sections 6 and 16.1-16.4).

SCC is the carry or overflow of sums, whether the result is not zero for logic, and the outcome of a comparison.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...types import Array
from ..assembly import INSTRUCTION_BYTES, Instruction
from ..bits import bit_count, first_bit_high, first_bit_low, reverse, sign_run
from ..operands import Builder
from ..registry import Action, scalar, special
from ..state import EXEC, State
from .integer import add_co, addc_co, sub_co, subb_co

U32, I32, U64, I64 = np.uint32, np.int32, np.uint64, np.int64


# -- moves -------------------------------------------------------------------------------------------------------------


@scalar("s_mov_b32 s_movk_i32", "b32 = b32")
def mov(a: Array) -> Array:
    return a


@scalar("s_mov_b64", "b64 = i64")
def mov64(a: Array) -> Array:
    return a.view(U64)


@scalar("s_cmov_b32 s_cmovk_i32", "b32 = b32 d:b32 scc")
@scalar("s_cmov_b64", "b64 = b64 d:b64 scc")
def cmov(a: Array, old: Array, scc: Array) -> Array:
    return np.where(scc, a, old)


@scalar("s_cselect_b32", "b32 = b32 b32 scc")
def cselect(a: Array, b: Array, scc: Array) -> Array:
    return np.where(scc, a, b)


@scalar("s_cselect_b64", "b64 = i64 i64 scc")
def cselect64(a: Array, b: Array, scc: Array) -> Array:
    return np.where(scc, a, b).view(U64)


# -- sums --------------------------------------------------------------------------------------------------------------


scalar("s_add_u32", "u32 scc = u32 u32")(add_co)
scalar("s_sub_u32", "u32 scc = u32 u32")(sub_co)
scalar("s_addc_u32", "u32 scc = u32 u32 scc")(addc_co)
scalar("s_subb_u32", "u32 scc = u32 u32 scc")(subb_co)


@scalar("s_add_i32", "i32 scc = i32 i32")
def add_i32(a: Array, b: Array) -> tuple[Array, Array]:
    out = a + b
    return out, ((a ^ out) & (b ^ out)) < 0


@scalar("s_sub_i32", "i32 scc = i32 i32")
def sub_i32(a: Array, b: Array) -> tuple[Array, Array]:
    out = a - b
    return out, ((a ^ b) & (a ^ out)) < 0


@scalar("s_addk_i32", "i32 scc = d:i32 i32")
def addk(old: Array, k: Array) -> tuple[Array, Array]:
    return add_i32(old, k)


@scalar("s_mul_i32", "u32 = u32 u32")
def mul(a: Array, b: Array) -> Array:
    return a * b


@scalar("s_mulk_i32", "u32 = d:u32 u32")
def mulk(old: Array, k: Array) -> Array:
    return old * k


@scalar("s_mul_hi_u32", "u32 = u32 u32")
def mul_hi_u32(a: Array, b: Array) -> Array:
    return (a.astype(U64) * b >> U64(32)).astype(U32)


@scalar("s_mul_hi_i32", "i32 = i32 i32")
def mul_hi_i32(a: Array, b: Array) -> Array:
    return (a.astype(I64) * b >> I64(32)).astype(I32)


def _shifted_sum(bits: int) -> None:
    @scalar(f"s_lshl{bits}_add_u32", "u32 scc = u32 u32")
    def lshl_add(a: Array, b: Array) -> tuple[Array, Array]:
        total = (a.astype(U64) << U64(bits)) + b
        return total.astype(U32), total >> U64(32) != 0


for _bits in (1, 2, 3, 4):
    _shifted_sum(_bits)


@scalar("s_absdiff_i32", "i32 scc = i32 i32")
def absdiff(a: Array, b: Array) -> tuple[Array, Array]:
    out = np.abs(a - b)
    return out, out != 0


@scalar("s_abs_i32", "i32 scc = i32")
def absolute(a: Array) -> tuple[Array, Array]:
    out = np.abs(a)
    return out, out != 0


@scalar("s_min_i32", "i32 scc = i32 i32")
@scalar("s_min_u32", "u32 scc = u32 u32")
def minimum(a: Array, b: Array) -> tuple[Array, Array]:
    return np.minimum(a, b), a < b


@scalar("s_max_i32", "i32 scc = i32 i32")
@scalar("s_max_u32", "u32 scc = u32 u32")
def maximum(a: Array, b: Array) -> tuple[Array, Array]:
    return np.maximum(a, b), a >= b


@scalar("s_sext_i32_i8", "i32 = u32")
def sext8(a: Array) -> Array:
    return a.astype(np.int8).astype(I32)


@scalar("s_sext_i32_i16", "i32 = u32")
def sext16(a: Array) -> Array:
    return a.astype(np.int16).astype(I32)


# -- logic -------------------------------------------------------------------------------------------------------------

Logic = Callable[[Array, Array], Array]
LOGIC: dict[str, Logic] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
    "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
    "and_not1": lambda a, b: a & ~b,
    "or_not1": lambda a, b: a | ~b,
}


def _logic(name: str, function: Logic) -> None:
    def with_scc(a: Array, b: Array) -> tuple[Array, Array]:
        out = function(a, b)
        return out, out != 0

    scalar(f"s_{name}_b32", "b32 scc = b32 b32")(with_scc)
    scalar(f"s_{name}_b64", "b64 scc = i64 i64")(lambda a, b: with_scc(a.view(U64), b.view(U64)))


for _name, _function in LOGIC.items():
    _logic(_name, _function)

_SAVE: dict[str, Logic] = {
    **LOGIC,
    "andn1": lambda source, mask: ~source & mask,
    "orn1": lambda source, mask: ~source | mask,
    "and_not0": lambda source, mask: ~source & mask,
    "or_not0": lambda source, mask: ~source | mask,
}


def _save_exec(i: Instruction, b: Builder) -> Action:
    """D = EXEC; EXEC = S0 op EXEC; SCC = EXEC != 0. The `wrexec` forms write D = EXEC after the operation."""
    operation, _, rest = i.name.removeprefix("s_").partition("_saveexec_" if "_saveexec_" in i.name else "_wrexec_")
    ty = rest
    after = "_wrexec_" in i.name
    function = _SAVE[operation]
    source = b.source(1, ty, vector=False)
    write = b.scalar_destination(0, ty)
    wide = ty == "b64"
    b.reads.update((EXEC, EXEC + 1) if wide else (EXEC,))
    b.writes.update((EXEC, EXEC + 1) if wide else (EXEC,))

    def run(s: State) -> None:
        old = s.scalars[EXEC, s.at].copy()
        if wide:
            old = old.astype(U64) | (s.scalars[EXEC + 1, s.at].astype(U64) << U64(32))
        new = np.broadcast_to(function(source(s), old), old.shape)
        s.scalars[EXEC, s.at] = new.astype(U32)
        if wide:
            s.scalars[EXEC + 1, s.at] = (new >> U64(32)).astype(U32)
        s.load_exec()
        write(s, new if after else old)
        s.scc[s.at] = new != 0

    return Action(run)


special(" ".join(f"s_{name}_{how}_{ty}" for name in _SAVE for how in ("saveexec", "wrexec") for ty in ("b32", "b64")))(
    _save_exec
)


@scalar("s_not_b32", "b32 scc = b32")
@scalar("s_not_b64", "b64 scc = b64")
def invert(a: Array) -> tuple[Array, Array]:
    return ~a, ~a != 0


@scalar("s_lshl_b32", "b32 scc = b32 u32")
def lshl(a: Array, n: Array) -> tuple[Array, Array]:
    out = a << (n & U32(31))
    return out, out != 0


@scalar("s_lshr_b32", "b32 scc = b32 u32")
def lshr(a: Array, n: Array) -> tuple[Array, Array]:
    out = a >> (n & U32(31))
    return out, out != 0


@scalar("s_ashr_i32", "i32 scc = i32 u32")
def ashr(a: Array, n: Array) -> tuple[Array, Array]:
    out = a >> (n & U32(31)).view(I32)
    return out, out != 0


@scalar("s_lshl_b64", "b64 scc = b64 u32")
def lshl64(a: Array, n: Array) -> tuple[Array, Array]:
    out = a << (n & U32(63)).astype(U64)
    return out, out != 0


@scalar("s_lshr_b64", "b64 scc = b64 u32")
def lshr64(a: Array, n: Array) -> tuple[Array, Array]:
    out = a >> (n & U32(63)).astype(U64)
    return out, out != 0


@scalar("s_ashr_i64", "i64 scc = i64 u32")
def ashr64(a: Array, n: Array) -> tuple[Array, Array]:
    out = a >> (n & U32(63)).astype(I64)
    return out, out != 0


@scalar("s_bfm_b32", "b32 = u32 u32")
def bfm(a: Array, b: Array) -> Array:
    return ((U32(1) << (a & U32(31))) - U32(1)) << (b & U32(31))


def _field_of(a: Array, control: Array, bits: int) -> tuple[Array, Array]:
    offset, width = control & U32(bits - 1), control >> U32(16) & U32(127)
    return offset.astype(U64), np.minimum(width, U32(bits)).astype(U64)


def _extract(a: Array, control: Array, bits: int, signed: bool) -> Array:
    """The field of `width` bits at `offset` that the control says, extended to 64 bits."""
    offset, width = _field_of(a, control, bits)
    value = np.where(width == 0, U64(0), a.astype(U64) >> offset)
    shift = U64(64) - np.maximum(width, U64(1))
    if signed:
        value = ((value << shift).view(I64) >> shift.view(I64)).view(U64)
        return np.where(width == 0, U64(0), value)
    return np.where(width == 0, U64(0), (value << shift) >> shift)


@scalar("s_bfe_u32", "b32 scc = b32 u32")
def bfe_u32(a: Array, control: Array) -> tuple[Array, Array]:
    out = _extract(a, control, 32, False).astype(U32)
    return out, out != 0


@scalar("s_bfe_i32", "b32 scc = b32 u32")
def bfe_i32(a: Array, control: Array) -> tuple[Array, Array]:
    out = _extract(a.view(I32).astype(I64), control, 32, True).astype(U32)
    return out, out != 0


@scalar("s_bfe_u64", "b64 scc = b64 u32")
def bfe_u64(a: Array, control: Array) -> tuple[Array, Array]:
    out = _extract(a, control, 64, False)
    return out, out != 0


@scalar("s_bfe_i64", "b64 scc = b64 u32")
def bfe_i64(a: Array, control: Array) -> tuple[Array, Array]:
    out = _extract(a, control, 64, True)
    return out, out != 0


@scalar("s_brev_b32", "b32 = b32")
@scalar("s_brev_b64", "b64 = b64")
def brev(a: Array) -> Array:
    return reverse(a)


@scalar("s_bcnt1_i32_b32", "u32 scc = b32")
@scalar("s_bcnt1_i32_b64", "u32 scc = b64")
def bcnt1(a: Array) -> tuple[Array, Array]:
    out = bit_count(a)
    return out, out != 0


@scalar("s_bcnt0_i32_b32", "u32 scc = b32")
@scalar("s_bcnt0_i32_b64", "u32 scc = b64")
def bcnt0(a: Array) -> tuple[Array, Array]:
    out = bit_count(~a)
    return out, out != 0


@scalar("s_ff1_i32_b32 s_ctz_i32_b32", "u32 = b32")
@scalar("s_ff1_i32_b64 s_ctz_i32_b64", "u32 = b64")
def ff1(a: Array) -> Array:
    return first_bit_low(a)


@scalar("s_ff0_i32_b32", "u32 = b32")
@scalar("s_ff0_i32_b64", "u32 = b64")
def ff0(a: Array) -> Array:
    return first_bit_low(~a)


@scalar("s_flbit_i32_b32 s_clz_i32_u32", "u32 = b32")
@scalar("s_flbit_i32_b64 s_clz_i32_u64", "u32 = b64")
def flbit(a: Array) -> Array:
    return first_bit_high(a)


@scalar("s_flbit_i32 s_cls_i32", "u32 = b32")
def flbit_signed(a: Array) -> Array:
    return sign_run(a)


@scalar("s_bitset1_b32", "b32 = d:b32 u32")
def bitset1(old: Array, n: Array) -> Array:
    return old | (U32(1) << (n & U32(31)))


@scalar("s_bitset0_b32", "b32 = d:b32 u32")
def bitset0(old: Array, n: Array) -> Array:
    return old & ~(U32(1) << (n & U32(31)))


@scalar("s_pack_ll_b32_b16", "b32 = b32 b32")
def pack_ll(a: Array, b: Array) -> Array:
    return (a & U32(0xFFFF)) | (b << U32(16))


@scalar("s_pack_lh_b32_b16", "b32 = b32 b32")
def pack_lh(a: Array, b: Array) -> Array:
    return (a & U32(0xFFFF)) | (b & U32(0xFFFF0000))


@scalar("s_pack_hh_b32_b16", "b32 = b32 b32")
def pack_hh(a: Array, b: Array) -> Array:
    return (a >> U32(16)) | (b & U32(0xFFFF0000))


@scalar("s_pack_hl_b32_b16", "b32 = b32 b32")
def pack_hl(a: Array, b: Array) -> Array:
    return (a >> U32(16)) | (b << U32(16))


# -- comparisons -------------------------------------------------------------------------------------------------------

_COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "lg": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}
for _name, _compare in _COMPARE.items():
    for _ty in ("i32", "u32"):
        scalar(f"s_cmp_{_name}_{_ty} s_cmpk_{_name}_{_ty}", f"scc = {_ty} {_ty}")(_compare)
for _name in ("eq", "lg"):
    scalar(f"s_cmp_{_name}_u64", "scc = u64 u64")(_COMPARE[_name])


@scalar("s_bitcmp0_b32", "scc = b32 u32")
def bitcmp0(a: Array, n: Array) -> Array:
    return a >> (n & U32(31)) & U32(1) == 0


@scalar("s_bitcmp1_b32", "scc = b32 u32")
def bitcmp1(a: Array, n: Array) -> Array:
    return a >> (n & U32(31)) & U32(1) == 1


@scalar("s_bitcmp0_b64", "scc = b64 u32")
def bitcmp0_64(a: Array, n: Array) -> Array:
    return a >> (n & U32(63)).astype(U64) & U64(1) == 0


@scalar("s_bitcmp1_b64", "scc = b64 u32")
def bitcmp1_64(a: Array, n: Array) -> Array:
    return a >> (n & U32(63)).astype(U64) & U64(1) == 1


# -- whole quads, and the program counter ------------------------------------------------------------------------------


def _quads(a: Array, bits: int) -> Array:
    """One bit a quad: whether any of its lanes is set."""
    lanes = a[:, None] >> np.arange(bits, dtype=a.dtype)[None, :] & a.dtype.type(1)
    return lanes.reshape(len(a), bits // 4, 4).any(axis=2)


@scalar("s_wqm_b32", "b32 scc = b32")
def wqm32(a: Array) -> tuple[Array, Array]:
    lanes = np.repeat(_quads(a, 32), 4, axis=1)
    out = np.packbits(lanes, axis=1, bitorder="little").view(U32)[:, 0]
    return out, out != 0


@scalar("s_wqm_b64", "b64 scc = b64")
def wqm64(a: Array) -> tuple[Array, Array]:
    lanes = np.repeat(_quads(a, 64), 4, axis=1)
    out = np.packbits(lanes, axis=1, bitorder="little").view(U64)[:, 0]
    return out, out != 0


@special("s_getpc_b64")
def getpc(i: Instruction, b: Builder) -> Action:
    """The address of the next instruction."""
    write = b.scalar_destination(0, "b64")
    following = np.array([b.limits.code_address + i.address + INSTRUCTION_BYTES], U64)
    return Action(lambda s: write(s, following))
