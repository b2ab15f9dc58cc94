import ctypes
import re

import numpy as np
import pytest

from tritium.backends.cpu import compile_llvm, host_target, load_object, named_target
from tritium.backends.cpu.target import describe
from tritium.conversion.llvm.dot import plan_dot

TYPES = {"f32": np.float32, "f64": np.float64, "bf16": np.uint16, "i8": np.int8, "i16": np.int16, "i32": np.int32}


def _module(plan):
    return (
        "\n".join(sorted(plan.declares))
        + "\n"
        + plan.function_text
        + "define void @run(ptr %acc, ptr %a, ptr %b) {\n  "
        f"{plan.call('%acc', '%a', '%b')}\n  ret void\n}}\n"
    )


def _aligned(count, dtype):
    """`count` elements at a 64-byte boundary, between guard bytes that must not change."""
    raw = np.full(count * np.dtype(dtype).itemsize + 192, 0xA5, np.uint8)
    start = -raw.ctypes.data % 64 + 64
    return raw, raw[start : start + count * np.dtype(dtype).itemsize].view(dtype)


def _bf16_bits(x):
    return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def _run(plan, a, b, acc, target):
    """The native result for a[m][k], b[k][n] in compute types; the buffers are laid out as the plan asks."""
    dtype = TYPES[plan.compute_type]
    raw_a, buffer_a = _aligned(plan.a_elements, dtype)
    raw_b, buffer_b = _aligned(plan.b_elements, dtype)
    raw_c, buffer_c = _aligned(plan.acc_elements, TYPES[plan.acc_type])
    buffer_a[:], buffer_b[:] = 0, 0
    for m in range(plan.m):
        buffer_a[plan.a_offset(m, 0) : plan.a_offset(m, 0) + plan.k] = a[m]
    where = [[plan.b_offset(k, n) for n in range(plan.n)] for k in range(plan.k)]
    assert len({x for row in where for x in row}) == plan.k * plan.n  # no two elements in one place
    buffer_b[np.array(where)] = b
    view = buffer_c.reshape(plan.m, plan.acc_row_stride)
    view[:, : plan.n] = acc
    beyond = view[:, plan.n :].copy()
    loaded = load_object(compile_llvm(_module(plan), target).object)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(loaded.address("run"))
    run(buffer_c.ctypes.data, buffer_a.ctypes.data, buffer_b.ctypes.data)
    for raw in (raw_a, raw_b, raw_c):
        assert (raw[:64] == 0xA5).all() and (raw[-64:] == 0xA5).all()
    assert np.array_equal(view[:, plan.n :], beyond)
    return view[:, : plan.n].copy()


def _check(target, m, n, k, kind, rng, **options):
    a_type, b_type, acc_type = {
        "f32": ("f32", "f32", "f32"),
        "f64": ("f64", "f64", "f64"),
        "bf16": ("bf16", "bf16", "f32"),
        "i8": ("i8", "u8", "i32"),
        "i32": ("i32", "i32", "i32"),
    }[kind]
    plan = plan_dot(target, m, n, k, a_type, b_type, acc_type, **options)
    if acc_type == "i32":
        ranges = [(-(2**31), 2**31)] * 2 if kind == "i32" else [(-128, 128), (0, 256)]
        a, b = (rng.integers(*r, size) for r, size in zip(ranges, ((m, k), (k, n)), strict=True))
        acc = rng.integers(-(2**31), 2**31, (m, n))
        expected = (acc + a @ b).astype(np.uint64).astype(np.uint32).view(np.int32)
        dtype = TYPES[plan.compute_type]
        got = _run(
            plan, a.astype(dtype), b.astype(dtype), acc.astype(np.int32), target
        )  # unsigned bytes keep their bits
        assert np.array_equal(got, expected)
        return plan
    a, b, acc = (rng.standard_normal(s).astype(TYPES[acc_type]) for s in ((m, k), (k, n), (m, n)))
    exact_a, exact_b = a, b
    if plan.compute_type == "bf16":
        a, b = _bf16_bits(a), _bf16_bits(b)
        exact_a, exact_b = ((x.astype(np.uint32) << 16).view(np.float32) for x in (a, b))
    wide = np.longdouble if acc_type == "f64" else np.float64
    expected = acc + exact_a.astype(wide) @ exact_b.astype(wide)
    bound = np.abs(acc) + np.abs(exact_a).astype(wide) @ np.abs(exact_b).astype(wide)
    error = np.abs(_run(plan, a, b, acc, target) - expected)
    # recursive summation: |error| <= k * u * sum of magnitudes (Higham, section 3.1), and one rounding of the result
    assert (error <= (k + 2) * np.finfo(TYPES[acc_type]).eps * bound).all()
    return plan


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", ["f32", "f64", "i8", "i32"])
@pytest.mark.parametrize("m", [1, 2, 16, 128])
def test_powers_of_two(kind, m, rng):
    for n in (1, 2, 4, 8, 16, 64):
        for k in (1, 2, 16, 64):
            _check(host_target(), m, n, k, kind, rng)


@pytest.mark.parametrize("kind", ["f32", "f64", "i8", "i32"])
def test_odd_sizes(kind, rng):
    for m, n, k in ((3, 5, 7), (13, 33, 5), (25, 47, 19), (7, 100, 3), (11, 20, 65), (29, 1, 9)):
        _check(host_target(), m, n, k, kind, rng)


@pytest.mark.parametrize("kind", ["f32", "f64", "i8"])
@pytest.mark.parametrize("shape", [(64, 128, 64), (128, 256, 32), (32, 32, 32), (128, 16, 128), (16, 256, 16)])
def test_tiles_of_real_kernels(kind, shape, rng):
    _check(host_target(), *shape, kind, rng)


@pytest.mark.sample(3)
@pytest.mark.skipif(host_target().arch != "x86_64", reason="runs x86-64 code")
@pytest.mark.parametrize("kind", ["f32", "f64", "i8", "i32"])
@pytest.mark.parametrize("name", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_every_vector_width(name, kind, rng):
    target = named_target(name)
    if target.vector_bits > host_target().vector_bits:
        pytest.skip("this machine has no such vectors")
    for m, n, k in ((16, 16, 16), (13, 20, 9), (1, 64, 32), (32, 4, 8)):
        _check(target, m, n, k, kind, rng)


@pytest.mark.skipif(not host_target().has_bf16, reason="no bf16 dot product here")
def test_bf16_pairs(rng):
    for m, n, k in ((16, 16, 16), (13, 33, 9), (128, 64, 64), (1, 4, 3), (5, 7, 1)):
        plan = _check(host_target(), m, n, k, "bf16", rng, allow_bf16_pairs=True)
        assert plan.compute_type == "bf16" and plan.kpack == 2


@pytest.mark.skipif(not host_target().has_amx, reason="no AMX here")
@pytest.mark.parametrize("shape", [(16, 16, 1), (16, 16, 64), (48, 80, 70), (32, 32, 40), (128, 128, 128), (64, 16, 7)])
def test_amx(shape, rng):
    assert _check(host_target(), *shape, "i8", rng).step.is_amx
    assert _check(host_target(), *shape, "bf16", rng, allow_bf16_pairs=True).step.is_amx
    for types in (("i8", "i8"), ("u8", "i8"), ("u8", "u8")):
        plan = plan_dot(host_target(), *shape, *types, "i32")
        m, n, k = shape
        a, b = (rng.integers(0, 256, s).astype(np.uint8).view(np.int8) for s in ((m, k), (k, n)))
        signed = [x if t == "i8" else x.view(np.uint8) for x, t in zip((a, b), types, strict=True)]
        got = _run(plan, a, b, np.zeros((m, n), np.int32), host_target())
        assert np.array_equal(got, signed[0].astype(np.int32) @ signed[1].astype(np.int32))


@pytest.mark.parametrize(
    ("types", "instruction"),
    [("i8 i8 i32", "tdpbssd"), ("u8 i8 i32", "tdpbusd"), ("i8 u8 i32", "tdpbsud"), ("bf16 bf16 f32", "tdpbf16ps")],
)
def test_amx_code(types, instruction):
    target = named_target("sapphirerapids")
    plan = plan_dot(target, 64, 48, 100, *types.split(), allow_bf16_pairs=True)
    assert (plan.mr, plan.nr, plan.kpack) == (32, 32, 2 if "bf16" in types else 4)
    assert plan.k_padded == 128
    asm = compile_llvm(_module(plan), target).asm
    # 2 x 2 tiles for the first 32 columns, 2 x 1 for the rest
    assert len(re.findall(rf"\t{instruction}\t", asm)) == 6 and "ldtilecfg" in asm and "tilerelease" in asm
    assert not plan_dot(target, 8, 16, 64, *types.split(), allow_bf16_pairs=True).step.is_amx


def test_without_permission_bf16_is_multiplied_as_f32(rng):
    assert plan_dot(host_target(), 16, 16, 16, "bf16", "bf16", "f32").compute_type == "f32"
    assert plan_dot(named_target("sapphirerapids"), 16, 16, 16, "bf16", "bf16", "f32").compute_type == "f32"


def test_any_register_tile(rng):
    for tile in ((1, 16), (8, 32), (6, 64), (14, 32), (4, 48), (30, 16), (64, 4)):
        _check(host_target(), 37, 100, 21, "f32", rng, tile=tile)


def test_strides(rng):
    plan = _check(host_target(), 13, 20, 9, "f32", rng, a_row_stride=31, acc_row_stride=29)
    assert (plan.a_row_stride, plan.acc_row_stride) == (31, 29)


@pytest.mark.parametrize("kind", ["f32", "f64", "i8"])
@pytest.mark.parametrize("shape", [(1, 1, 2), (16, 16, 16), (13, 20, 10), (128, 64, 32)])
def test_a_in_place(kind, shape, rng):
    m, n, k = shape
    acc_type = "i32" if kind == "i8" else kind
    plan = plan_dot(host_target(), m, n, k, kind, kind, acc_type, a_in_place=True)
    assert plan.a_elements == 0
    dtype = TYPES[plan.compute_type]
    matrix = rng.integers(-100, 100, (m + 2, k + 7)).astype(dtype)
    b = rng.integers(-100, 100, (k, n)).astype(dtype)
    packed = np.zeros(plan.b_elements, dtype)
    packed[[[plan.b_offset(i, j) for j in range(n)] for i in range(k)]] = b
    acc = np.ones((m, n), TYPES[acc_type])
    text = "\n".join(sorted(plan.declares)) + "\n" + plan.function_text
    call = plan.call("%acc", "%a", "%b", "%stride")
    text += f"define void @run(ptr %acc, ptr %a, ptr %b, i64 %stride) {{\n  {call}\n  ret void\n}}\n"
    loaded = load_object(compile_llvm(text, host_target()).object)
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(loaded.address("run"))
    run(acc.ctypes.data, matrix[1:, 3:].ctypes.data, packed.ctypes.data, matrix.strides[0])
    assert np.array_equal(acc, 1 + matrix[1 : m + 1, 3 : k + 3].astype(np.int64) @ b.astype(np.int64))


def test_integer_sums_wrap():
    plan = plan_dot(host_target(), 1, 1, 4, "i16", "i16", "i32")
    a = np.full((1, 4), -32768, np.int16)
    got = _run(plan, a, a.T.copy(), np.array([[7]], np.int32), host_target())
    assert got[0, 0] == np.array(4 * 32768**2 + 7).astype(np.uint32).view(np.int32)


def test_special_values(rng):
    """Infinities and NaNs spread as IEEE says, and nothing is flushed to zero."""
    plan = plan_dot(host_target(), 16, 16, 16, "f32", "f32", "f32")
    a, b = np.zeros((16, 16), np.float32), np.eye(16, dtype=np.float32)
    np.fill_diagonal(a, [np.inf, -np.inf, np.nan, 1e-42, 1e38, -0.0, *range(10)])
    got = _run(plan, a, b, np.zeros((16, 16), np.float32), host_target())
    with np.errstate(invalid="ignore"):
        assert np.array_equal(got, a @ b, equal_nan=True)
    assert got[3, 3] == np.float32(1e-42)


EXPECTED = {
    ("x86-64-v3", "f32"): (r"vfmadd\d+ps", 16, "ymm"),
    ("x86-64-v4", "f32"): (r"vfmadd\d+ps", 32, "zmm"),
    ("x86-64-v4", "f64"): (r"vfmadd\d+pd", 32, "zmm"),
    ("x86-64-v3", "i8"): ("vpmaddwd", 16, "ymm"),
    ("x86-64-v4", "i8"): ("vpmaddwd", 32, "zmm"),
    ("cascadelake", "i8"): ("vpdpwssd", 32, "zmm"),
    ("x86-64", "i8"): ("pmaddwd", 16, "xmm"),
    ("aarch64", "f32"): (r"fmla\s+v\d+\.4s", 32, r"v\d+"),
    ("aarch64", "f64"): (r"fmla\s+v\d+\.2d", 32, r"v\d+"),
    ("aarch64", "i8"): (r"smlal2?\s+v\d+\.4s", 32, r"v\d+"),
}


@pytest.mark.parametrize(("name", "kind"), EXPECTED)
def test_instructions(name, kind):
    """The inner loop is made of the multiply-accumulate instruction, and no accumulator is spilled."""
    instruction, registers, register = EXPECTED[name, kind]
    acc = "i32" if kind == "i8" else kind
    plan = plan_dot(named_target(name), 64, 64, 64, kind, kind, acc)
    asm = compile_llvm(_module(plan), named_target(name)).asm
    assert len(re.findall(instruction, asm)) >= plan.mr * plan.nr // plan.lanes
    assert not re.search(
        r"-byte (Folded )?(Spill|Reload)", "\n".join(x for x in asm.split("\n") if re.search(register, x))
    )
    assert plan.mr * (plan.nr // plan.lanes) < registers


def test_no_library_calls():
    """A target without FMA must not call fmaf() for every element."""
    asm = compile_llvm(
        _module(plan_dot(named_target("x86-64"), 16, 16, 16, "f32", "f32", "f32")), named_target("x86-64")
    ).asm
    assert "fma" not in asm.replace("tt.dot.", "") and "mulps" in asm


def test_symbols_tell_plans_apart():
    target = host_target()
    plans = [
        plan_dot(target, 16, 16, 16, "f32", "f32", "f32"),
        plan_dot(target, 16, 16, 32, "f32", "f32", "f32"),
        plan_dot(target, 16, 16, 16, "f64", "f64", "f64"),
        plan_dot(target, 16, 16, 16, "f32", "f32", "f32", a_row_stride=20),
        plan_dot(target, 16, 16, 16, "f32", "f32", "f32", tile=(4, 16)),
    ]
    assert len({p.symbol for p in plans}) == len(plans)
    assert plan_dot(target, 16, 16, 16, "f16", "bf16", "f32") == plans[0]


def test_bad_requests():
    target = describe("x86_64-unknown-linux-gnu", "x86-64", "")
    for shape in ((0, 1, 1), (1, -1, 1), (1, 1, 0)):
        with pytest.raises(ValueError, match="nothing to multiply"):
            plan_dot(target, *shape, "f32", "f32", "f32")
    for types in (("f32", "i8", "f32"), ("f64", "f64", "f32"), ("i8", "i8", "f32"), ("i8", "i8", "i8")):
        with pytest.raises(ValueError, match="cannot multiply"):
            plan_dot(target, 1, 1, 1, *types)
    with pytest.raises(ValueError, match="padded"):
        plan_dot(target, 4, 4, 3, "i8", "i8", "i32", a_in_place=True)
    with pytest.raises(ValueError, match="in place"):
        plan_dot(target, 4, 4, 4, "f32", "f32", "f32").call("%c", "%a", "%b", "%s")
    with pytest.raises(ValueError, match="c64"):
        plan_dot(target, 1, 1, 1, "c64", "f32", "f32")
