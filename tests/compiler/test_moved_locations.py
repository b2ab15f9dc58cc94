"""Locations in the text of cached stages after the functions of a kernel have moved."""

from __future__ import annotations

import importlib.util
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

import tritium
from tritium import knobs
from tritium.compiler import ASTSource, CompiledKernel, Entry, GPUTarget, IRSource
from tritium.compiler.moved_locations import Move, moves, relocated

CPU, CUDA = GPUTarget("cpu", "x86-64-v3", 1), GPUTarget("cuda", 90, 32)
STAGES = ("source", "ttir", "ttcir")

HEAD = "import tritium as triton\nimport tritium.language as tl\n"
HELPER = """
@triton.jit
def helper(x):
    return x * 2 + 1
"""
KERNEL = """
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    for _ in range(n):
        v += helper(v)
    tl.store(y + i,
             v + tl.sum(v), mask=i < n)
"""
FACTORY = """
def make(inner):
    @triton.jit
    def step(x):
        return x + 1 if inner is None else inner(x) * 3
    return step
one = make(None)
helper = make(one)
"""


def source_of(path: Path, text: str) -> ASTSource:
    """The kernel of a module `moved` with this text, in this file."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("moved", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    types = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    return ASTSource(module.kernel, types, {"BLOCK": 64})


def texts(kernel: CompiledKernel) -> dict[str, str]:
    """The stages with locations."""
    return {name: kernel.asm[name] for name in STAGES}


def uncached(src: Any) -> CompiledKernel:
    """A compile without the cache."""
    with knobs.cache.scope():
        knobs.cache.disable = True
        return tritium.compile(src, CPU)


def indented(text: str) -> str:
    """The text in a block of an `if`."""
    return "if True:\n" + "".join(f"    {line}\n" if line else "\n" for line in text.split("\n"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, and files that are read again when they change."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


MOVED = {
    "down": ("a/moved.py", HEAD + "\n\n\n" + HELPER + KERNEL),
    "up": ("a/moved.py", HEAD[:-1] + HELPER + KERNEL),
    "apart": ("a/moved.py", HEAD + HELPER + "\n" * 20 + KERNEL),
    "in the other order": ("a/moved.py", HEAD + KERNEL + HELPER),
    "indented": ("a/moved.py", HEAD + HELPER + indented(KERNEL)),
    "another folder": ("other folder/moved.py", HEAD + HELPER + KERNEL),
    "another file name": ("a/naïve.py", HEAD + "\n" + HELPER + KERNEL),
}


@pytest.mark.parametrize("case", MOVED)
def test_locations_of_a_hit_are_those_of_a_new_compile(tmp_path: Path, case: str) -> None:
    first = tritium.compile(source_of(tmp_path / "a" / "moved.py", HEAD + HELPER + KERNEL), CPU)
    name, text = MOVED[case]
    src = source_of(tmp_path / name, text)
    hit, new = tritium.compile(src, CPU), uncached(src)
    assert hit.hash == first.hash and not hit.times
    assert texts(hit) == texts(new) != texts(first)
    assert hit.asm["llir"] == first.asm["llir"]


def test_every_target_prints_locations(tmp_path: Path) -> None:
    src = source_of(tmp_path / "moved.py", HEAD + HELPER + KERNEL)
    for target in (CPU, CUDA, GPUTarget("hip", "gfx942", 64)):
        text = tritium.compile(src, target, until="ttir").asm["ttir"]
        assert f'loc("{tmp_path / "moved.py"}":11:17)' in text and text.endswith("\n")


def test_closures_with_one_name_move_separately(tmp_path: Path) -> None:
    head = HEAD + FACTORY
    tritium.compile(source_of(tmp_path / "moved.py", head + KERNEL), CPU)
    src = source_of(tmp_path / "moved.py", "\n\n" + head + "\n" + KERNEL)
    hit = tritium.compile(src, CPU)
    assert not hit.times and texts(hit) == texts(uncached(src))


def test_a_text_file_with_another_name(tmp_path: Path) -> None:
    (tmp_path / "a.ttir").write_text("tt.func public @k(%x: !tt.ptr<f32>) {\n  tt.return\n}\n")
    (tmp_path / "b.ttir").write_bytes((tmp_path / "a.ttir").read_bytes())
    first = tritium.compile(IRSource(tmp_path / "a.ttir"), CPU)
    hit = tritium.compile(IRSource(tmp_path / "b.ttir"), CPU)
    assert not hit.times and 'loc("a.ttir":2:3)' in first.asm["ttir"]
    assert hit.asm["ttir"] == first.asm["ttir"].replace("a.ttir", "b.ttir")


def test_moved_locations_are_computed_on_access_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tritium.compile(source_of(tmp_path / "moved.py", HEAD + HELPER + KERNEL), CPU)
    calls: list[str] = []

    def counted(text: str, entry: Entry, src: Any) -> str:
        calls.append(text)
        return text

    monkeypatch.setattr(sys.modules["tritium.compiler.compile"]._moved, "current_text", counted)
    hit = tritium.compile(source_of(tmp_path / "moved.py", HEAD + "\n" + HELPER + KERNEL), CPU)
    _ = hit.kernel, hit.asm["llir"], list(hit.asm)
    assert not calls
    _ = hit.asm["ttir"], hit.asm["ttir"]
    assert len(calls) == 1


def test_copies_of_stages_have_current_locations(tmp_path: Path) -> None:
    first = tritium.compile(source_of(tmp_path / "moved.py", HEAD + HELPER + KERNEL), CPU)
    assert "moved.py" in Path(first.metadata_group["kernel.ttir"]).read_text()
    src = source_of(tmp_path / "moved.py", HEAD + "\n" + HELPER + KERNEL)  # texts of the same length
    hit, new = tritium.compile(src, CPU), uncached(src)
    assert Path(hit.metadata_group["kernel.ttir"]).read_text() == new.asm["ttir"]
    assert pickle.loads(pickle.dumps(tritium.compile(src, CPU).asm))["ttir"] == new.asm["ttir"]


def test_code_with_line_information_has_positions_in_its_key(tmp_path: Path) -> None:
    plain = source_of(tmp_path / "moved.py", HEAD + HELPER + KERNEL)
    first = tritium.compile(plain, CUDA, until="ttir")
    for text in (HEAD + "\n" + HELPER + KERNEL, HEAD + HELPER + indented(KERNEL[1:])):  # a line, or columns
        moved = tritium.compile(source_of(tmp_path / "moved.py", text), CUDA, until="ttir")
        assert moved.times and moved.hash != first.hash


def test_relocated_shifts_locations_inside_the_function_only() -> None:
    move = Move('"a.py"', 5, 3, '"b c.py"', 10, 4)
    text = '"a.py":4:1 "a.py":5:1 "a.py":7:9 to 7:12 "a.py":6:2 to :4 "a.py":8:1 "x.py":6:1 value = "a.py" : i32'
    assert relocated(text, [move]) == (
        '"a.py":4:1 "b c.py":15:5 "b c.py":17:13 to 17:16 "b c.py":16:6 to :8 "a.py":8:1 "x.py":6:1 value = "a.py" : i32'
    )


@pytest.mark.parametrize("described", [b"{}", b"[", b'{"seen at":{}}', b'{"seen at":{"a":"f:1:1","b":"f:2:1"}}'])
def test_moves_of_an_entry_without_matching_positions_are_none(tmp_path: Path, described: bytes) -> None:
    src = source_of(tmp_path / "moved.py", HEAD + HELPER.replace("helper", "unused") + KERNEL.replace("helper", "abs"))
    assert moves(Entry({}, {}, described), src) == []
