"""Kernels in files whose paths have quotes, backslashes, line breaks and bytes that are no ASCII, or no text."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

from tritium.backends.cpu.machine_code import read_assembly
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.emulator.parser import parse
from tritium.ir import print_op
from tritium.ir.parser import parse_module

NAMES = ['say "hi"', 'back\\slash\\"', "two\nlines\t", "größe ☃", os.fsdecode(b"raw\xff")]

KERNEL = """import tritium
import tritium.language as tl

@tritium.jit
def twice(x):
    return x * 2

@tritium.jit
def kernel(p, n):
    tl.device_assert(n > 0, "positive")
    tl.store(p, twice(n))
"""


def kernel_in(folder: Path, name: str) -> tuple[Any, str]:
    path = folder / name / f"{name}.py"
    try:
        path.parent.mkdir()
        path.write_text(KERNEL)
    except (OSError, UnicodeError):
        pytest.skip("the file system has no such names")
    spec = importlib.util.spec_from_file_location("unusual", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel, str(path)


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_paths_survive_every_stage(name: str, tmp_path: Path) -> None:
    kernel, path = kernel_in(tmp_path, name)
    source = ASTSource(kernel, {"p": "*i32", "n": "i32"}, {})
    gpu = compile(source, GPUTarget("cuda", 90, 32), {"debug": True}, until="ptx").asm
    for stage in ("ttir", "ttgir"):
        module = parse_module(gpu[stage], "stage.mlir")
        assert print_op(module, locations=True).strip() == gpu[stage].strip()
        assert any(at.file == path for op in module.walk() if (at := op.loc.file_position()) is not None)
    line = next(line for line in gpu["ptx"].splitlines() if line.lstrip().startswith(".file"))
    assert line.isascii() and line.count('"') == 2  # ptxas reads no escaped quotes
    found = parse(gpu["ptx"])
    assert path in {i.loc[0] for f in found.functions.values() for i in f.instructions or () if i.loc}
    assert compile(source, GPUTarget("cpu", "x86-64-v3", 1), {"debug": True}, until="llir").asm["llir"]


def test_paths_in_assembly_of_cpus_are_unescaped() -> None:
    text = '\t.file 1 "/a \\"b\\"" "c\\\\d\\303\\251.py"\nkernel:\n\t.loc 1 7 3\n\tret\n'
    assert [(line.file, line.line) for line in read_assembly(text)] == [('/a "b"/c\\dé.py', 7)]
