"""What each option does on each target: it changes what is compiled, is an error, or is a hint that changes nothing."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.texts import missing
from tritium.backends.amd import HIPOptions
from tritium.backends.cpu import CPUOptions
from tritium.backends.errors import OutOfResources
from tritium.backends.nvidia.options import CUDAOptions
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.language.extra import libdevice
from tritium.support import OptionError
from tritium.support.dataclasses import fields
from tritium.support.option_classes import declared

TARGETS = {"cpu": GPUTarget("cpu", "", 1), "cuda": GPUTarget("cuda", 90, 32), "hip": GPUTarget("hip", "gfx942", 64)}
OPTIONS = {"cpu": CPUOptions, "cuda": CUDAOptions, "hip": HIPOptions}
ROOT = Path(__file__).resolve().parents[2]


@tritium.jit
def kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0)
    tl.device_assert(n + tl.program_id(0) > 0, "n")
    tl.store(y + at, tl.exp(v) * v + v, mask=at < n)


@tritium.jit
def dot_kernel(x, y, n, B: tl.constexpr):
    at = tl.arange(0, 32)
    acc = tl.zeros([32, 32], tl.float32)
    for k in range(0, n, 32):
        a = tl.load(x + at[:, None] * n + at[None, :] + k)
        b = tl.load(y + at[:, None] * n + at[None, :] + k)
        acc = tl.dot(a, b, acc)
    tl.store(y + at[:, None] * n + at[None, :], acc)


@tritium.jit
def tf32_kernel(x, y, n, B: tl.constexpr):
    at = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    a = tl.load(x + at)
    tl.store(y + at, tl.dot(a, a, input_precision="bf16x3"))


@tritium.jit
def fp8_kernel(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y + at, tl.load(x + at).to(tl.float8e5).to(tl.float32))


@tritium.jit
def fp8_dot_kernel(x, y, n, B: tl.constexpr):
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    a = tl.load(x + at).to(tl.float8e5)
    tl.store(y + at, tl.dot(a, a))


@tritium.jit
def library_kernel(x, y, n, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), libdevice.exp2(tl.load(x + tl.arange(0, B))))


@tritium.jit
def conversion_kernel(x, y, n, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), tl.load(x + tl.arange(0, B)).to(tl.int32).to(tl.float32))


@tritium.jit
def descriptor_kernel(x, y, n, B: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [16, 16])
    d.store([0, 0], d.load([0, 0]) + 1)


def compiled(fn: Any, target: str, options: dict[str, Any], until: str | None) -> Any:
    """The kernel on pointers of unknown alignment up to a stage."""
    source = ASTSource(fn, {"x": "*fp32", "y": "*fp32", "n": "i32", "B": "constexpr"}, {"B": 64})
    return compile(source, target=TARGETS[target], options=options, until=until)


def text(fn: Any, target: str, options: dict[str, Any], stage: str) -> Any:
    return compiled(fn, target, options, stage).asm[stage]


@cache
def without(fn: Any, target: str, stage: str, *flags: str) -> Any:
    """The text of a stage without an option, and with these flags."""
    return text(fn, target, dict.fromkeys(flags, True), stage)


LAST = {"cpu": "llir", "cuda": "ptx", "hip": "llir"}


class Changes:
    """With this value the text of a stage differs from that with the default."""

    def __init__(self, value: Any, fn: Any = kernel, stage: str = "", **others: Any) -> None:
        self.value, self.fn, self.stage, self.others = value, fn, stage, others

    def check(self, target: str, name: str) -> None:
        stage = self.stage or LAST[target]
        assert text(self.fn, target, {**self.others, name: self.value}, stage) != without(
            self.fn, target, stage, *self.others
        )


class Says:
    """With this value the kernel's metadata has this entry."""

    def __init__(self, value: Any, entry: str, expected: Any) -> None:
        self.value, self.entry, self.expected = value, entry, expected

    def check(self, target: str, name: str) -> None:
        assert compiled(kernel, target, {name: self.value}, LAST[target]).values[self.entry] == self.expected


class Refused:
    """This value is an error that matches the pattern."""

    def __init__(self, value: Any, pattern: str, fn: Any = kernel) -> None:
        self.value, self.pattern, self.fn = value, pattern, fn

    def check(self, target: str, name: str) -> None:
        with pytest.raises((OptionError, OutOfResources, tritium.CompilationError), match=self.pattern):
            compiled(self.fn, target, {name: self.value}, LAST[target])


class Ignored:
    """A hint: with this value the code is the same."""

    def __init__(self, value: Any, fn: Any = kernel, stage: str = "") -> None:
        self.value, self.fn, self.stage = value, fn, stage

    def check(self, target: str, name: str) -> None:
        stage = self.stage or LAST[target]
        assert text(self.fn, target, {name: self.value}, stage) == without(self.fn, target, stage)


class Shown:
    """Another test, of this file and name, shows the effect."""

    def __init__(self, test: str) -> None:
        self.file, _, self.name = test.partition("::")

    def check(self, target: str, name: str) -> None:
        source = (ROOT / "tests" / self.file).read_text()
        assert f"def {self.name}(" in source and name in source


NO_TF32 = "input_precision must be one of"
NO_FP8 = "fp8e5|float8e5"

EFFECTS: dict[str, dict[str, Any]] = {
    "cpu": {
        "num_threads": Shown("e2e/cpu/test_programs.py::test_the_cache_keeps_nobodys_number_of_threads"),
        "enable_fp_fusion": Changes(False),
        "sanitize": Changes(True),
        "guard_stores": Changes(True),
        "debug": Changes(True),
        "opt_level": Changes(0),
        "fast_math": Ignored(True),
        "line_info": Changes(True, stage="llir"),
        "ir_override": Shown("runtime/test_around_kernels.py::test_a_configuration_may_bring_its_own_text"),
        "vec_lib": Ignored("libmvec"),
        "default_dot_input_precision": Changes("tf32", dot_kernel, "ttir"),
        "allowed_dot_input_precisions": Refused(("ieee",), NO_TF32, tf32_kernel),
        "max_num_imprecise_acc_default": Ignored(32, fp8_dot_kernel),
        "supported_fp8_dtypes": Refused(("fp8e4nv",), NO_FP8, fp8_kernel),
        "deprecated_fp8_dot_operand_dtypes": Ignored(("fp8e5",), fp8_dot_kernel),
        "num_warps": Ignored(8, dot_kernel),
        "num_stages": Ignored(5, dot_kernel),
        "num_ctas": Ignored(2),
        "maxnreg": Ignored(64),
        "cluster_dims": Ignored((2, 1, 1)),
        "warp_size": Refused(32, "warp_size must be 1, got 32"),
        "ptx_version": Ignored(80),
        "launch_cooperative_grid": Refused(True, "launch_cooperative_grid=True is not supported for cpu"),
        "launch_pdl": Ignored(True),
        "clc": Ignored(True),
        "sched4reg": Ignored(True),
        "extern_libs": Refused({"mine": "mine.bc"}, "the bitcode library 'mine' cannot be linked for cpu"),
        "sanitize_overflow": Changes(False, debug=True),
        "check_conversions": Changes(True, conversion_kernel),
        "instrumentation_mode": Changes("iisan", descriptor_kernel),
        "fpsan_homomorphic_casts": Refused(True, "fpsan_homomorphic_casts=True is not supported for cpu"),
        "waves_per_eu": Ignored(2),
        "matrix_instr_nonkdim": Ignored(16, dot_kernel),
        "kpack": Ignored(2, dot_kernel),
        "schedule_hint": Ignored("attention", dot_kernel),
        "allow_flush_denorm": Ignored(True),
        "wgp_cu_mode": Ignored("cu"),
        "backend_name": Refused("cuda", "backend_name must be 'cpu'"),
    },
    "cuda": {
        "num_warps": Changes(8, stage="ttgir"),
        "num_ctas": Changes(2, stage="ttgir"),
        "num_stages": Changes(1, dot_kernel, "ttgir"),
        "warp_size": Refused(64, "warp_size must be 32, got 64"),
        "maxnreg": Changes(64),
        "ptx_version": Changes(80),
        "ptx_options": Changes("--opt-level=0", stage="cubin"),
        "ir_override": Shown("runtime/test_around_kernels.py::test_a_configuration_may_bring_its_own_text"),
        "enable_fp_fusion": Changes(False),
        "sched4reg": Changes(True, dot_kernel),
        "enable_reflect_ftz": Changes(False, library_kernel),
        "launch_cooperative_grid": Shown("backends/nvidia/test_driver.py::test_a_cooperative_grid_that_does_not_fit"),
        "launch_pdl": Shown("backends/nvidia/test_driver.py::test_clusters_multiply_the_grid"),
        "clc": Refused(True, r"clc=True requires NVIDIA SM100\+"),
        "supported_fp8_dtypes": Refused(("fp8e4nv",), NO_FP8, fp8_kernel),
        "deprecated_fp8_dot_operand_dtypes": Ignored(("fp8e5",), fp8_dot_kernel),
        "default_dot_input_precision": Changes("ieee", dot_kernel, "ttir"),
        "allowed_dot_input_precisions": Refused(("tf32",), NO_TF32, tf32_kernel),
        "max_num_imprecise_acc_default": Changes(32, fp8_dot_kernel, "ttgir"),
        "extern_libs": Shown("backends/nvidia/test_stages.py::test_a_library_of_ones_own_in_the_place_of_libdevice"),
        "debug": Changes(True),
        "backend_name": Refused("hip", "backend_name must be 'cuda'"),
        "sanitize_overflow": Changes(False, debug=True),
        "check_conversions": Changes(True, conversion_kernel),
        "arch": Changes("sm80"),
        "instrumentation_mode": Changes("iisan", descriptor_kernel),
        "device_checks": Says("gsan", "device_checks", "gsan"),
        "fpsan_homomorphic_casts": Refused(True, "fpsan_homomorphic_casts=True is not supported for cuda:90"),
        "min_shared_mem": Says(4096, "shared", 4096),
        "host_maps": Changes(True, descriptor_kernel),
        "raise_loads": Says(True, "host_maps", True),
        "persistent": Says(True, "raise_loads", True),
        "launch_versions": Says(True, "launch_versions", True),
        "without": Refused("nothing", "there is no 'nothing'"),
    },
    "hip": {
        "num_warps": Changes(8),
        "waves_per_eu": Changes(2),
        "num_stages": Changes(1, dot_kernel, "ttgir"),
        "num_ctas": Refused(2, "num_ctas > 1 not supported on gfx942"),
        "extern_libs": Shown("backends/amd/test_libraries.py::test_function_of_a_library_of_the_user"),
        "debug": Changes(True, stage="ttir"),
        "sanitize_overflow": Changes(False, stage="ttir", debug=True),
        "check_conversions": Changes(True, conversion_kernel, "ttir"),
        "arch": Changes("gfx1250", descriptor_kernel, "ttir"),
        "supported_fp8_dtypes": Refused(("fp8e4nv",), NO_FP8, fp8_kernel),
        "deprecated_fp8_dot_operand_dtypes": Ignored(("fp8e5",), fp8_dot_kernel, "ttir"),
        "default_dot_input_precision": Changes("bf16x3", dot_kernel, "ttir"),
        "allowed_dot_input_precisions": Refused(("ieee",), NO_TF32, tf32_kernel),
        "enable_fp_fusion": Changes(False),
        "launch_cooperative_grid": Says(True, "launch_cooperative_grid", True),
        "matrix_instr_nonkdim": Changes(16, dot_kernel, "ttgir"),
        "kpack": Changes(2, dot_kernel, "ttgir"),
        "allow_flush_denorm": Changes(True),
        "max_num_imprecise_acc_default": Changes(32, fp8_dot_kernel, "ttir"),
        "backend_name": Refused("cuda", "backend_name must be 'hip'"),
        "instrumentation_mode": Refused("iisan", "instrumentation_mode='iisan' is not supported for hip:gfx942"),
        "fpsan_homomorphic_casts": Refused(True, "fpsan_homomorphic_casts=True is not supported for hip:gfx942"),
        "schedule_hint": Ignored("attention", dot_kernel),
        "llvm_fn_attrs": Changes("a"),
        "wgp_cu_mode": Shown("backends/amd/test_stages.py::test_workgroups_may_use_one_compute_unit"),
        "emulated": Shown("backends/amd/test_inline_assembly.py::test_inline_assembly_on_the_emulator"),
        "min_shared_mem": Says(4096, "shared", 4096),
    },
}


@pytest.mark.parametrize("target", TARGETS)
def test_every_option_has_a_check_of_its_effect(target: str) -> None:
    assert {f.name for f in fields(OPTIONS[target])} == set(EFFECTS[target])


@pytest.mark.parametrize("target", TARGETS)
def test_only_hints_are_ignored(target: str) -> None:
    kinds = {f.name: declared(f) for f in fields(OPTIONS[target])}
    ignored = {name for name, effect in EFFECTS[target].items() if isinstance(effect, Ignored)}
    assert ignored - {"clc"} == {name for name, d in kinds.items() if d.ignored} - {"clc"}  # type: ignore[union-attr]


@pytest.mark.parametrize(("target", "name"), [(t, name) for t, table in EFFECTS.items() for name in table])
def test_effect(target: str, name: str) -> None:
    if getattr(EFFECTS[target][name], "fn", None) is library_kernel and missing("libdevice"):
        pytest.skip("libdevice is not installed")
    EFFECTS[target][name].check(target, name)


@pytest.mark.parametrize("capability", [100, 120])
def test_launch_control_is_a_hint_where_it_is_accepted(capability: int) -> None:
    target = GPUTarget("cuda", capability, 32)
    source = ASTSource(kernel, {"x": "*fp32", "y": "*fp32", "n": "i32", "B": "constexpr"}, {"B": 64})
    texts = [compile(source, target=target, options={"clc": clc}, until="llir").asm["llir"] for clc in (False, True)]
    assert texts[0] == texts[1]
