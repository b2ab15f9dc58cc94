"""Gluon kernels in the tools: compile, inspect, check, warmup, autotune, cached results, source lines."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import tritium
import tritium.profiler as proton
import tritium.profiler.language as pl
from tritium.compiler import GPUTarget
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.frontend.errors import CompilationError
from tritium.support import settings
from tritium.tools.cli import app

SOURCE = """
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl


@gluon.jit
def scale(x, y, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout)
    gl.store(y + at, 2 * gl.load(x + at, at < n, 0.0), at < n)
"""


@pytest.mark.parametrize(
    ("command", "expected"),
    [("compile", "ttgir"), ("inspect", "registers/thread"), ("check", "steps agree")],
)
def test_commands_take_gluon_kernels(tmp_path, command, expected):
    path = tmp_path / "gluon_kernel.py"
    path.write_text(SOURCE)
    words = [command, f"{path}::scale", "--signature", "*fp32, *fp32, i32, 512", "--target", "cuda:90"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert expected in result.output


HOPPER = """
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma


@gluon.jit
def multiply(a, b, c, K):
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    left = gl.allocate_shared_memory(gl.float16, [64, 64], a.layout)
    right = gl.allocate_shared_memory(gl.float16, [64, 64], b.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, 1)
    acc = gl.zeros([64, 64], gl.float32, mma)
    for i in range(K // 64):
        mbarrier.expect(bar, a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [0, i * 64], bar, left)
        tma.async_load(b, [i * 64, 0], bar, right)
        mbarrier.wait(bar, i & 1)
        acc = warpgroup_mma(left, right, acc, is_async=False)
    at = gl.arange(0, 64, gl.SliceLayout(1, mma))[:, None] * 64 + gl.arange(0, 64, gl.SliceLayout(0, mma))[None, :]
    gl.store(c + at, acc)
"""
TILE = "tensordesc<fp16[64, 64], NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)>"


def test_check_runs_kernels_with_instructions_of_gpus(tmp_path):
    """They are not interpreted line by line; the frontend's IR is what later steps are compared with."""
    path = tmp_path / "multiply.py"
    words = ["check", f"{path}::multiply", "--signature", f"{TILE}, {TILE}, *fp32:16, i32", "--target", "cuda:90"]
    words += ["--argument", "K=128"]
    path.write_text(HOPPER)
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0 and "steps agree" in result.output, result.output
    path.write_text(HOPPER.replace("mbarrier.wait(bar, i & 1)", "pass"))
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1, result.output
    assert "has not waited for the mbarrier" in result.output and "acc = warpgroup_mma(" in result.output


@gluon.jit
def scaled(x, y, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout)
    gl.store(y + at, 2 * gl.load(x + at, at < n, 0.0), at < n)


def source():
    return scaled.ASTSource(scaled, {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"BLOCK": 512})


def test_ahead_of_time_compiles_have_lines_of_the_kernel():
    kernel = tritium.compile(source(), target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
    assert list(kernel.asm) == ["source", "ttgir", "llir", "ptx", "cubin"]
    assert "test_tools.py" in kernel.asm["ttgir"] and ".loc" in kernel.asm["ptx"]


def adds_one(x, n):
    gl.store(x, n + 1)


def test_the_same_function_in_two_languages_is_compiled_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    stages = []
    for jit in (tritium.jit, gluon.jit):
        fn = jit(adds_one)
        kernel = tritium.compile(fn.ASTSource(fn, {"x": "*i32", "n": "i32"}, {}), target=GPUTarget("cuda", 90, 32))
        stages.append(list(kernel.asm)[1])
    assert stages == ["ttir", "ttgir"]


@pytest.mark.usefixtures("hopper")
def test_warmup_compiles_what_a_launch_runs():
    compiled = scaled.warmup(tritium.MockTensor("fp32"), tritium.MockTensor("fp32"), 1000, 512, grid=(2,))
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    kernel = scaled[(2,)](x, y, 1000, 512)
    assert np.array_equal(y, 2 * x)
    assert compiled.asm["ttgir"].count("tt.load") == kernel.asm["ttgir"].count("tt.load") == 1


@tritium.autotune([tritium.Config({"BLOCK": 512}), tritium.Config({"BLOCK": 1024})], key=["n"])
@gluon.jit
def tuned(x, y, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout)
    gl.store(y + at, gl.load(x + at, at < n, 0.0) + 1, at < n)


@pytest.mark.usefixtures("hopper")
def test_autotune_takes_gluon_kernels():
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    tuned[lambda meta: (tritium.cdiv(1000, meta["BLOCK"]),)](x, y, 1000)
    assert np.array_equal(y, x + 1)
    assert tuned.best_config.kwargs["BLOCK"] in (512, 1024)


LAYOUTS = {n: gl.BlockedLayout([n], [32], [warps], [0]) for n, warps in ((1, 4), (4, 4), (2, 8))}


@tritium.autotune(
    [
        tritium.Config({"LAYOUT": LAYOUTS[1]}, num_warps=4),
        tritium.Config({"LAYOUT": LAYOUTS[4]}, num_warps=4),
        tritium.Config({"LAYOUT": LAYOUTS[2]}, num_warps=8),
    ],
    key=["n"],
)
@gluon.jit
def tuned_layouts(x, y, n, LAYOUT: gl.constexpr):
    at = gl.program_id(0) * 512 + gl.arange(0, 512, LAYOUT)
    gl.store(y + at, gl.load(x + at, at < n, 0.0) + 1, at < n)


@pytest.mark.usefixtures("hopper")
def test_autotune_chooses_among_layouts_and_numbers_of_warps():
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    tuned_layouts[(2,)](x, y, 1000)
    assert np.array_equal(y, x + 1)
    best = tuned_layouts.best_config
    assert (best.kwargs["LAYOUT"], best.num_warps) in [(LAYOUTS[1], 4), (LAYOUTS[4], 4), (LAYOUTS[2], 8)]
    assert len(tuned_layouts.configs_timings) == 3, "each configuration was compiled for its own number of warps"


@gluon.jit
def in_layout(x, LAYOUT: gl.constexpr):
    at = gl.arange(0, 512, LAYOUT)
    gl.store(x + at, at)


def test_keys_of_the_cache_have_the_layout_and_the_number_of_warps(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))

    def compiled(n, warps, maxnreg=None):
        source = in_layout.ASTSource(in_layout, {"x": "*i32"}, {"LAYOUT": gl.BlockedLayout([n], [32], [warps], [0])})
        options = {"num_warps": warps, "maxnreg": maxnreg}
        return tritium.compile(source, target=GPUTarget("cuda", 90, 32), options=options, until="ttgir").hash

    same = compiled(1, 4), compiled(1, 4)
    assert same[0] == same[1]
    assert len({same[0], compiled(2, 4), compiled(1, 8), compiled(1, 4, 64)}) == 4


BASE_LAYOUT = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))


@gluon.jit
def in_global_layout(x):
    at = gl.arange(0, 512, BASE_LAYOUT)
    gl.store(x + at, at)


@pytest.mark.usefixtures("hopper")
def test_a_layout_that_changes_in_the_module_is_noticed(monkeypatch):
    x = np.zeros(512, np.int32)
    in_global_layout[(1,)](x)
    monkeypatch.setitem(globals(), "BASE_LAYOUT", gl.constexpr(gl.BlockedLayout([4], [32], [4], [0])))
    with pytest.raises(RuntimeError, match="BASE_LAYOUT"):
        in_global_layout[(1,)](x)


@gluon.jit
def scoped(x, y, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout)
    event = pl.allocate_event("copy")
    with pl.scope("load"):
        value = gl.load(x + at, at < n, 0.0)
    pl.enter_scope("store")
    pl.start_event(event)
    for _ in range(2):
        gl.store(y + at, 2 * value, at < n)
    pl.end_event(event)
    pl.exit_scope("store")


@gluon.jit
def badly_scoped(x):
    pl.enter_scope(x)


@pytest.mark.usefixtures("hopper")
def test_scopes_of_the_profiler_change_nothing(tmp_path):
    x, y = np.random.randn(700).astype(np.float32), np.zeros(700, np.float32)
    scoped[(2,)](x, y, 700, 512)
    assert np.array_equal(y, 2 * x)
    with pytest.raises(CompilationError, match=r"test_tools.py:\d+:5: .*enter_scope takes the name of a scope"):
        badly_scoped[(1,)](x)


@pytest.mark.usefixtures("hopper")
def test_profiles_have_gluon_kernels_in_their_scopes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x, y = np.zeros(700, np.float32), np.zeros(700, np.float32)
    session = proton.start("gluon", hook="triton")
    with proton.scope("copy", {"bytes": 5600}):
        for _ in range(2):
            scaled[(2,)](x, y, 700, 512)
    (root, _) = proton.data.get(session)
    proton.finalize()
    (scope,) = root["children"]
    assert scope["frame"]["name"] == "copy" and scope["metrics"]["bytes"] == 5600
    (kernel,) = scope["children"]
    assert kernel["frame"]["name"] == "scaled" and kernel["metrics"]["count"] == 2


@pytest.mark.usefixtures("hopper")
def test_traces_and_lines_of_gluon_kernels(tmp_path):
    path = tmp_path / "trace.jsonl"
    with settings.compilation.scope(), settings.cache.scope():
        settings.compilation.trace = str(path)
        settings.cache.dir = str(tmp_path / "cache")
        kernel = scaled.warmup(np.zeros(4, np.float32), np.zeros(4, np.float32), 4, 256, grid=(1,))
    records = [json.loads(line) for line in path.read_text().splitlines()]
    text = path.read_text()
    assert records and all(name in text for name in ("resolve-auto-encodings", "ttgir", "llir"))
    assert re.search(r"\.loc\s+\d+ \d+ \d+", kernel.asm["ptx"]) and "test_tools.py" in kernel.asm["ptx"]
