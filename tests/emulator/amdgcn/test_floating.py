"""Floating-point instructions against NumPy over special values: NaN, infinities, -0, denormals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.amdgcn.kernels import CHIPS, SPECIAL_FLOATS, pairs, vector

F16, F32, F64 = np.float16, np.float32, np.float64
QUIET = {"all": "ignore"}


def same(got: np.ndarray, want: np.ndarray) -> None:
    """Equal bits, or both NaN."""
    got = np.ascontiguousarray(got).view(want.dtype).reshape(want.shape)
    assert ((np.isnan(got) & np.isnan(want)) | (got == want)).all()
    zero = (got == 0) & (want == 0)
    assert (np.signbit(got) == np.signbit(want))[zero].all()


def fused(a, b, c):
    """a * b + c by numbers of twice the precision, of which f32 and f16 need no more for these values."""
    return (a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)).astype(a.dtype)


def maximum(a, b):
    out = np.fmax(a, b)
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a) & np.signbit(b), F32(-0.0), F32(0.0)), out)


def minimum(a, b):
    out = np.fmin(a, b)
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a) | np.signbit(b), F32(-0.0), F32(0.0)), out)


TWO = {
    "v_add_f32_e32 v40, v10, v14": lambda a, b: a + b,
    "v_sub_f32_e32 v40, v10, v14": lambda a, b: a - b,
    "v_subrev_f32_e32 v40, v10, v14": lambda a, b: b - a,
    "v_mul_f32_e32 v40, v10, v14": lambda a, b: a * b,
    "v_max_f32_e32 v40, v10, v14": maximum,
    "v_min_f32_e32 v40, v10, v14": minimum,
    "v_add_f32_e64 v40, |v10|, -v14": lambda a, b: np.abs(a) - b,
    "v_mul_f32_e64 v40, -|v10|, v14": lambda a, b: -np.abs(a) * b,
    "v_mul_f32_e64 v40, v10, v14 mul:2": lambda a, b: a * b * F32(2),
    "v_add_f32_e64 v40, v10, v14 div:2": lambda a, b: (a + b) * F32(0.5),
    "v_add_f32_e64 v40, v10, v14 clamp": lambda a, b: np.where(a + b > 0, np.minimum(a + b, F32(1)), F32(0)),
    "v_fma_f32 v40, v10, v14, 1.0": lambda a, b: fused(a, b, np.ones_like(a)),
    "v_ldexp_f32 v40, v10, v14": None,
}
ONE = {
    "v_floor_f32_e32": np.floor,
    "v_ceil_f32_e32": np.ceil,
    "v_trunc_f32_e32": np.trunc,
    "v_rndne_f32_e32": np.rint,
    "v_frexp_mant_f32_e32": lambda a: np.where(np.isfinite(a), np.frexp(a)[0], a),
    "v_fract_f32_e32": lambda a: np.minimum(a - np.floor(a), np.nextafter(F32(1), F32(0))),
}
APPROXIMATE = {
    "v_exp_f32_e32": np.exp2,
    "v_log_f32_e32": np.log2,
    "v_rcp_f32_e32": lambda a: 1 / a,
    "v_rsq_f32_e32": lambda a: 1 / np.sqrt(a),
    "v_sqrt_f32_e32": np.sqrt,
    "v_sin_f32_e32": lambda a: np.sin(2 * np.pi * (a - np.rint(a))),
    "v_cos_f32_e32": lambda a: np.cos(2 * np.pi * (a - np.rint(a))),
}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("text", [text for text, function in TWO.items() if function])
def test_instruction_of_two_floats(text, chip):
    a, b = pairs(SPECIAL_FLOATS)
    with np.errstate(**QUIET):
        same(vector(text, a, b, chip=chip), TWO[text](a, b))


@pytest.mark.parametrize("ty", [F32, F16])
def test_clamp_makes_positive_zeros(ty):
    x = np.array([-0.0, 0.0, -1.0, 0.25, 2.0, np.nan, np.inf, -np.inf], ty)
    bits = x.view(np.uint16).astype(np.uint32) if ty is F16 else x
    got = vector(f"v_max_f{x.itemsize * 8}_e64 v40, v10, v10 clamp", bits)
    got = got.view(F32) if ty is F32 else got.view(np.uint32).astype(np.uint16).view(F16)
    same(got, np.array([0.0, 0.0, 0.0, 0.25, 1.0, 0.0, 1.0, 0.0], ty))


@pytest.mark.parametrize("name", ONE)
def test_instruction_of_one_float(name):
    with np.errstate(**QUIET):
        same(vector(f"{name} v40, v10", SPECIAL_FLOATS), ONE[name](SPECIAL_FLOATS))


@pytest.mark.parametrize("name", APPROXIMATE)
def test_approximation_is_within_one_ulp(name):
    x = np.concatenate([np.linspace(-8, 8, 401, dtype=F32), np.geomspace(1e-30, 1e30, 400, dtype=F32)])
    if "sin" in name or "cos" in name:
        x = x[:401]
    got = vector(f"{name} v40, v10", x).view(F32)
    with np.errstate(**QUIET):
        want = APPROXIMATE[name](x.astype(F64))
        normal = np.isfinite(want) & (np.abs(want) >= 2.0**-126) & (np.abs(want) < 3e38)
        error = np.abs(got - want)[normal] / np.spacing(np.abs(want[normal]).astype(F32))
    assert error.max() <= 1


def test_approximations_take_denormals_for_zero():
    tiny = np.array([1e-40, -1e-40], F32)
    np.testing.assert_array_equal(vector("v_rcp_f32_e32 v40, v10", tiny).view(F32), [np.inf, -np.inf])
    np.testing.assert_array_equal(vector("v_log_f32_e32 v40, v10", tiny[:1]).view(F32), [-np.inf])
    np.testing.assert_array_equal(vector("v_exp_f32_e32 v40, v10", np.array([-130], F32)).view(F32), [0])


def test_denormals_are_flushed_where_the_mode_says_so():
    a = np.array([1e-40, -1e-40, 1e-38, 2e-38], F32)
    same(vector("v_add_f32_e32 v40, v10, v10", a), a + a)
    same(vector("v_add_f32_e32 v40, v10, v10", a, denormals=0), np.array([0, -0.0, 0, 4e-38], F32))
    switch = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3"
    same(vector("v_add_f32_e32 v40, v10, v10", a, denormals=0, setup=switch), a + a)


def test_ldexp_rounds_once():
    a = np.repeat(SPECIAL_FLOATS, 7)
    n = np.tile(np.array([-300, -150, -20, 0, 3, 140, 300], np.int32), len(SPECIAL_FLOATS))
    with np.errstate(**QUIET):
        same(vector("v_ldexp_f32 v40, v10, v14", a, n), np.ldexp(a.astype(F64), n).astype(F32))


@pytest.mark.parametrize("chip", CHIPS)
def test_comparisons_with_nan(chip):
    a, b = pairs(SPECIAL_FLOATS)
    nan = np.isnan(a) | np.isnan(b)
    table = {"lt": a < b, "eq": a == b, "lg": (a < b) | (a > b), "ge": a >= b, "o": ~nan, "u": nan}
    table |= {
        "nlt": ~(a < b),
        "neq": a != b,
        "nge": ~(a >= b),
        "ngt": ~(a > b),
        "nle": ~(a <= b),
        "nlg": ~(a < b) & ~(a > b),
    }
    mask = "vcc" if chip == "gfx942" else "vcc_lo"
    for name, want in table.items():
        text = f"v_cmp_{name}_f32_e32 {mask}, v10, v14\n\tv_cndmask_b32_e64 v40, 0, 1, {mask}"
        np.testing.assert_array_equal(vector(text, a, b, chip=chip), want, name)


def test_class_tells_kinds_of_floats():
    values = np.array([0x7F800001, 0x7FC00000, 0xFF800000, 0xBF800000, 0x80000001, 0x80000000], np.uint32)
    values = np.concatenate([values, np.array([0, 1, 0x3F800000, 0x7F800000], np.uint32)])
    a, n = np.repeat(values, 10), np.tile(np.arange(10), 10)
    text = "v_cmp_class_f32_e64 vcc, v10, v14\n\tv_cndmask_b32_e64 v40, 0, 1, vcc"
    got = vector(text, a.view(F32), (1 << n).astype(np.uint32))
    np.testing.assert_array_equal(got, np.repeat(np.arange(10), 10) == n)


DIVISION = """v_div_scale_f32 v50, s[30:31], v14, v14, v10
\tv_rcp_f32_e32 v51, v50
\tv_div_scale_f32 v52, vcc, v10, v14, v10
\tv_fma_f32 v53, -v50, v51, 1.0
\tv_fmac_f32_e32 v51, v53, v51
\tv_mul_f32_e32 v53, v52, v51
\tv_fma_f32 v54, -v50, v53, v52
\tv_fmac_f32_e32 v53, v54, v51
\tv_fma_f32 v50, -v50, v53, v52
\tv_div_fmas_f32 v50, v50, v51, v53
\tv_div_fixup_f32 v40, v50, v14, v10"""


def test_division_sequence_is_rounded_correctly(seed):
    a, b = pairs(SPECIAL_FLOATS)
    with np.errstate(**QUIET):
        same(vector(DIVISION, a, b), a / b)
        a, b = np.random.default_rng(seed).integers(0, 1 << 32, (2, 1024), np.uint32).view(F32)
        same(vector(DIVISION, a, b), a / b)


DOUBLE_DIVISION = """v_div_scale_f64 v[50:51], s[30:31], v[14:15], v[14:15], v[10:11]
\tv_rcp_f64_e32 v[52:53], v[50:51]
\tv_div_scale_f64 v[54:55], vcc, v[10:11], v[14:15], v[10:11]
\tv_fma_f64 v[56:57], -v[50:51], v[52:53], 1.0
\tv_fma_f64 v[52:53], v[52:53], v[56:57], v[52:53]
\tv_fma_f64 v[56:57], -v[50:51], v[52:53], 1.0
\tv_fma_f64 v[52:53], v[52:53], v[56:57], v[52:53]
\tv_mul_f64 v[56:57], v[54:55], v[52:53]
\tv_fma_f64 v[50:51], -v[50:51], v[56:57], v[54:55]
\tv_div_fmas_f64 v[50:51], v[50:51], v[52:53], v[56:57]
\tv_div_fixup_f64 v[40:41], v[50:51], v[14:15], v[10:11]"""


def test_double_division_sequence_is_rounded_correctly(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 1 << 64, (2, 512), np.uint64).view(F64)
    with np.errstate(**QUIET):
        same(vector(DOUBLE_DIVISION, a, b, words=2), (a / b)[:, None])


@pytest.mark.parametrize(("numerator", "denominator"), [(120, 20), (-126, 120), (-149, -126), (0, 127), (-130, 10)])
def test_division_is_rounded_correctly_where_operands_are_scaled(numerator, denominator, seed):
    """Every case of V_DIV_SCALE: exponents far apart, subnormal operands, inverses and quotients."""
    mantissas = np.random.default_rng(seed).uniform(1, 2, (2, 256))
    with np.errstate(**QUIET):
        a = np.ldexp(mantissas[0], numerator).astype(F32)
        b = np.ldexp(mantissas[1], denominator).astype(F32)
        same(vector(DIVISION, a, b), a / b)


def test_doubles():
    a, b = pairs(SPECIAL_FLOATS.astype(F64))
    with np.errstate(**QUIET):
        same(vector("v_add_f64 v[40:41], v[10:11], v[14:15]", a, b, words=2), (a + b)[:, None])
        same(vector("v_mul_f64 v[40:41], v[10:11], -v[14:15]", a, b, words=2), (a * -b)[:, None])
        got = vector("v_fma_f64 v[40:41], v[10:11], 1.0, v[14:15]", a, b, words=2)
        same(got, (a + b)[:, None])


def test_halves():
    values = np.array([0, -0.0, 1, -1.5, 65504, 6e-8, 1e-5, np.inf, -np.inf, np.nan, 0.1, 1000], F16)
    a, b = pairs(values)
    words = [x.view(np.uint16).astype(np.uint32) for x in (a, b)]
    with np.errstate(**QUIET):
        for chip, kept in (("gfx942", 0), ("gfx1100", 0x12340000)):
            if chip == "gfx942":
                got = vector("v_add_f16_e32 v40, v10, v14", *words, chip=chip)
            else:
                got = vector("v_add_f16_e32 v40.l, v10.l, v14.l", *words, chip=chip)
            np.testing.assert_array_equal(got & 0xFFFF0000, kept)
            same((got & 0xFFFF).astype(np.uint16), a + b)
        got = vector("v_fma_f16 v40, v10, v14, v10", *words)
        same((got & 0xFFFF).astype(np.uint16), fused(a, b, a))


def test_accumulation_into_the_high_half(seed):
    a, b = np.random.default_rng(seed).standard_normal((2, 128, 2)).astype(F16)
    words = [x.view(np.uint32)[:, 0].copy() for x in (a, b)]
    got = vector("v_mov_b32_e32 v40, v10\n\tv_fmac_f16_e32 v40.h, v14.l, v14.h", *words, chip="gfx1100").view(F16)
    np.testing.assert_array_equal(got.reshape(-1, 2), np.stack([a[:, 0], fused(b[:, 0], b[:, 1], a[:, 1])], 1))


def test_packed_halves_select_and_negate(seed):
    a, b = np.random.default_rng(seed).standard_normal((2, 256, 2)).astype(F16)
    words = [x.view(np.uint32)[:, 0].copy() for x in (a, b)]
    got = vector("v_pk_add_f16 v40, v10, v14", *words).view(F16).reshape(-1, 2)
    np.testing.assert_array_equal(got, a + b)
    got = (
        vector("v_pk_mul_f16 v40, v10, v14 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1]", *words).view(F16).reshape(-1, 2)
    )
    np.testing.assert_array_equal(got, np.stack([a[:, 1] * -b[:, 0], a[:, 0] * b[:, 1]], 1))
    got = vector("v_pk_fma_f16 v40, v10, v14, 1.0 op_sel_hi:[1,1,0]", *words).view(F16).reshape(-1, 2)
    np.testing.assert_array_equal(got, fused(a, b, np.ones_like(a)))


def test_packed_floats_of_32_bits(seed):
    a, b = np.random.default_rng(seed).standard_normal((2, 64, 2)).astype(F32)
    raw = [x.view(np.uint64)[:, 0].copy() for x in (a, b)]
    got = vector("v_pk_add_f32 v[40:41], v[10:11], v[14:15]", *raw, words=2).view(F32)
    np.testing.assert_array_equal(got, a + b)
    text = "v_pk_fma_f32 v[40:41], v[10:11], v[14:15], v[14:15] op_sel:[1,0,0] op_sel_hi:[1,0,1] neg_lo:[0,1,0]"
    got = vector(text, *raw, words=2).view(F32)
    want = np.stack([fused(a[:, 1], -b[:, 0], b[:, 0]), fused(a[:, 1], b[:, 0], b[:, 1])], 1)
    np.testing.assert_array_equal(got, want)


def test_mixed_precision_fma(seed):
    rng = np.random.default_rng(seed)
    a, c = rng.standard_normal((2, 128)).astype(F32)
    h = rng.standard_normal((128, 2)).astype(F16)
    words = h.view(np.uint32)[:, 0].copy()
    text = "v_fma_mix_f32 v40, v10, v14, v18 op_sel:[0,1,0] op_sel_hi:[0,1,0]"
    got = vector(text, a, words, c).view(F32)
    np.testing.assert_array_equal(got, fused(a, h[:, 1].astype(F32), c))
    got = vector("v_fma_mixhi_f16 v40, v10, v14, -v18 op_sel_hi:[0,1,0]", a, words, c)
    want = fused(a, h[:, 0].astype(F32), -c).astype(F16)
    np.testing.assert_array_equal(got, 0x5678 | want.view(np.uint16).astype(np.uint32) << 16)


CONVERSIONS = {
    "v_cvt_i32_f32_e32": lambda a: np.clip(np.trunc(np.nan_to_num(a.astype(F64))), -(2**31), 2**31 - 1).astype(
        np.int32
    ),
    "v_cvt_u32_f32_e32": lambda a: np.clip(np.trunc(np.nan_to_num(a.astype(F64))), 0, 2**32 - 1).astype(np.uint32),
    "v_cvt_f32_i32_e32": lambda a: a.view(np.int32).astype(F32),
    "v_cvt_f32_u32_e32": lambda a: a.view(np.uint32).astype(F32),
    "v_cvt_f32_ubyte2_e32": lambda a: (a.view(np.uint32) >> 16 & 255).astype(F32),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversion(name):
    with np.errstate(**QUIET):
        want = CONVERSIONS[name](SPECIAL_FLOATS)
    np.testing.assert_array_equal(vector(f"{name} v40, v10", SPECIAL_FLOATS).view(want.dtype), want)


def test_conversion_to_halves_and_back():
    x = np.concatenate([SPECIAL_FLOATS, np.float32([65519, 65520, 2**-25, 2**-24 * 1.5])])
    with np.errstate(**QUIET):
        same((vector("v_cvt_f16_f32_e32 v40, v10", x) & 0xFFFF).astype(np.uint16), x.astype(F16))
        h = x.astype(F16)
        same(vector("v_cvt_f32_f16_e32 v40, v10", h.view(np.uint16).astype(np.uint32)), h.astype(F32))
        got = vector("v_cvt_pkrtz_f16_f32 v40, v10, v10", x)
    low = (got & 0xFFFF).astype(np.uint16).view(F16)
    finite = np.isfinite(x) & np.isfinite(low)
    assert (np.abs(low[finite]) <= np.abs(x[finite])).all() and (got >> 16 == got & 0xFFFF).all()
    assert low[x == F32(3.4028235e38)] == 65504


def test_eight_bit_floats_of_gfx942():
    codes = np.arange(256, dtype=np.uint32)
    for name, mantissa, bias in (("fp8", 3, 8), ("bf8", 2, 16)):
        exponent, fraction = codes >> mantissa & ((1 << 7 - mantissa) - 1), codes & ((1 << mantissa) - 1)
        scale = np.where(exponent == 0, 1, exponent).astype(int) - bias - mantissa
        value = np.ldexp(np.where(exponent == 0, 0, 1 << mantissa) + fraction.astype(F64), scale)
        value = np.where(codes > 127, -value, value)
        value[0x80] = np.nan
        got = vector(f"v_cvt_f32_{name}_e32 v40, v10", codes).view(F32)
        np.testing.assert_array_equal(got, value.astype(F32))
        back = vector(f"v_cvt_pk_{name}_f32 v40, v10, v10", value.astype(F32)) & 0xFFFF
        np.testing.assert_array_equal(back, codes * 0x101)
        middle = ((value[1:127] + value[2:128]) / 2).astype(F32)
        rounded = vector(f"v_cvt_pk_{name}_f32 v40, v10, v10", middle) & 255
        np.testing.assert_array_equal(rounded, (np.arange(1, 127) + 1) // 2 * 2)
