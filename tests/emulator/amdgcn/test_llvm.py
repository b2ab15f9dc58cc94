"""Assembly that LLVM makes of small functions, for both GPUs: sequences of instructions that nobody here has written."""

from __future__ import annotations

import math

import llvmlite.binding as llvm
import numpy as np
import pytest

from tests.emulator.amdgcn.kernels import CHIPS, SPECIAL_FLOATS, SPECIAL_INTEGERS, pairs
from tritium.emulator.amdgcn import launch

KERNEL = """
target triple = "amdgcn-amd-amdhsa"
{head}
define amdgpu_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %out) #0 {{
entry:
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = mul i32 %group, 64
  %i = add i32 %id, %first
  %px = getelementptr {ty}, ptr addrspace(1) %x, i32 %i
  %py = getelementptr {ty}, ptr addrspace(1) %y, i32 %i
  %po = getelementptr {result}, ptr addrspace(1) %out, i32 %i
  %a = load {ty}, ptr addrspace(1) %px
  %b = load {ty}, ptr addrspace(1) %py
{body}
  store {result} %r, ptr addrspace(1) %po
  ret void
}}
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
attributes #0 = {{ "amdgpu-flat-work-group-size"="64,64" "denormal-fp-math-f32"="{denormals}" }}
!llvm.module.flags = !{{!0}}
!0 = !{{i32 1, !"amdhsa_code_object_version", i32 500}}
"""


@pytest.fixture(scope="module", autouse=True)
def targets():
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def compiled(chip: str, body: str, ty: str, result: str = "", head: str = "", denormals: str = "ieee") -> str:
    text = KERNEL.format(body=body, ty=ty, result=result or ty, head=head, denormals=denormals)
    machine = llvm.Target.from_triple("amdgcn-amd-amdhsa").create_target_machine(cpu=chip, opt=3)
    module = llvm.parse_assembly(text)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    llvm.create_pass_builder(machine, options).getModulePassManager().run(
        module, llvm.create_pass_builder(machine, options)
    )
    return machine.emit_assembly(module)


def check(chip: str, body: str, ty: str, a: np.ndarray, b: np.ndarray, want: np.ndarray, **options) -> None:
    count = -(-len(a) // 64) * 64
    x, y = (np.concatenate([v, np.full(count - len(v), v[-1])]).astype(v.dtype) for v in (a, b))
    out = np.full(count, 0x77, want.dtype)
    launch(compiled(chip, body, ty, **options), count // 64, [x, y, out])
    np.testing.assert_array_equal(out[: len(a)], want)


def wrapped(function, a, b, bits: int = 32) -> np.ndarray:
    dtype = {32: np.uint32, 64: np.uint64}[bits]
    return np.array([function(int(p), int(q)) % (1 << bits) for p, q in zip(a, b)], dtype)


def signed(x: int, bits: int = 32) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


def truncated(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


INTEGERS = {
    "sdiv": ("sdiv {ty} %a, %c", lambda x, y, n: truncated(signed(x, n), signed(y | 1, n))),
    "urem": ("urem {ty} %a, %c", lambda x, y, n: x % (y | 1)),
    "ctpop": ("call {ty} @llvm.ctpop.{ty}({ty} %a)", lambda x, y, n: bin(x).count("1")),
    "ctlz": ("call {ty} @llvm.ctlz.{ty}({ty} %c, i1 false)", lambda x, y, n: n - (y | 1).bit_length()),
    "bitreverse": ("call {ty} @llvm.bitreverse.{ty}({ty} %a)", lambda x, y, n: int(f"{x:0{n}b}"[::-1], 2)),
    "bswap": (
        "call {ty} @llvm.bswap.{ty}({ty} %a)",
        lambda x, y, n: int.from_bytes(x.to_bytes(n // 8, "little"), "big"),
    ),
    "fshl": (
        "call {ty} @llvm.fshl.{ty}({ty} %a, {ty} %b, {ty} 7)",
        lambda x, y, n: (x << 7 | y >> (n - 7)) & ((1 << n) - 1),
    ),
    "usat": ("call {ty} @llvm.usub.sat.{ty}({ty} %a, {ty} %b)", lambda x, y, n: max(x - y, 0)),
    "smax": ("call {ty} @llvm.smax.{ty}({ty} %a, {ty} %b)", lambda x, y, n: max(signed(x, n), signed(y, n))),
    "mul": ("mul {ty} %a, %b", lambda x, y, n: x * y),
}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name, bits, chip, seed):
    a, b = (
        pairs(SPECIAL_INTEGERS[::2])
        if bits == 32
        else np.random.default_rng(seed).integers(0, 1 << 64, (2, 100), np.uint64)
    )
    text, function = INTEGERS[name]
    ty = f"i{bits}"
    arguments = {"ctlz": f"{ty}, i1", "fshl": f"{ty}, {ty}, {ty}", "usat": f"{ty}, {ty}", "smax": f"{ty}, {ty}"}
    head = ""
    if "@llvm" in text:
        called = text.format(ty=ty).split("@")[1].split("(")[0]
        head = f"declare {ty} @{called}({arguments.get(name, ty)})"
    body = f"  %c = or {ty} %b, 1\n  %r = {text.format(ty=ty)}"
    check(chip, body, ty, a, b, wrapped(lambda x, y: function(x, y, bits), a, b, bits), head=head)


@pytest.mark.parametrize("chip", CHIPS)
def test_division_of_floats_is_exact(chip, seed):
    a, b = pairs(SPECIAL_FLOATS[:13])
    with np.errstate(all="ignore"):
        check(chip, "  %r = fdiv float %a, %b", "float", a, b, a / b)
        a, b = np.random.default_rng(seed).integers(0, 1 << 32, (2, 256), np.uint32).view(np.float32)
        a, b = a[np.isfinite(a) & np.isfinite(b)], b[np.isfinite(a) & np.isfinite(b)]
        check(chip, "  %r = fdiv float %a, %b", "float", a, b, a / b)


@pytest.mark.parametrize("chip", CHIPS)
def test_division_that_flushes_denormals_switches_the_mode(chip, seed):
    a, b = np.random.default_rng(seed).standard_normal((2, 128)).astype(np.float32)
    check(chip, "  %r = fdiv float %a, %b", "float", a, b, a / b, denormals="preserve-sign,preserve-sign")


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", ["fdiv", "sqrt", "floor", "fma"])
def test_doubles(name, chip, seed):
    a, b = np.abs(np.random.default_rng(seed).standard_normal((2, 64))) * 1e3
    head = {"fdiv": "", "fma": "declare double @llvm.fma.f64(double, double, double)"}
    body = {"fdiv": "fdiv double %a, %b", "fma": "call double @llvm.fma.f64(double %a, double %b, double 1.0)"}
    with np.errstate(all="ignore"):
        want = {"fdiv": a / b, "sqrt": np.sqrt(a), "floor": np.floor(a)}.get(name)
    if name == "fma":
        want = np.array([math.fsum([float(p) * float(q), 1.0]) for p, q in zip(a, b)])
        check_close = True
    else:
        check_close = False
    text = f"  %r = {body.get(name, f'call double @llvm.{name}.f64(double %a)')}"
    declared = head.get(name, f"declare double @llvm.{name}.f64(double)")
    if check_close:
        out = np.zeros(64)
        launch(compiled(chip, text, "double", head=declared), 1, [a, b, out])
        np.testing.assert_allclose(out, want, rtol=1e-15)
    else:
        check(chip, text, "double", a, b, want, head=declared)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", ["exp2", "log2", "sqrt", "sin"])
def test_functions_scale_denormals(name, chip):
    a = np.geomspace(1e-44, 100, 256, dtype=np.float32)
    out = np.zeros(256, np.float32)
    if name == "exp2":
        a = np.linspace(-148, 127, 256, dtype=np.float32)
    text = compiled(
        chip, f"  %r = call float @llvm.{name}.f32(float %a)", "float", head=f"declare float @llvm.{name}.f32(float)"
    )
    launch(text, 4, [a, a, out])
    want = getattr(np, name)(a.astype(np.float64))
    np.testing.assert_allclose(out, want, rtol=1e-5 if name == "sin" else 1e-6, atol=3e-45 if name != "sin" else 1e-5)


@pytest.mark.parametrize("chip", CHIPS)
def test_conversions(chip, seed):
    a = np.random.default_rng(seed).integers(-(1 << 62), 1 << 62, 64)
    check(
        chip,
        "  %f = sitofp i64 %a to float\n  %r = bitcast float %f to i32",
        "i64",
        a,
        a,
        a.astype(np.float32).view(np.int32),
        result="i32",
    )
    check(chip, "  %r = sitofp i64 %a to double", "i64", a, a, a.astype(np.float64), result="double")
    d = a.astype(np.float64) / 3
    check(chip, "  %r = fptosi double %a to i64", "double", d, d, d.astype(np.int64), result="i64")
    f = np.random.default_rng(seed).standard_normal(64).astype(np.float32) * 100
    check(chip, "  %r = fptrunc float %a to half", "float", f, f, f.astype(np.float16), result="half")
    check(chip, "  %r = fptosi float %a to i16", "float", f, f, f.astype(np.int16), result="i16")


LOOP = """
  br label %loop
loop:
  %n = phi i32 [ %a, %entry ], [ %next, %loop ]
  %steps = phi i32 [ 0, %entry ], [ %more, %loop ]
  %odd = and i32 %n, 1
  %is_odd = icmp eq i32 %odd, 1
  %triple = mul i32 %n, 3
  %up = add i32 %triple, 1
  %half = lshr i32 %n, 1
  %next = select i1 %is_odd, i32 %up, i32 %half
  %more = add i32 %steps, 1
  %done = icmp ule i32 %next, 1
  br i1 %done, label %exit, label %loop
exit:
  %r = add i32 %more, 0
"""


@pytest.mark.parametrize("chip", CHIPS)
def test_loop_whose_lanes_leave_one_by_one(chip):
    def steps(n: int) -> int:
        count = 0
        while count == 0 or n > 1:
            n, count = (3 * n + 1 if n & 1 else n >> 1), count + 1
        return count

    a = np.arange(2, 130, dtype=np.uint32)
    check(chip, LOOP, "i32", a, a, np.array([steps(int(n)) for n in a], np.uint32))


SWITCH = """
  switch i32 %a, label %other [ i32 0, label %zero i32 1, label %one i32 5, label %five ]
zero:
  br label %exit
one:
  %d = add i32 %b, 10
  br label %exit
five:
  %e = mul i32 %b, 3
  br label %exit
other:
  %f = xor i32 %b, -1
  br label %exit
exit:
  %r = phi i32 [ 7, %zero ], [ %d, %one ], [ %e, %five ], [ %f, %other ]
"""


@pytest.mark.parametrize("chip", CHIPS)
def test_switch_over_lanes(chip):
    a, b = np.arange(64, dtype=np.uint32) % 7, np.arange(64, dtype=np.uint32)
    want = np.where(a == 0, 7, np.where(a == 1, b + 10, np.where(a == 5, b * 3, ~b)))
    check(chip, SWITCH, "i32", a, b, want.astype(np.uint32))


@pytest.mark.parametrize("chip", CHIPS)
def test_private_arrays_and_constant_tables(chip):
    values = ", ".join(f"i32 {n * n + 3}" for n in range(64))
    head = f"@table = private addrspace(4) constant [64 x i32] [{values}]"
    body = """
  %local = alloca [16 x i32], align 4, addrspace(5)
  %ia = and i32 %a, 15
  %ib = and i32 %b, 15
  %p = getelementptr [16 x i32], ptr addrspace(5) %local, i32 0, i32 %ia
  %q = getelementptr [16 x i32], ptr addrspace(5) %local, i32 0, i32 %ib
  store volatile i32 %b, ptr addrspace(5) %q
  store volatile i32 1000, ptr addrspace(5) %p
  %back = load volatile i32, ptr addrspace(5) %p
  %t = getelementptr [64 x i32], ptr addrspace(4) @table, i32 0, i32 %b
  %value = load i32, ptr addrspace(4) %t
  %r = add i32 %value, %back
"""
    a, b = np.arange(64, dtype=np.uint32) * 5, np.arange(64, dtype=np.uint32)
    check(chip, body, "i32", a, b, b * b + 3 + 1000, head=head)
