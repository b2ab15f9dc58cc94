"""`triton.backends`: stages called one by one, helpers of the NVIDIA backend, its driver, and backends of others."""

from __future__ import annotations

import importlib
import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritium.language as tl
from tests.backends.nvidia.fake_cuda import FUNCTION, FakeCuda, driver_in_use
from tests.backends.nvidia.texts import needs_ptxas
from tests.bindings.conftest import MODULES
from tests.bindings.test_pass_managers import add, add_source
from tritium import knobs
from tritium.backends.compiler import BaseBackend, GPUTarget
from tritium.backends.errors import BackendError
from tritium.backends.nvidia.compiler import CUDABackend, min_dot_size, sm_arch_from_capability
from tritium.backends.nvidia.libcuda import cuda_type
from tritium.backends.nvidia.toolchain import find_tool
from tritium.compiler import ASTSource, TargetError, compile, make_backend, register_backend
from tritium.compiler import backend as registry
from tritium.dropin import alias, amd_compiler, amd_driver, nvidia_compiler, nvidia_driver
from tritium.dropin.backends import known_backends
from tritium.dropin.refusal import UnsupportedBinding
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.support import OptionError, TritiumError, UnknownOptionError


@needs_ptxas
def test_stages_of_the_nvidia_backend_run_one_by_one() -> None:
    """As programs do that embed the machine code elsewhere, with a metadata dict of their own."""
    backend = CUDABackend(GPUTarget("cuda", 90, 32))
    options = backend.parse_options({"num_warps": 2})
    source, metadata = add_source(), {}
    value = source.make_ir(backend.target, options, backend.get_codegen_implementation(options), {}, object())
    for name in ("ttir", "ttgir", "llir", "ptx", "cubin"):
        value = getattr(backend, f"make_{name}")(value, metadata, options, 90)
    assert value[:4] == b"\x7fELF"
    assert metadata["name"] == "add" and metadata["shared"] == 0 and metadata["num_warps"] == 2
    assert metadata["cluster_dims"] == (1, 1, 1) and metadata["n_regs"] > 0
    expected = compile(source, target=backend.target, options={"num_warps": 2}).asm["cubin"]
    assert value == expected


@pytest.mark.parametrize("stage", ["ttir", "ttgir", "llir", "ptx", "cubin"])
def test_compiles_call_stages_that_a_program_replaced(monkeypatch, stage: str) -> None:
    if stage == "cubin" and find_tool("ptxas") is None:
        pytest.skip("there is no ptxas here")
    original, calls = getattr(CUDABackend, f"make_{stage}"), []

    def replacement(*args: Any) -> Any:
        calls.append(args[-1])
        made = original(*args)
        return made + "\n// seen\n" if stage == "ptx" else made

    static = stage in ("ttir", "ttgir")  # as they are in Triton
    monkeypatch.setattr(CUDABackend, f"make_{stage}", staticmethod(replacement) if static else replacement)
    with knobs.compilation.scope():
        knobs.compilation.always_compile = True
        kernel = compile(add_source(), GPUTarget("cuda", 80, 32), until=stage)
        assert calls == [80]
        assert ("// seen" in str(kernel.asm[stage])) is (stage == "ptx")
        monkeypatch.undo()
        assert "// seen" not in str(compile(add_source(), GPUTarget("cuda", 80, 32), until=stage).asm[stage])
    assert calls == [80]


@pytest.mark.parametrize("target", [("cuda", 90, 32), ("cpu", "x86-64-v3", 1), ("hip", "gfx942", 64)])
def test_options_are_in_the_dict_of_the_object(target) -> None:
    """torch.compile looks there for keywords of a launch that are no arguments."""
    backend = make_backend(GPUTarget(*target))
    options = backend.parse_options({"num_warps": 2})
    assert options.__dict__["num_warps"] == 2 and set(options.__dict__) == set(backend.option_names())


def test_options_of_earlier_releases_are_accepted_with_default_values() -> None:
    target = GPUTarget("cuda", 90, 32)
    compile(add_source(), target, options={"optimize_epilogue": False}, until="ttir")
    with pytest.raises(UnknownOptionError, match="optimize_epilogue"):
        compile(add_source(), target, options={"optimize_epilogue": True}, until="ttir")


@pytest.mark.parametrize("target", [("cuda", 90, 32), ("cpu", "x86-64-v3", 1), ("hip", "gfx942", 64)])
def test_parse_options_ignores_names_that_are_no_option(target) -> None:
    """Launchers of other projects pass all keywords of a launch, the kernel's constexprs among them."""
    backend = make_backend(GPUTarget(*target))
    assert backend.parse_options({"num_warps": 2, "BLOCK": 64}) == backend.parse_options({"num_warps": 2})
    with pytest.raises(OptionError, match="num_warps must be a power of 2"):
        backend.parse_options({"num_warps": 3, "BLOCK": 64})


def test_texts_of_late_stages_need_no_metadata_of_earlier_ones() -> None:
    backend = CUDABackend(GPUTarget("cuda", 80, 32))
    options = backend.parse_options({})
    llir = compile(add_source(), target=backend.target, until="llir").asm["llir"]
    assert ".visible .entry add(" in backend.make_ptx(llir, {}, options, 80)


@gluon.jit
def doubled(x, LAYOUT: gl.constexpr):
    at = gl.arange(0, 256, LAYOUT)
    gl.store(x + at, gl.load(x + at) * 2)


def test_stages_of_the_amd_backend_run_one_by_one() -> None:
    hip: Any = make_backend(GPUTarget("hip", "gfx942", 64))
    options = hip.parse_options({})
    module = add_source().make_ir(hip.target, options)
    assert "tt.func public @add" in str(hip.make_ttir(module, {}, options))
    assert hip.get_target_name(options) == "hip:gfx942"
    constants = {"LAYOUT": gl.BlockedLayout([1], [64], [4], [0])}
    source = gluon.GluonASTSource(doubled, {"x": "*fp32", "LAYOUT": "constexpr"}, constants)
    metadata: dict[str, Any] = {}
    made = str(hip.gluon_to_ttgir(source.make_ir(hip.target, options), metadata, options))
    assert "threadsPerWarp = [64]" in made
    assert "tt.func public @doubled" in made
    assert metadata["num_warps"] == 4


def test_options_have_a_hash_of_all_fields() -> None:
    backend = CUDABackend(GPUTarget("cuda", 90, 32))
    hashes = {backend.parse_options(o).hash() for o in ({}, {"num_warps": 8}, {"maxnreg": 64}, {"num_warps": 4})}
    assert len(hashes) == 3 and backend.get_target_name(backend.parse_options({})) == "cuda:90"


def test_least_sizes_of_matrix_products() -> None:
    for backend in ("cuda", "hip"):
        check = (min_dot_size if backend == "cuda" else amd_compiler.get_min_dot_size)(GPUTarget(backend, 80, 32))
        sizes = [check(ty, ty) for ty in (tl.float16, tl.int8, tl.float32, tl.float64)]
        assert sizes == ([(1, 1, 16), (1, 1, 32), (1, 1, 8), (1, 1, 4)] if backend == "cuda" else [(1, 1, 1)] * 4)
    assert [sm_arch_from_capability(c) for c in (75, 90, 120)] == ["sm_75", "sm_90a", "sm_120a"]


def test_versions_of_ptx() -> None:
    expected = {"11.8": 78, "12.1": 81, "12.6": 85, "13.0": 90, "13.1": 91, "10.2": 65}
    assert {version: nvidia_compiler.ptx_get_version(version) for version in expected} == expected
    with pytest.raises(RuntimeError, match="CUDA 10.0"):
        nvidia_compiler.ptx_get_version("9.2")
    assert nvidia_compiler.get_features(SimpleNamespace(ptx_version=83), 80) == "+ptx83"
    assert nvidia_compiler.is_enabled({"instrumentation_mode": "consan,iisan"}, "iisan")
    assert not nvidia_compiler.is_enabled(SimpleNamespace(instrumentation_mode=""), "iisan")


@needs_ptxas
def test_the_assembler_and_its_version(monkeypatch) -> None:
    tool = nvidia_compiler.get_ptxas(90)
    assert os.access(tool.path, os.X_OK) and tool.version in nvidia_compiler.get_ptxas_version(90)
    assert knobs.nvidia.ptxas_blackwell == tool
    options = CUDABackend(GPUTarget("cuda", 90, 32)).parse_options({})
    assert nvidia_compiler.get_ptx_version_from_options(options, 90) >= 80
    monkeypatch.setenv("TRITON_MOCK_PTX_VERSION", "mocked")
    assert nvidia_compiler.get_ptxas_version(90) == "mocked"


def test_backends_are_listed_by_their_makers() -> None:
    """torch.compile refuses GPUs whose backend is not listed as "nvidia"."""
    listed = known_backends
    assert {"cpu", "nvidia", "amd"} <= set(listed) and "cuda" not in list(listed)
    assert listed["nvidia"].compiler is CUDABackend is listed["cuda"].compiler and "nvidia" in listed
    assert not listed["amd"].driver.is_active() and listed.get("intel") is None


def test_a_hook_may_end_the_stages_and_say_which_is_the_last() -> None:
    """As programs do that run PTX otherwise; the next compile without the hook is not affected."""

    def hook(self=None, stages=None, options=None, language=None, capability=None):
        if self is None:
            return "ends at ptx", "ends at ptx"
        stages.pop("cubin", None)
        self.binary_ext = "ptx"
        return None

    target = GPUTarget("cuda", 80, 32)
    with knobs.runtime.scope():
        knobs.runtime.add_stages_inspection_hook = hook
        for _ in range(2):  # compiled, then from the cache
            kernel = compile(add_source(), target=target)
            assert list(kernel.asm)[-1] == "ptx" and kernel.kernel == kernel.asm["ptx"]
    assert make_backend(target).binary_ext == "cubin"


# ---- backends of others --------------------------------------------------------------------------------------------


class Foreign(BaseBackend):
    """What a backend written for Triton has: its abstract methods alone."""

    binary_ext = "ttir"

    @staticmethod
    def supports_target(target):
        return getattr(target, "backend", "") == "foreign"

    def hash(self):
        return "foreign"

    def parse_options(self, options):
        return make_backend(GPUTarget("hip", "gfx942", 64)).parse_options(options)

    def add_stages(self, stages, options, language=None):
        stages["ttir"] = lambda module, metadata: module

    def load_dialects(self, context):
        pass

    def get_module_map(self):
        return {}


def test_a_backend_with_triton_s_abstract_methods_compiles(monkeypatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})
    register_backend("foreign", Foreign)
    backend = make_backend(GPUTarget("foreign", "x1", 32))
    assert "num_warps" in backend.option_names() and BaseBackend.parse_attr("D") == [["tt.divisibility", 16]]
    assert "tt.func" in compile(add_source(), target=GPUTarget("foreign", "x1", 32)).asm["ttir"]
    with pytest.raises(BackendError, match="Foreign compiles only"):
        backend.load(b"", {})
    registry.make_backend.cache_clear()


def test_specialization_is_that_of_all_targets() -> None:
    array = SimpleNamespace(data_ptr=lambda: 64)
    assert BaseBackend.supports_native_tensor_specialization
    assert [BaseBackend.get_int_specialization(n, align=True) for n in (16, 17, 0)] == ["D", "", "D"]
    assert BaseBackend.get_int_specialization(16) == ""
    assert BaseBackend.get_tensor_specialization(array, align=True) == "D"

    class Special(Foreign):
        @staticmethod
        def get_tensor_specialization(arg, **kwargs):
            return "S"

    with pytest.raises(TargetError, match="Special.get_tensor_specialization would never be called"):
        register_backend("special", Special)


# ---- drivers -------------------------------------------------------------------------------------------------------


def test_the_launcher_of_handles_launches_with_hooks(monkeypatch) -> None:
    fake, told = FakeCuda(), []
    with driver_in_use(fake):
        driver = nvidia_driver.CudaDriver()
        assert driver.utils is nvidia_driver.CudaUtils() and driver.launcher_cls is nvidia_driver.CudaLauncher
        source = ASTSource(add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 64})
        target = GPUTarget("cuda", 90, 32)
        launcher = driver.launcher_cls(source, {"num_warps": 4, "num_ctas": 1, "shared": 64, "target": target})
        launcher(3, 2, 1, 7, FUNCTION, None, "about", told.append, told.append, 0x100, 0x200, 0x300, 100, 64)
    (launch,) = fake.launches
    assert launch.grid == (3, 2, 1) and launch.block[0] == 128 and launch.shared == 64 and launch.stream == 7
    words = np.frombuffer(launch.params[:24], np.uint64).tolist()
    assert words == [0x100, 0x200, 0x300] and told == ["about", "about"]


def test_launching_descriptors_by_handle_is_refused() -> None:
    source = SimpleNamespace(signature={"x": "tensordesc<fp16[16,16]>"})
    with pytest.raises(UnsupportedBinding, match=r"kernel\[grid\]"):
        nvidia_driver.CudaLauncher(source, {"tensordesc_meta": [{}], "target": GPUTarget("cuda", 90, 32)})
    with pytest.raises(UnsupportedBinding, match="TensorDescriptor"):
        _ = nvidia_driver.CudaUtils().fill_tma_descriptor_tiled


def test_where_the_driver_s_library_is(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TRITON_LIBCUDA_PATH", str(tmp_path))
    nvidia_driver.libcuda_dirs.cache_clear()
    assert nvidia_driver.libcuda_dirs() == [str(tmp_path)]
    monkeypatch.delenv("TRITON_LIBCUDA_PATH")
    monkeypatch.setattr(nvidia_driver.os, "popen", lambda command: __import__("io").StringIO("1 libs found\n"))
    (tmp_path / "libcuda.so.1").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere:{tmp_path}")
    nvidia_driver.libcuda_dirs.cache_clear()
    assert nvidia_driver.libcuda_dirs() == [str(tmp_path)]
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    nvidia_driver.libcuda_dirs.cache_clear()
    with pytest.raises(TritiumError, match="TRITON_LIBCUDA_PATH"):
        nvidia_driver.libcuda_dirs()
    nvidia_driver.libcuda_dirs.cache_clear()


def test_headers_for_modules_in_c(monkeypatch, tmp_path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "cuda.h").touch()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert str(tmp_path / "include") in nvidia_driver.include_dirs and nvidia_driver.libraries == ["libcuda.so.1"]
    assert all(os.path.isfile(os.path.join(folder, "cuda.h")) for folder in nvidia_driver.include_dirs)


def test_c_types() -> None:
    assert [nvidia_driver.ty_to_cpp(t) for t in ("*fp32", "i1", "u64", "bf16", "tensordesc<fp16[1]>")] == [
        "CUdeviceptr",
        "int8_t",
        "uint64_t",
        "double",
        "CUtensorMap",
    ]
    assert amd_driver.ty_to_cpp("*fp32") == "hipDeviceptr_t" and amd_driver.ty_to_cpp("i32") == cuda_type("i32")
    assert not amd_driver.HIPDriver.is_active()  # torch is not built for ROCm here


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_of_the_backends_is_there(wheel, name: str) -> None:
    alias.install()
    try:
        module = importlib.import_module(name)
        assert [n for n in wheel["modules"][name] if not hasattr(module, n)] == []
    finally:
        alias.uninstall()
