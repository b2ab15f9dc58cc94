"""Names around kernels, one by one: options of `jit`, what a jitted function tells, `Config`, `autotune`, small helpers."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import testing
from tritium.compiler import ASTSource, GPUTarget


@tritium.jit
def fill(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, n + at, mask=at < n)


def signature_of(kernel) -> list[str]:
    return list(kernel.src.signature.values())


# -- options of jit -----------------------------------------------------------------------------------------------


@pytest.mark.shows("jit.do_not_specialize", "tritium.jit")
def test_do_not_specialize() -> None:
    plain, kept = tritium.jit(fill.fn), tritium.jit(fill.fn, do_not_specialize=["n"])
    x = np.zeros(16, np.int32)
    assert signature_of(plain[(1,)](x, 1, 16))[1] == "constexpr"
    assert signature_of(kept[(1,)](x, 1, 16))[1] == "i32"
    assert kept[(1,)](x, 1, 16) is kept[(1,)](x, 7, 16) is kept[(1,)](x, 16, 16)
    assert (x == np.arange(16) + 16).all()


@pytest.mark.shows("jit.do_not_specialize_on_alignment")
def test_do_not_specialize_on_alignment() -> None:
    kept = tritium.jit(fill.fn, do_not_specialize_on_alignment=["n", "x"])
    x = np.zeros(64, np.int32)
    kernels = [kept[(1,)](x[i:], n, 16) for i, n in ((0, 16), (1, 7), (3, 32))]
    assert kernels[0] is kernels[1] is kernels[2]
    assert signature_of(kept[(1,)](x, 1, 16))[1] == "constexpr"  # of numbers 1 is still a constant


@tritium.jit(noinline=True)
def square(a):
    return a * a


@tritium.jit
def calls(x):
    at = tl.arange(0, 16)
    tl.store(x + at, square(tl.load(x + at)))


@pytest.mark.shows("jit.noinline")
def test_noinline() -> None:
    x = np.arange(16, dtype=np.int32)
    kernel = calls[(1,)](x)
    assert "tt.call" in kernel.asm["ttir"] and "noinline = true" in kernel.asm["ttir"]
    np.testing.assert_array_equal(x, np.arange(16) ** 2)


@pytest.mark.shows("jit.repr")
def test_repr() -> None:
    named = tritium.jit(fill.fn, repr=lambda proxy: f"fill_{proxy.constants['BLOCK']}")
    assert named[(1,)](np.zeros(16, np.int32), 9, 16).name == "fill_16"


@pytest.mark.shows("jit.launch_metadata")
def test_launch_metadata() -> None:
    seen = []

    def metadata(grid, kernel, args):
        return {"grid": grid, "n": args["n"]}

    told = tritium.jit(fill.fn, launch_metadata=metadata)
    with tritium.knobs.runtime.scope():
        tritium.knobs.runtime.launch_enter_hook = lambda data: seen.append(data.get())
        told[(2,)](np.zeros(16, np.int32), 9, 8)
    assert seen[0]["grid"][0] == 2 and seen[0]["n"] == 9


@tritium.jit(debug=True)
def checked(x):
    tl.device_assert(tl.load(x) == 0, "not zero")


@pytest.mark.shows("jit.debug", "tritium.TritonError", "tritium.TritiumError")
def test_debug() -> None:
    checked[(1,)](np.zeros(1, np.int32))
    with pytest.raises(tritium.TritonError, match="not zero"):
        checked[(1,)](np.ones(1, np.int32))


# -- a jitted function --------------------------------------------------------------------------------------------


@pytest.mark.shows(
    *(
        f"JITFunction.{name}"
        for name in ("run", "warmup", "src", "cache_key", "params", "arg_names", "signature", "fn")
    ),
    *(
        "JITFunction.used_global_vals",
        "JITFunction.create_binder",
        "JITFunction.ASTSource",
        "JITFunction.device_caches",
    ),
    *("tritium.JITFunction", "tritium.KernelInterface"),
)
def test_what_a_function_tells() -> None:
    kernel = tritium.jit(fill.fn)
    assert isinstance(kernel, tritium.JITFunction) and isinstance(kernel, tritium.KernelInterface)
    assert kernel.arg_names == ["x", "n", "BLOCK"] == [p.name for p in kernel.params]
    assert [p.is_constexpr for p in kernel.params] == [False, False, True]
    assert list(kernel.signature.parameters) == kernel.arg_names and kernel.fn is fill.fn
    assert kernel.src.startswith("def fill(") and kernel.cache_key == tritium.jit(fill.fn).cache_key
    assert not kernel.used_global_vals or all(isinstance(k, tuple) for k in kernel.used_global_vals)
    x = np.zeros(16, np.int32)
    warm = kernel.warmup(x, 9, BLOCK=16, grid=(1,))
    assert not x.any()
    assert kernel.run(x, 9, BLOCK=16, grid=(1,), warmup=False) is warm
    np.testing.assert_array_equal(x[:9], 9 + np.arange(9))
    assert [len(kernels) for kernels, *_ in kernel.device_caches.values()] == [1]
    kernel.create_binder()  # early, what a launch does late
    assert kernel.ASTSource is ASTSource
    with pytest.raises(Exception, match=r"fill\[grid\]"):
        kernel(x, 9, 16)


@pytest.mark.shows("tritium.compile", "tritium.ASTSource", "tritium.MockTensor")
def test_compile_for_another_target() -> None:
    source = tritium.ASTSource(fill, {"x": "*i32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 16})
    kernel = tritium.compile(source, target=GPUTarget("cuda", 90, 32))
    assert ".visible .entry fill" in kernel.asm["ptx"]
    found = fill.warmup(tritium.MockTensor("i32"), 9, BLOCK=16, grid=(1,))
    assert found.metadata.target.backend == "cpu"


@pytest.mark.shows("tritium.cdiv", "tritium.next_power_of_2")
def test_numbers() -> None:
    assert [tritium.cdiv(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [tritium.next_power_of_2(n) for n in (1, 2, 3, 17)] == [1, 2, 4, 32]


@pytest.mark.shows("tritium.TensorWrapper", "tritium.reinterpret")
def test_reinterpret() -> None:
    x = np.zeros(16, np.float32)
    other = tritium.reinterpret(x, tl.int32)
    assert isinstance(other, tritium.TensorWrapper)
    fill[(1,)](other, 16, 16)
    np.testing.assert_array_equal(x.view(np.int32), 16 + np.arange(16))


@pytest.mark.shows("tritium.CompilationError", "tritium.OutOfResources", "tritium.InterpreterError")
def test_errors_are_told_apart() -> None:
    @tritium.jit
    def wrong(x):
        tl.store(x, nothing)  # noqa: F821

    with pytest.raises(tritium.CompilationError, match="nothing"):
        wrong[(1,)](np.zeros(1, np.int32))
    assert issubclass(tritium.OutOfResources, tritium.TritonError)
    with tritium.knobs.runtime.scope():
        tritium.knobs.runtime.interpret = True
        with pytest.raises(tritium.InterpreterError):
            fill[(1,)](np.zeros(4, np.int32), 2**20, BLOCK=1024)


@pytest.mark.shows(
    *(f"tritium.{name}" for name in ("language", "runtime", "testing", "tools", "compiler", "driver", "knobs"))
)
def test_modules() -> None:
    assert tritium.language is tl and tritium.testing is testing
    assert tritium.runtime.driver.active.get_current_target().backend == "cpu"
    assert tritium.driver is tritium.runtime.driver and tritium.compiler.compile is tritium.compile
    assert tritium.tools.__name__ == "tritium.tools" and tritium.knobs.compilation


@pytest.mark.shows("tritium.set_allocator")
def test_set_allocator() -> None:
    """It is asked where a kernel needs memory of its own; kernels of CPUs have theirs."""
    asked = []
    tritium.set_allocator(lambda size, align, stream: asked.append(size))
    try:
        x = np.zeros(16, np.int32)
        fill[(1,)](x, 9, 16)
        assert not asked and x.any()
    finally:
        tritium.set_allocator(None)


# -- tuning -------------------------------------------------------------------------------------------------------


@pytest.mark.shows(
    *(f"Config.{name}" for name in ("kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook"))
)
@pytest.mark.shows("tritium.Config")
def test_config() -> None:
    def hook(args):
        return None

    config = tritium.Config({"BLOCK": 8}, num_warps=2, num_stages=5, num_ctas=1, maxnreg=64, pre_hook=hook)
    wanted = {"BLOCK": 8, "num_warps": 2, "num_stages": 5, "num_ctas": 1, "maxnreg": 64}
    assert config.all_kwargs() == wanted and config.kwargs == {"BLOCK": 8} and config.pre_hook is hook


@tritium.jit
def product(x, n, m, EXTRA: tl.constexpr):
    tl.store(x, n * m + EXTRA)


@pytest.mark.shows("Config.ir_override")
def test_a_configuration_may_bring_its_own_text(tmp_path) -> None:
    """`ir_override`: the text of a stage that takes the place of what the compiler makes."""
    x = np.zeros(1, np.int32)
    text = product.warmup(x, 9, 7, EXTRA=0, grid=(1,)).asm["ttir"]
    assert text.count("arith.muli") == 1
    path = tmp_path / "product.ttir"
    path.write_text(text.replace("arith.muli", "arith.addi"))
    tuned = tritium.autotune([tritium.Config({"EXTRA": 0}, ir_override=str(path))], key=[])(tritium.jit(product.fn))
    tuned[(1,)](x, 9, 7)
    assert x[0] == 16


@pytest.mark.shows(*(f"autotune.{name}" for name in ("warmup", "rep", "use_cuda_graph")))
def test_settings_of_older_tuners() -> None:
    """They are taken; on a CPU there is no graph to replay."""
    decorate = tritium.autotune([tritium.Config({"BLOCK": 16})], key=["n"], warmup=1, rep=2, use_cuda_graph=True)
    x = np.zeros(16, np.int32)
    decorate(tritium.jit(fill.fn))[(1,)](x, 9)
    np.testing.assert_array_equal(x[:9], 9 + np.arange(9))


# -- timing -------------------------------------------------------------------------------------------------------


@pytest.mark.shows(
    *(f"testing.{name}" for name in ("do_bench_cudagraph", "do_bench_proton", "do_bench_cudagraph_proton"))
)
def test_every_way_to_time() -> None:
    calls = []
    for bench in (testing.do_bench_cudagraph, testing.do_bench_proton, testing.do_bench_cudagraph_proton):
        assert bench(lambda: calls.append(1), rep=1) >= 0
    assert len(calls) >= 3


@pytest.mark.shows(
    *(f"testing.{name}" for name in ("cuda_memcheck", "set_gpu_clock", "nvsmi", "get_max_tensorcore_tflops"))
)
def test_what_asks_for_a_gpu_answers_without_one() -> None:
    assert testing.cuda_memcheck(x=1)(len) is len
    with testing.set_gpu_clock() as (clock, tflops):
        assert clock >= 0 and tflops >= 0
    assert len(testing.nvsmi(["clocks.current.sm", "clocks.current.memory"])) == 2
    assert testing.get_max_tensorcore_tflops(tl.float16) > 0
