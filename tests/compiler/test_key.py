"""The key of a kernel in the cache: everything that changes code changes it, and nothing else does.

What is compiled here is never run, for targets by name: the keys and the code are those of every machine.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tritium
from tritium import knobs
from tritium.backends.nvidia.toolchain import tool_release
from tritium.compiler import ASTSource, GPUTarget, IRSource, get_cache_key, make_backend
from tritium.support import settings

ROOT = Path(__file__).resolve().parents[2]
CPU, CUDA = GPUTarget("cpu", "x86-64-v3", 1), GPUTarget("cuda", 90, 32)

MODULE = """
import tritium as triton
import tritium.language as tl
from helpers import Shape, offset

SCALE = tl.constexpr({scale})
UNREAD = {unread}

@triton.jit
def square(x):
    return x * x + {callee}

@triton.jit
def other(x):
    return x

@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = square(tl.load(x + i, mask=i < n, other=0.0)) * SCALE + offset(2) + Shape.WIDTH
    tl.device_assert(i < {body})
    tl.store(y + i, tl.softmax(v) + tl.rand(3, i), mask=i < n)
"""
HELPERS = """
{imports}
import tritium as triton
STEP = {step}

def inner(x):
    return x + {inner}

@triton.constexpr_function
def offset(x):
    return inner(x) * {python} + STEP

def unread(x):
    return {python_unread}

class Shape:
    WIDTH = {width}
"""
DEFAULTS = {
    "scale": "2.0", "unread": "1", "callee": "1.0", "body": "4096", "imports": "", "step": "1", "inner": "1",
    "python": "3", "python_unread": "1", "width": "16",
}  # fmt: skip
TYPES = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
ATTRS = {(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]}


def load(folder: Path, name: str = "keyed", text: str = MODULE, **changes: str):
    """The module written out with some things changed, read anew."""
    folder.mkdir(parents=True, exist_ok=True)
    values = {**DEFAULTS, **changes}
    (folder / "helpers.py").write_text(HELPERS.format(**values))
    (folder / f"{name}.py").write_text(text.format(**values))
    sys.modules.pop("helpers", None)
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("helpers", None)
    return module


def source(fn, types=TYPES, constants=None, attrs=ATTRS) -> ASTSource:
    return ASTSource(fn, types, constants or {"BLOCK": 128}, attrs)


def key(src, target=CPU, options=None, stage_key: str = "") -> str:
    backend = make_backend(target)
    return get_cache_key(src, backend, backend.parse_options(options or {}), stage_key)


# ---- the source -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, differs",
    [
        ({}, False),
        ({"unread": "2"}, False),
        ({"python_unread": "2"}, False),
        ({"imports": "import os"}, False),
        ({"scale": "3.0"}, True),
        ({"scale": "2"}, True),
        ({"callee": "2.0"}, True),
        ({"body": "4095"}, True),
        ({"python": "4"}, True),
        ({"inner": "2"}, True),
        ({"step": "2"}, True),
        ({"step": "1.0"}, True),
        ({"width": "32"}, True),
    ],
)
@pytest.mark.parametrize("target", [CPU, CUDA], ids=["cpu", "cuda"])
def test_what_is_read_and_what_is_not(tmp_path: Path, change: dict[str, str], differs: bool, target) -> None:
    plain, changed = source(load(tmp_path).kernel), source(load(tmp_path, **change).kernel)
    before, after = key(plain, target), key(source(load(tmp_path).kernel), target)
    assert before == after
    if not differs and "imports" not in change:
        assert key(changed, target) == before
    elif differs:
        assert key(changed, target) != before


def test_code_differs_where_python_helpers_do(tmp_path: Path) -> None:
    """The same in what is compiled, through the cache: a stale entry would give the old constant."""
    texts = []
    for number in ("3", "5"):
        fn = load(tmp_path, python=number).kernel
        texts.append(tritium.compile(source(fn), CPU).asm["ttir"])
    assert texts[0] != texts[1]


def test_types_constants_and_attributes(tmp_path: Path) -> None:
    fn = load(tmp_path).kernel
    keys = [
        key(source(fn)),
        key(source(fn, {**TYPES, "x": "*fp16"})),
        key(source(fn, {**TYPES, "n": "i64"})),
        key(source(fn, constants={"BLOCK": 64})),
        key(source(fn, constants={"BLOCK": 128.0})),
        key(source(fn, constants={"BLOCK": True})),
        key(source(fn, attrs={})),
        key(source(fn, attrs={(0,): [["tt.divisibility", 8]], (1,): [["tt.divisibility", 16]]})),
        key(source(fn), stage_key="hook"),
    ]
    assert len(set(keys)) == len(keys)
    backwards = source(fn, dict(reversed(TYPES.items())), attrs=dict(reversed(ATTRS.items())))
    assert key(backwards) == keys[0]
    sets = [key(source(fn, constants={"BLOCK": frozenset(values)})) for values in (("a", "b", "c"), ("c", "b", "a"))]
    assert sets[0] == sets[1]


def test_lines_and_files_count_where_the_code_names_them(tmp_path: Path) -> None:
    here, lower = load(tmp_path / "a").kernel, load(tmp_path / "a", text="\n\n" + MODULE).kernel
    there = load(tmp_path / "b").kernel
    asserts = {"debug": True}
    for fn in (lower, there):
        assert key(source(fn), CPU) == key(source(here), CPU)  # machine code has no positions
        assert key(source(fn), CPU, asserts) != key(source(here), CPU, asserts)
        assert key(source(fn), CUDA) != key(source(here), CUDA)  # line tables
    cached = [tritium.compile(source(fn), CPU) for fn in (here, lower, there)]
    assert [bool(kernel.times) for kernel in cached] == [True, False, False]
    with knobs.cache.scope():
        knobs.cache.disable = True
        every = [tritium.compile(source(fn), CPU).asm for fn in (here, lower, there)]
    assert [kernel.asm.items() for kernel in cached] == [asm.items() for asm in every]
    assert all(asm[name] == every[0][name] for asm in every for name in ("llir", "asm", "obj"))


def test_below_the_root_of_sources_the_folder_does_not_count(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")
    keys, stages = [], []
    for place in ("alice/work", "bob"):
        monkeypatch.setenv("TRITIUM_SOURCE_ROOT", str(tmp_path / place))
        fn = load(tmp_path / place / "kernels").kernel
        keys.append(key(source(fn), CUDA))
        stages.append(tritium.compile(source(fn), CUDA, until="ptx").asm.items())
    assert keys[0] == keys[1]
    assert stages[0] == stages[1]
    assert '"kernels/keyed.py"' in dict(stages[0])["ptx"]


def test_cells_of_notebooks_are_named_after_their_text() -> None:
    from tritium.frontend.source import stable_path

    assert (
        stable_path("/tmp/ipykernel_4711/123.py") == stable_path("/tmp/ipykernel_9/123.py") == "/tmp/ipykernel/123.py"
    )
    assert stable_path("<ipython-input-7-ab12>") == stable_path("<ipython-input-8-ab12>") == "<ipython-input-ab12>"
    assert stable_path("/home/a/k.py") == "/home/a/k.py"
    assert stable_path(tritium.__file__) == "tritium/__init__.py"


def test_text_of_a_stage(tmp_path: Path) -> None:
    text = tritium.compile(source(load(tmp_path).kernel), CUDA, until="ttir").asm["ttir"]
    keys = []
    for name, body in (("a/k.ttir", text), ("b/k.ttir", text), ("a/l.ttir", text), ("a/k.ttir", text + "\n// x\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(body)
        keys.append(key(IRSource(tmp_path / name), CUDA))
    assert keys[0] == keys[1] and len(set(keys)) == 3


# ---- options, targets, versions -------------------------------------------------------------------------------------


def test_options(tmp_path: Path) -> None:
    src = source(load(tmp_path).kernel)
    for target in (CPU, CUDA):
        plain = key(src, target)
        assert key(src, target, {"num_warps": 4, "num_stages": 3}) == plain
        chosen = {"num_warps": 8, "num_stages": 4, "enable_fp_fusion": False}
        assert key(src, target, chosen) == key(src, target, dict(reversed(chosen.items()))) != plain
        assert len({key(src, target, {name: value}) for name, value in chosen.items()} | {plain}) == 4
    assert key(src, CPU, {"num_threads": 3}) == key(src, CPU)  # how it is launched, not what it is


def test_targets_and_stages(tmp_path: Path) -> None:
    src = source(load(tmp_path).kernel)
    targets = [CPU, GPUTarget("cpu", "x86-64-v4", 1), CUDA, GPUTarget("cuda", 80, 32), GPUTarget("hip", "gfx942", 64)]
    assert len({key(src, t) for t in targets}) == len(targets)
    whole, half = tritium.compile(src, CUDA, until="ptx"), tritium.compile(src, CUDA, until="ttir")
    assert whole.hash != half.hash


def test_libraries_are_keyed_by_contents(tmp_path: Path) -> None:
    src = source(load(tmp_path).kernel)
    for name, body in (("a.bc", b"1"), ("b.bc", b"1"), ("c.bc", b"2")):
        (tmp_path / name).write_bytes(body)
    a, b, c = (key(src, CUDA, {"extern_libs": {"lib": str(tmp_path / f"{n}.bc")}}) for n in "abc")
    assert a == b != c
    (tmp_path / "b.bc").write_bytes(b"3")
    os.utime(tmp_path / "b.bc", (1, 1))
    assert key(src, CUDA, {"extern_libs": {"lib": str(tmp_path / "b.bc")}}) != a


def test_the_device_library_and_llvm(tmp_path: Path, monkeypatch) -> None:
    src = source(load(tmp_path).kernel)
    keys = []
    for name, body in (("a.bc", b"1"), ("b.bc", b"1"), ("c.bc", b"2")):
        (tmp_path / name).write_bytes(body)
        monkeypatch.setenv("TRITON_LIBDEVICE_PATH", str(tmp_path / name))
        keys.append(key(src, CUDA))
    assert keys[0] == keys[1] != keys[2]
    monkeypatch.delenv("TRITON_LIBDEVICE_PATH")
    assert key(src, CUDA) not in keys
    for module, target in (("nvidia", CUDA), ("cpu", CPU)):
        before = key(src, target)
        monkeypatch.setattr(f"tritium.backends.{module}.compiler.llvm_release", lambda: "99.0.0/1")
        assert key(src, target) != before


def test_the_assembler_counts_by_its_release(tmp_path: Path, monkeypatch) -> None:
    src = source(load(tmp_path).kernel)
    found = []
    for name, release in (("a", "13.0, V13.0.88"), ("b", "13.0, V13.0.88"), ("c", "13.0, V13.0.90"), ("d", "12.9")):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "ptxas"
        path.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {release}'\n")
        path.chmod(0o755)
        monkeypatch.setenv("TRITON_PTXAS_PATH", str(path))
        tool_release.cache_clear()
        found.append(key(src, CUDA))
    assert found[0] == found[1] and len(set(found)) == 3


def test_the_package_and_python(tmp_path: Path, monkeypatch) -> None:
    src = source(load(tmp_path).kernel)
    plain = key(src)
    monkeypatch.setattr("tritium.compiler.key.package_key", lambda: "another")
    assert key(src) != plain


# ---- settings -------------------------------------------------------------------------------------------------------

#: A value for each setting of another kind than flag, size or integer that it does not have by default.
VALUES = {
    "runtime.override_arch": "sm80",
    "language.fp32_default": "ieee",
    "cache.max_size": "1G",
    "compilation.use_ir_loc": "ttir",
    "runtime.target": "cpu",
    "nvidia.without": "tma",
}

#: Settings that say where a tool is: the tool counts, see above.
PLACES = ("nvidia.ptxas", "nvidia.libdevice_path")


def variables() -> list[tuple[str, str, str, bool]]:
    """(setting, variable, a value that is not the default, whether it changes code) of every variable."""
    found = []
    for group_name, group in settings.GROUPS.items():
        for name, setting in group.settings().items():
            label = f"{group_name}.{name}"
            other = VALUES.get(label, "x")
            if isinstance(setting, settings.Flag):
                other = "0" if setting.default else "1"
            elif isinstance(setting, settings.Integer):
                other = str(setting.default + 1)
            if label not in PLACES:
                found += [(label, variable, other, setting.invalidates) for variable in setting.env]
    return found


@pytest.mark.parametrize("label, variable, value, differs", variables(), ids=[v for _, v, _, _ in variables()])
def test_every_environment_variable(tmp_path: Path, monkeypatch, label, variable, value, differs) -> None:
    src = source(load(tmp_path).kernel)
    monkeypatch.chdir(tmp_path)  # some of them name folders
    plain = [key(src, CPU), key(src, CUDA)]
    monkeypatch.setenv(variable, value)
    changed = [key(src, CPU), key(src, CUDA)]
    assert [a != b for a, b in zip(plain, changed)] == [differs, differs], label
    monkeypatch.delenv(variable)
    assert [key(src, CPU), key(src, CUDA)] == plain


# ---- the same everywhere --------------------------------------------------------------------------------------------

ELSEWHERE = """
import json, random, sys
from hashlib import sha256
import keyed
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.compiler.cache import KernelCache
options = [("num_warps", 8), ("num_stages", 4), ("enable_fp_fusion", False)]
random.Random(int(sys.argv[1])).shuffle(options)
types = [("x", "*fp32"), ("y", "*fp32"), ("n", "i32"), ("BLOCK", "constexpr")]
random.Random(int(sys.argv[1])).shuffle(types)
for target in (GPUTarget("cpu", "x86-64-v3", 1), GPUTarget("cuda", 90, 32)):
    made = compile(ASTSource(keyed.kernel, dict(types), {"BLOCK": 128}, {(0,): [["tt.divisibility", 16]]}), target, dict(options))
    stages = {n: sha256(t if isinstance(t, bytes) else t.encode()).hexdigest() for n, t in made.asm.items() if t is not None}
    print(json.dumps([made.hash, stages, sha256(KernelCache().path(made.hash).read_bytes()).hexdigest()]))
"""


def test_keys_stages_and_files_are_the_same_in_every_process_and_checkout(tmp_path: Path) -> None:
    """Other hash seeds, working folders, folders of Tritium, orders of options; caches of their own, so all is made."""
    load(tmp_path / "kernels")
    (tmp_path / "elsewhere.py").write_text(ELSEWHERE)
    shutil.copytree(
        ROOT / "tritium", tmp_path / "deep" / "checkout" / "tritium", ignore=shutil.ignore_patterns("__pycache__")
    )
    found = []
    for seed, package, cwd in (("1", ROOT, ROOT), ("77", tmp_path / "deep" / "checkout", tmp_path)):
        env = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join([str(package), str(tmp_path / "kernels")]),
            "TRITIUM_CACHE_DIR": str(tmp_path / f"cache{seed}"),
        }
        os.utime(tmp_path / "kernels" / "keyed.py", (int(seed), int(seed)))  # when it was saved does not matter
        command = [sys.executable, str(tmp_path / "elsewhere.py"), seed]
        done = subprocess.run(command, env=env, capture_output=True, text=True, cwd=cwd)
        assert done.returncode == 0, done.stderr
        found.append([json.loads(line) for line in done.stdout.splitlines()])
    assert found[0] == found[1]
    assert [list(stages) for _, stages, _ in found[0]] == [
        ["source", "ttir", "ttcir", "llir", "asm", "obj"],
        ["source", "ttir", "ttgir", "llir", "ptx", "cubin"],
    ]
