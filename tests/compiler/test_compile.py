"""`compile` and its cache: what makes a new key, what a hit skips, what a failure leaves, listeners, options."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import tritium
from tests.runtime.fake import KERNELS, Target, program
from tritium import knobs
from tritium.backends.cpu import BackendError, CPUOptions, host_target, named_target
from tritium.compiler import ASTSource, CacheWarning, SourceError, TargetError, get_cache_key, make_backend
from tritium.compiler.kernel import LazyStages
from tritium.compiler.stage_files import folder_name

ROOT = Path(__file__).resolve().parents[2]


def empty(x, n, BLOCK):
    pass


KERNELS["empty"] = lambda signature, constants: program("", "", "empty")
kernel = tritium.jit(empty)


def source(signature=None, constants=None, attrs=None, fn=kernel) -> ASTSource:
    return ASTSource(
        fn, signature or {"x": "*fp32", "n": "i32"}, {"BLOCK": 64} if constants is None else constants, attrs
    )


def files(folder: Path) -> list[Path]:
    return [p for p in (folder / "kernels").rglob("*") if p.is_file()]


# ---- sources --------------------------------------------------------------------------------------------------------


def test_keys_of_constants_and_attributes() -> None:
    by_name = source(constants={"BLOCK": 64}, attrs={"x": [["tt.divisibility", 16]]})
    by_path = source(constants={(2,): 64}, attrs={(0,): [["tt.divisibility", 16]]})
    by_number = source(constants={2: 64}, attrs={0: [["tt.divisibility", 16]]})
    assert by_name.hash() == by_path.hash() == by_number.hash()
    assert by_name.signature == {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}


@pytest.mark.parametrize(
    "signature, constants, text",
    [
        ({"x": "*fp32", "m": "i32"}, None, "empty has no parameter 'm'; it has: x, n, BLOCK"),
        ({"x": "*fp32"}, None, "no type for parameter 'n' of empty"),
        (None, {"block": 3}, "constexprs: empty has no parameter 'block'"),
        (None, {}, "no type for parameter 'BLOCK'"),
        (None, {"BLOCK": object()}, "no stable text"),
    ],
)
def test_bad_sources(signature, constants, text: str) -> None:
    with pytest.raises(SourceError, match=text):
        source(signature, constants).hash()


def test_hashes_differ_where_meaning_does() -> None:
    values = [64, 64.0, True, 1, "64", None, (1, 2), (1, (2,)), -0.0, 0.0]
    sources = [source(constants={"BLOCK": v}) for v in values]
    sources += [source({"x": "*fp16", "n": "i32"}), source({"x": "*fp32", "n": "i64"})]
    sources += [source(attrs={(0,): [["tt.divisibility", 16]]}), source(attrs={(1,): [["tt.divisibility", 16]]})]
    assert len({s.hash() for s in sources}) == len(sources)


# ---- keys -----------------------------------------------------------------------------------------------------------


def key(options=None, target=None, src=None) -> str:
    backend = make_backend(target or host_target())
    return get_cache_key(src or source(), backend, backend.parse_options(options or {}))


def test_inputs_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [key(), key({"num_warps": 8}), key({"enable_fp_fusion": False}), key(target=named_target("neoverse-n1"))]
    keys.append(key(src=source(constants={"BLOCK": 32})))
    monkeypatch.setenv("TRITON_DEBUG", "1")
    keys.append(key())
    assert len(set(keys)) == len(keys)
    monkeypatch.delenv("TRITON_DEBUG")
    assert key() == keys[0]
    assert key({"num_threads": 3}) == keys[0]  # how it is launched, not what it is


def test_keys_are_the_same_in_every_process() -> None:
    program_text = (
        "from tests.compiler.test_compile import key, source\n"
        "print(key(src=source(constants={'BLOCK': ('a', 1.5)}, attrs={(0,): [['tt.divisibility', 16]]})))"
    )
    found = set()
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-c", program_text], env=env, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


# ---- hits and misses ------------------------------------------------------------------------------------------------


def test_a_hit_runs_no_stage(compiled, cache_dir: Path) -> None:
    seen = []
    with knobs.compilation.scope():
        knobs.compilation.listener = lambda **info: seen.append(info)
        first = tritium.compile(source(), Target())
        second = tritium.compile(source(), Target())
    assert len(compiled) == 1 and len(files(cache_dir)) == 1
    assert [i["cache_hit"] for i in seen] == [False, True]
    assert [i["metadata"]["target"] for i in seen] == [first.metadata.target] * 2
    assert all(isinstance(i["metadata"]["target"], tritium.compiler.GPUTarget) for i in seen)
    assert [n for n, _ in seen[0]["times"].lowering_stages] == ["ttir", "llir", "obj"]
    assert seen[0]["times"].total >= seen[0]["times"].total_lowering > 0
    assert first.times and not second.times
    assert first.asm.items() == second.asm.items()
    assert second.asm["asm"] == first.asm["asm"]
    assert first.metadata == second.metadata and first.hash == second.hash


def test_always_compile_and_no_cache(compiled, cache_dir: Path) -> None:
    tritium.compile(source(), Target())
    with knobs.compilation.scope():
        knobs.compilation.always_compile = True
        tritium.compile(source(), Target())
    assert len(compiled) == 2
    with knobs.cache.scope():
        knobs.cache.disable = True
        tritium.compile(source(constants={"BLOCK": 2}), Target())
    assert len(compiled) == 3 and len(files(cache_dir)) == 1


def test_binary_only(compiled) -> None:
    with knobs.compilation.scope():
        knobs.compilation.store_binary_only = True
        tritium.compile(source(), Target())
        assert list(tritium.compile(source(), Target()).asm) == ["obj"]


def test_a_damaged_entry_is_replaced(compiled, cache_dir: Path) -> None:
    tritium.compile(source(), Target())
    path = files(cache_dir)[0]
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.warns(CacheWarning, match="damaged cache entry"):
        again = tritium.compile(source(), Target())
    assert len(compiled) == 2
    assert path.read_bytes() != whole[:-100]
    assert tritium.compile(source(), Target()).kernel == again.kernel
    assert len(compiled) == 2


def test_failed_compile_leaves_no_entry(compiled, cache_dir: Path) -> None:
    def bad(x, n, BLOCK):
        pass

    KERNELS["bad"] = lambda signature, constants: "define void @bad( {"
    broken = tritium.jit(bad)
    for _ in range(2):
        with pytest.raises(BackendError):
            tritium.compile(source(fn=broken), Target())
        with pytest.raises(BackendError):
            broken[(1,)](np.zeros(3, np.float32), 3, 4)
    assert files(cache_dir) == []
    assert gc.isenabled()
    kernel[(1,)](np.zeros(3, np.float32), 3, BLOCK=4)
    assert len(files(cache_dir)) == 1


def test_without_a_writable_folder_kernels_run(compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(CacheWarning, match="cannot be kept"):
        tritium.compile(source(), Target())
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)
        tritium.compile(source(constants={"BLOCK": 8}), Target())
    assert len(compiled) == 2


def test_collection_is_off_only_meanwhile(compiled) -> None:
    during = []
    KERNELS["watched"] = lambda signature, constants: during.append(gc.isenabled()) or program("", "", "watched")

    def watched(x, n, BLOCK):
        pass

    tritium.compile(source(fn=tritium.jit(watched)), Target())
    assert during == [False] and gc.isenabled()
    gc.disable()
    try:
        tritium.compile(source(constants={"BLOCK": 5}, fn=tritium.jit(watched)), Target())
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_dump(compiled, tmp_path: Path) -> None:
    with knobs.compilation.scope(), knobs.cache.scope():
        knobs.compilation.dump_ir = True
        knobs.cache.dump_dir = str(tmp_path / "dump")
        found = tritium.compile(source(), Target())
    folder = tmp_path / "dump" / folder_name(source().hash())
    assert (folder / "empty.llir").read_text() == found.asm["llir"]
    assert (folder / "empty.obj").read_bytes() == found.asm["obj"]


def test_a_hook_may_change_the_stages(compiled) -> None:
    def hook(backend=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return "my-hook", "1"
        old = stages["ttir"]
        stages["ttir"] = lambda value, metadata: metadata.update(seen=True) or old(value, metadata)
        return None

    plain = tritium.compile(source(), Target())
    with knobs.runtime.scope():
        knobs.runtime.add_stages_inspection_hook = hook
        changed = tritium.compile(source(), Target())
    assert changed.metadata.seen and not hasattr(plain.metadata, "seen")
    assert changed.hash != plain.hash


# ---- options, targets, stages ---------------------------------------------------------------------------------------


def test_unknown_options_and_targets(compiled) -> None:
    with pytest.raises(KeyError, match="num_wraps"):
        tritium.compile(source(), Target(), {"num_wraps": 3})
    with pytest.raises(ValueError, match="power of 2"):
        tritium.compile(source(), Target(), {"num_warps": 3})
    with pytest.raises(TargetError, match="unsupported target"):
        tritium.compile(source(), Target("quantum", "q1", 1))
    with pytest.raises(BackendError, match="unknown CPU target 'z80'"):
        tritium.compile(source(), tritium.compiler.GPUTarget("cpu", "z80", 1))


def test_metadata_has_every_option(compiled) -> None:
    found = tritium.compile(source(), Target(), {"num_warps": 2, "num_stages": 5})
    for name in CPUOptions.__dataclass_fields__:
        assert hasattr(found.metadata, name)
    assert (found.metadata.num_warps, found.metadata.num_stages) == (2, 5)
    assert found.metadata.target == tritium.compiler.GPUTarget("fake", "host", 1)


def test_lazy_stages() -> None:
    made = []
    stages = LazyStages(["a", "b", "c"], {"a": 1, "c": 3}, {"b": lambda s: made.append(s["a"]) or 2})
    assert list(stages) == ["a", "b", "c"] and "b" in stages and not made
    assert stages.get("z", 7) == 7 and not made
    assert stages.items() == [("a", 1), ("b", 2), ("c", 3)]
    assert stages["b"] == 2 and made == [1]
    with pytest.raises(KeyError):
        stages["z"]


CONCURRENT = """
import sys
import numpy as np
from tests.runtime.fake import KERNELS, COMPILED, fake_backend, program
import tritium
import tritium.compiler.source

class Patch:
    def setattr(self, name, value):
        tritium.compiler.source.ASTSource.make_ir = value

def kernel(x, N: "constexpr"):
    pass

KERNELS["kernel"] = lambda s, c: program("", f"@tag = global i32 {c['N']}")
kernel = tritium.jit(kernel)
with fake_backend(Patch()):
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(2, 14):
        k = kernel[(3,)](np.zeros(4, np.float32), n)
        assert f"global i32 {n}" in k.asm["llir"], n
print("done", len(COMPILED))
"""


def test_two_processes_compile_the_same_kernels(cache_dir: Path, tmp_path: Path) -> None:
    script = tmp_path / "racing.py"  # a kernel needs a file that holds its source
    script.write_text(CONCURRENT)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error::UserWarning"}

    def start() -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, str(script)], stdin=pipe, stdout=pipe, stderr=pipe, env=env, text=True, cwd=ROOT
        )

    def finish(processes: list[subprocess.Popen[str]]) -> list[int]:
        for p in processes:
            assert p.stdout.readline() == "ready\n", p.communicate()
        for p in processes:
            p.stdin.write("\n")
            p.stdin.flush()
        outputs = [p.communicate(timeout=120) for p in processes]
        assert all(p.returncode == 0 for p in processes), outputs
        return [int(out.split()[-1]) for out, _ in outputs]

    assert max(finish([start(), start()])) > 0
    assert len(files(cache_dir)) == 12
    assert finish([start()]) == [0]
