"""The oracle itself: it answers, it complains, it survives."""

from __future__ import annotations

import textwrap
import time

import pytest

from tests.triton_oracle import TritonError, find_interpreter

ADD = textwrap.dedent("""\
    module {
      tt.func public @add(%x: !tt.ptr<f32>, %n: i32) {
        %v = arith.addi %n, %n : i32
        %p = tt.addptr %x, %v : !tt.ptr<f32>, i32
        %q = tt.addptr %x, %v : !tt.ptr<f32>, i32
        %l = tt.load %p : !tt.ptr<f32>
        tt.store %q, %l : !tt.ptr<f32>
        tt.return
      }
    }
    """)


def test_oracle_parses_its_output(triton_oracle):
    text = triton_oracle.read(ADD)
    assert triton_oracle.read(text) == text
    assert "loc(" not in text
    assert "loc(" in triton_oracle.read(ADD, locations=True)


def test_invalid_module_is_an_error(triton_oracle):
    with pytest.raises(TritonError, match='input.mlir":3:21.*expects different type'):
        triton_oracle.read(ADD.replace("addi %n, %n : i32", "addi %x, %n : i32"))
    assert "@add" in triton_oracle.read(ADD)


def test_oracle_reads_in_milliseconds(triton_oracle):
    triton_oracle.read(ADD)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        triton_oracle.read(ADD)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.2


def test_runs_passes(triton_oracle):
    assert triton_oracle.run_passes(ADD, ["cse"]).count("addptr") == 1
    with pytest.raises(TritonError, match="no pass"):
        triton_oracle.run_passes(ADD, ["nonsense"])


def test_compiles_text(triton_oracle):
    stages = triton_oracle.compile_text(ADD, "cuda:90", num_warps=2)
    assert ".visible .entry add" in stages["ptx"]
    assert int(stages["cubin"].split()[0]) > 100
    assert '"ttg.num-warps" = 2' in stages["ttgir"]


def test_compiles_a_kernel(triton_oracle, tmp_path):
    file = tmp_path / "kernels.py"
    file.write_text(
        "import triton\nimport triton.language as tl\n\n@triton.jit\ndef double(x, N: tl.constexpr):\n"
        "    i = tl.arange(0, N)\n    tl.store(x + i, tl.load(x + i) * 2)\n"
    )
    stages = triton_oracle.compile_kernel(file, "double", {"x": "*fp32"}, {"N": 128}, "hip:gfx942", {"x": 16})
    assert "tt.divisibility = 16" in stages["ttir"]
    assert "amdgcn" in stages


def test_survives_a_crash(triton_oracle):
    triton_oracle.read(ADD)
    triton_oracle.process.kill()
    triton_oracle.process.wait()
    assert "@add" in triton_oracle.read(ADD)
    with pytest.raises(TritonError, match="did not answer"):
        triton_oracle.ask("compile_text", timeout=0.0, text=ADD, target="cuda:90", kind="ttir", options={})
    assert "@add" in triton_oracle.read(ADD)


def test_no_interpreter_is_found_by_our_alias(monkeypatch):
    monkeypatch.delenv("TRITIUM_TEST_TRITON", raising=False)
    found = find_interpreter()
    monkeypatch.setenv("TRITIUM_TEST_TRITON", "/nonexistent/python")
    with pytest.raises(pytest.fail.Exception, match="no program"):
        find_interpreter()
    assert found is None or found.startswith("/")
