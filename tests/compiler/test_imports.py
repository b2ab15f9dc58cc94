"""What a process imports until its first kernel is compiled, or found in the cache: counted, since each file costs time.

The numbers are what it takes today and some more; whoever goes beyond them looks at what a compile has no use for
(`python -X importtime`) before raising them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COMPILE = """
import sys
sys.path.insert(0, {examples!r})
from vector_add import add_kernel
import tritium
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource, compile
types = {{"x_ptr": "*fp32", "y_ptr": "*fp32", "output_ptr": "*fp32", "n_elements": "i32", "BLOCK_SIZE": "constexpr"}}
source = ASTSource(add_kernel, types, constexprs={{"BLOCK_SIZE": 1024}})
compile(source, target=GPUTarget("cuda", 90, 32), until={until!r}).asm
"""
SLOW = {
    "pathlib",
    "subprocess",
    "inspect",
    "dataclasses",
    "_hashlib",
    "difflib",
    "tempfile",
    "pkgutil",
    "numpy",
    "torch",
    "llvmlite.binding",
}


def modules_of(code, folder):
    """The names in `sys.modules` at the end of a process."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("TRITON", "TRITIUM"))}
    environment["TRITIUM_CACHE_DIR"] = str(folder)
    script = code + "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A cache that is empty at first."""
    return tmp_path_factory.mktemp("cache")


def ours(modules):
    return {name for name in modules if name.partition(".")[0] == "tritium"}


def test_the_package_alone(folder):
    found = modules_of("import tritium", folder) - modules_of("", folder)
    assert len(ours(found)) <= 14, sorted(ours(found))
    assert len(found) <= 60 and not found & (SLOW | {"ctypes", "ast", "pathlib", "subprocess"}), sorted(found)


def test_a_compile_and_a_kernel_from_the_cache(folder):
    empty = modules_of("", folder)
    code = COMPILE.format(examples=str(EXAMPLES), until="ptx")
    compiled, cached = (modules_of(code, folder) - empty for _ in range(2))
    assert len(ours(compiled)) <= 320 and len(compiled) <= 355, (len(ours(compiled)), len(compiled))
    assert not compiled & SLOW, sorted(compiled & SLOW)
    rooms = {name.split(".")[1] for name in ours(cached) if "." in name}
    assert not rooms & {"transforms", "conversion", "emulator", "tools", "profiler"}, sorted(rooms)
    assert len(ours(cached)) <= 164 and not cached & SLOW, (len(ours(cached)), sorted(cached & SLOW))
