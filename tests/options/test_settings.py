"""Effects of settings that other tests do not show, and settings that are refused."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.texts import missing, needs_ptxas
from tests.options.test_effects import compiled, descriptor_kernel, kernel, text
from tritium import knobs, profiler
from tritium.backends.errors import PTXASError
from tritium.compiler import cache_managers
from tritium.emulator import DataRace
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.support import OptionError, settings
from tritium.support.setting import SettingError


@pytest.fixture(params=["cpu", "emulated"])
def device(request: pytest.FixtureRequest) -> Any:
    """Launches run on the CPU, and on an emulated GPU."""
    if request.param == "emulated":
        driver.set_active(EmulatedCUDADriver(90))
    yield request.param
    driver.reset_active()


@tritium.jit
def fill(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)


@pytest.mark.parametrize("variable", ["TRITON_ENABLE_ASAN", "TRITIUM_SANITIZE"])
def test_bounds_are_checked_where_a_setting_says_so(
    device: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    knobs.refresh_knobs()
    x = np.zeros(32, np.float32)
    with pytest.raises(Exception, match="out-of-bounds store|writes 4 bytes"):
        fill[(1,)](x, B=64)
    monkeypatch.delenv(variable)
    knobs.refresh_knobs()


def test_an_option_counts_more_than_the_setting() -> None:
    target = tritium.compiler.GPUTarget("cuda", 90, 32)
    with knobs.runtime.scope(), knobs.compilation.scope():
        knobs.runtime.sanitize = knobs.compilation.enable_asan = True
        assert "sanitize" not in fill._options((), {"sanitize": False}, target)
    for where in (target, tritium.compiler.GPUTarget("cpu", "", 1)):
        with pytest.raises(OptionError, match="sanitize must be True or False, got 'yes'"):
            options = fill._options((), {"sanitize": "yes"}, where)
            tritium.compile(
                tritium.compiler.ASTSource(fill, {"x": "*fp32", "B": "constexpr"}, {"B": 64}), where, options
            )


@pytest.mark.parametrize("setting", ["runtime.sanitize", "compilation.enable_asan"])
def test_bounds_that_a_gpu_does_not_check_are_refused(setting: str) -> None:
    group, _, name = setting.partition(".")
    target = tritium.compiler.GPUTarget("cuda", 90, 32)
    with getattr(knobs, group).scope():
        setattr(getattr(knobs, group), name, True)
        with pytest.raises(OptionError, match=rf"fill: the setting {setting} is not supported by this device"):
            fill._options((), {}, target)


def test_the_instrumentation_of_launches_comes_from_the_setting(device: str) -> None:
    x, strides = np.zeros((32, 36), np.float32), (36, 33)
    with knobs.compilation.scope():
        knobs.compilation.instrumentation_mode = "iisan, consan"
        descriptor_kernel_of[(1,)](x, strides[0], 32)
        with pytest.raises(Exception, match="Tensor descriptor strides must be 16-byte aligned"):
            descriptor_kernel_of[(1,)](x, strides[1], 32)
        knobs.compilation.instrumentation_mode = "fpsan"
        with pytest.raises(OptionError, match="instrumentation_mode='fpsan' is not supported"):
            descriptor_kernel_of[(1,)](x, strides[0], 32)
    descriptor_kernel_of[(1,)](x, strides[0], 32)


@tritium.jit
def descriptor_kernel_of(x, stride, n):
    d = tl.make_tensor_descriptor(x, [n, n], [stride, 1], [16, 16])
    d.store([0, 0], d.load([0, 0]) + 1)


@pytest.mark.parametrize("mode", ["consan", "iisan"])
def test_modes_check_bounds_too(device: str, mode: str) -> None:
    with pytest.raises(Exception, match="out-of-bounds store|writes 4 bytes"):
        fill[(1,)](np.zeros(32, np.float32), B=64, instrumentation_mode=mode)


@tritium.jit
def racing(x, B: tl.constexpr):
    """Elements pass through shared memory, which every thread writes and others read."""
    at = tl.arange(0, B)
    tl.store(x + at, tl.reshape(tl.trans(tl.reshape(tl.load(x + at), 16, B // 16)), B))


def test_consan_checks_shared_memory_on_the_emulator_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A barrier less in the PTX is a race; without races checked, the mode is refused."""
    x = np.arange(512, dtype=np.float32)
    driver.set_active(EmulatedCUDADriver(90))
    try:
        compiled_kernel = racing[(1,)](x, B=512, instrumentation_mode="consan")
        assert "bar.sync" in compiled_kernel.asm["ptx"]
        dict.__setitem__(compiled_kernel.asm, "ptx", compiled_kernel.asm["ptx"].replace("bar.sync", "// bar.sync"))
        with pytest.raises(DataRace, match="race in shared memory"):
            compiled_kernel[(1,)](x, 512)
        driver.set_active(EmulatedCUDADriver(90, check_races=False))
        with pytest.raises(OptionError, match="instrumentation_mode='consan' is not supported"):
            racing[(1,)](x, B=512, instrumentation_mode="consan")
    finally:
        driver.reset_active()


def test_fpsan_casts_are_refused_with_their_mode(device: str) -> None:
    with knobs.compilation.scope():
        knobs.compilation.fpsan_homomorphic_casts = True
        with pytest.raises(OptionError, match="belongs to instrumentation_mode='fpsan'"):
            fill[(1,)](np.zeros(64, np.float32), B=64)


UNSUPPORTED = [
    (settings.compilation, "dump_ir_extract_di_local_variables", True, "LLVM_EXTRACT_DI_LOCAL_VARIABLES"),
    (settings.compilation, "enable_llvm_debug", True, "TRITON_ENABLE_LLVM_DEBUG"),
    (settings.compilation, "llvm_debug_only", "isel", "TRITON_LLVM_DEBUG_ONLY"),
    (settings.compilation, "llvm_pass_plugin_path", "pass.so", "LLVM_PASS_PLUGIN_PATH"),
    (settings.compilation, "plugin_paths", "plugin.so", "TRITON_PLUGIN_PATHS"),
    (settings.compilation, "partition_scheduling_enable_dump_dot", True, "TRITON_PARTITION_SCHEDULING_ENABLE_DUMP_DOT"),
    (settings.proton, "enable_hw_trace", True, "TRITON_ENABLE_HW_TRACE"),
]


@pytest.mark.parametrize(
    ("group", "name", "value", "variable"), UNSUPPORTED, ids=[name for _, name, _, _ in UNSUPPORTED]
)
def test_a_setting_that_is_not_supported_cannot_be_set(
    group: Any, name: str, value: Any, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingError, match=f"the setting {name} is not supported"):
        setattr(group, name, value)
    with group.scope():
        setattr(group, name, type(value)())
    monkeypatch.setenv(variable, "1" if value is True else value)
    with pytest.raises(SettingError, match=f"{variable} is not supported"):
        text(kernel, "cpu", {}, "ttir") if group is settings.compilation else profiler.start("nothing")


def test_wgmma_is_not_used_where_a_setting_disables_it() -> None:
    with settings.nvidia.scope():
        settings.nvidia.disable_mma_v3 = True
        found = compiled(kernel, "cuda", {"without": "tma"}, "ttir").metadata.without
    assert found == "tma,wgmma" and compiled(kernel, "cuda", {}, "ttir").metadata.without == ""


def test_a_setting_names_optimizations_to_compile_without() -> None:
    with settings.nvidia.scope():
        settings.nvidia.without = "late-sums,tma"
        assert compiled(kernel, "cuda", {"without": "tma,flatten"}, "ttir").metadata.without == "tma,flatten,late-sums"
        settings.nvidia.without = "nothing-like-it"
        with pytest.raises(OptionError, match="there is no 'nothing-like-it'"):
            compiled(kernel, "cuda", {}, "ttir")


def wanted() -> tuple[str, int]:
    """What the settings say of the target."""
    return sys.modules["tritium.runtime.driver_config"]._wanted()  # type: ignore[no-any-return]


def test_the_backend_of_launches_without_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITIUM_TARGET", raising=False)
    for name, expected in (("nvidia", "cuda"), ("cpu", "cpu")):
        monkeypatch.setenv("TRITON_DEFAULT_BACKEND", name)
        assert wanted()[0] == expected
    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", "tpu")
    with pytest.raises(OptionError, match="TRITON_DEFAULT_BACKEND is nvidia, amd or cpu, not 'tpu'"):
        wanted()


def test_the_older_name_of_consan(device: str) -> None:
    with settings.compilation.scope():
        settings.compilation.enable_experimental_consan = True
        chosen = fill._options((), {}, driver.active.get_current_target(), getattr(driver.active, "checks", ()))
    if device == "cpu":
        assert chosen["instrumentation_mode"] == "consan"
    else:
        assert (chosen["instrumentation_mode"], chosen["device_checks"]) == ("", "consan")


def test_a_disabled_profiler_records_nothing() -> None:
    with settings.proton.scope():
        settings.proton.disable = True
        assert profiler.start("nothing") is None
    assert not settings.runtime.launch_enter_hook


def test_errors_of_kernels_have_the_compilers_frames_where_a_setting_says_so() -> None:
    @tritium.jit
    def wrong(x):
        tl.store(x, tl.arange(0, 3.5))

    def frames() -> int:
        with pytest.raises(tritium.CompilationError) as caught:
            wrong[(1,)](np.zeros(4, np.int32))
        return len(caught.traceback)

    hidden = frames()
    with settings.compilation.scope():
        settings.compilation.front_end_debugging = True
        assert frames() > hidden


def test_settings_of_the_autotuner() -> None:
    with settings.autotuning.scope():
        settings.autotuning.cache, settings.autotuning.warmup, settings.autotuning.rep = True, 3, 7
        tuned = tritium.autotune([tritium.Config({"B": 16})], key=[])(fill)
        assert tuned.cache_results
        seen: list[tuple[float, float]] = []
        tuned.nargs = {"x": np.zeros(16, np.float32)}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tritium.runtime.autotuner.do_bench_cpu", lambda f, w, r, quantiles: seen.append((w, r)))
            tuned._default_bench(lambda: None, [0.5])
    assert seen == [(3, 7)]


def test_a_cuda_graph_is_timed_where_the_arguments_are_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    tuned = tritium.autotune([tritium.Config({"B": 16})], key=[], rep=7, use_cuda_graph=True)(fill)
    seen: list[Any] = []
    monkeypatch.setattr("tritium.runtime.autotuner.do_bench_cudagraph", lambda f, r, quantiles: seen.append(r))
    monkeypatch.setattr(tuned, "_where", lambda: 0)
    tuned._default_bench(lambda: None, [0.5])
    assert seen == [7]


def test_where_the_redis_server_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Database, user and encryption, which the tests with a server do without."""
    made: list[dict[str, Any]] = []

    class Module:
        Redis = staticmethod(lambda **given: made.append(given))
        Retry = staticmethod(lambda *_: None)
        NoBackoff = staticmethod(lambda: None)

    for name in ("_redis", "_retry", "_backoff"):
        monkeypatch.setattr(cache_managers, name, Module)
    monkeypatch.setattr(cache_managers, "_clients", {})
    with settings.redis.scope():
        settings.redis.database, settings.redis.username, settings.redis.tls = 5, "me", True
        cache_managers._client()
    assert [(given["db"], given["username"], given["ssl"]) for given in made] == [(5, "me", True)]


def test_the_release_of_cuda_whose_ptx_is_written() -> None:
    with settings.nvidia.scope():
        settings.nvidia.mock_ptx_version = "12.4"
        assert ".version 8.4\n" in text(kernel, "cuda", {}, "ptx")
        settings.nvidia.mock_ptx_version = "new"
        with pytest.raises(OptionError, match=r"a release of CUDA such as 12\.4, got 'new'"):
            text(kernel, "cuda", {}, "ptx")


@needs_ptxas
def test_what_the_assembler_reads_and_writes_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with settings.nvidia.scope(), settings.cache.scope():
        settings.cache.disable = True
        settings.nvidia.dump_ptxas_log = settings.nvidia.dump_nvptx = True
        text(descriptor_kernel, "cuda", {}, "cubin")
    out, err = capfd.readouterr()
    assert "Compiling entry function 'descriptor_kernel'" in out
    assert "NVPTX Dump" in err and ".entry descriptor_kernel" in err


@pytest.mark.skipif(missing("nvdisasm") is not None, reason="nvdisasm is not installed")
def test_a_program_that_a_setting_names() -> None:
    found = knobs.nvidia.nvdisasm
    with settings.nvidia.scope():
        settings.nvidia.nvdisasm = "/nowhere/nvdisasm"
        with pytest.raises(PTXASError, match="TRITON_NVDISASM_PATH says that nvdisasm is '/nowhere/nvdisasm'"):
            _ = knobs.nvidia.nvdisasm
    assert knobs.nvidia.nvdisasm == found
