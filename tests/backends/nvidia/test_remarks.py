"""What a compile for NVIDIA's GPUs tells of what is slower than it looks (`MLIR_ENABLE_DIAGNOSTICS`)."""

from __future__ import annotations

from pathlib import Path

import pytest

import tritium
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget


@tritium.jit
def product(a, b, c, TYPE: tl.constexpr):
    rows, columns = tl.arange(0, 64), tl.arange(0, 64)
    at = rows[:, None] * 64 + columns[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at), input_precision=TYPE))


@tritium.jit
def strided(x, y, STEP: tl.constexpr):
    at = tl.arange(0, 1024)
    tl.store(y + at, tl.load(x + at * STEP))


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """What has been compiled is told of again where other things are asked for."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))


def place_of(call: str) -> str:
    """Where the first such call stands in this file."""
    for number, text in enumerate(Path(__file__).read_text().split("\n"), 1):
        if call in text:
            return f"test_remarks.py:{number}:{text.index(call) + 1}"
    raise AssertionError(call)


def told(capfd, kernel, types, constants, capability=90):
    source = ASTSource(kernel, types, constants, {(i,): [["tt.divisibility", 16]] for i in range(len(types))})
    tritium.compile(source, target=GPUTarget("cuda", capability, 32), until="llir")
    return capfd.readouterr().err


def test_products_without_warp_groups(capfd, monkeypatch):
    f32, f16 = dict.fromkeys("abc", "*fp32"), {"a": "*fp16", "b": "*fp16", "c": "*fp32"}
    assert told(capfd, product, f32, {"TYPE": "ieee"}) == ""
    monkeypatch.setenv("MLIR_ENABLE_DIAGNOSTICS", "remarks")
    said = told(capfd, product, f32, {"TYPE": "ieee"})
    assert "remark: Warning: FMA for this dot, not MMA version 3 (wgmma), due to unsupported" in said
    assert place_of("tl.dot(tl") in said and "note:" not in said
    assert told(capfd, product, f32, {"TYPE": "ieee"}, 80) == told(capfd, product, f16, {"TYPE": "tf32"}) == ""
    monkeypatch.setenv("MLIR_ENABLE_DIAGNOSTICS", "remarks,operations")
    assert "note: see current operation: " in told(capfd, product, f32, {"TYPE": "ieee"})


@pytest.mark.parametrize("step", [1, 3])
def test_accesses_without_vectors(capfd, monkeypatch, step):
    monkeypatch.setenv("MLIR_ENABLE_DIAGNOSTICS", "remarks")
    said = told(capfd, strided, {"x": "*fp32", "y": "*fp32"}, {"STEP": step})
    wanted = f"{place_of('tl.load(x')}: remark: Warning: vectorization fails: each thread moves 8 elements one by one"
    assert (wanted in said) == (step == 3) and said.count("remark:") == (step == 3)
