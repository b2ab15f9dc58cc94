"""Why a compile found nothing in the cache: what of the key differs from the entry most like it."""

from __future__ import annotations

from pathlib import Path

import pytest

import tritium
from tests.compiler.test_key import ATTRS, CPU, CUDA, MODULE, TYPES, load, source
from tritium import knobs
from tritium.compiler import CacheWarning
from tritium.compiler.why import differences


@pytest.fixture
def misses():
    """What every compile is told of the cache: None for a hit."""
    told: list[object] = []
    with knobs.compilation.scope():
        knobs.compilation.listener = lambda **info: told.append(info["times"].cache_miss)
        yield told


def reasons(misses) -> list[str]:
    return misses.pop().reasons


def compile(src, target=CUDA, options=None, until="ttir"):
    return tritium.compile(src, target, options, until)


def test_the_first_and_a_hit(tmp_path: Path, misses) -> None:
    src = source(load(tmp_path).kernel)
    compile(src)
    assert reasons(misses) == [f"no kernel called kernel has been kept in {tmp_path / 'cache' / 'kernels'}"]
    compile(src)
    assert misses == [None]


def test_one_thing_each(tmp_path: Path, misses, monkeypatch) -> None:
    fn = load(tmp_path).kernel
    first = compile(source(fn))
    misses.clear()

    def told(src=None, target=CUDA, options=None, until="ttir") -> list[str]:
        made = compile(src or source(fn), target, options, until)
        assert misses[-1].nearest.key == first.hash, str(misses[-1])
        (tmp_path / "cache" / "kernels" / made.hash[:2] / f"{made.hash}.kernel").unlink()
        return reasons(misses)

    assert told(options={"num_warps": 8}) == ["option num_warps: 4 -> 8"]
    assert told(source(fn, {**TYPES, "x": "*fp16"})) == ["type of x: *fp32 -> *fp16"]
    assert told(source(fn, constants={"BLOCK": 64})) == ["constant BLOCK: 128 -> 64"]
    assert told(source(fn, attrs={(0,): ATTRS[0,]})) == ["attributes of y: tt.divisibility=16 -> none"]
    assert told(target=tritium.compiler.GPUTarget("cuda", 80, 32)) == ["target: cuda:90 -> cuda:80"]
    assert told(until="ttgir") == ["stages, by until=, a hook or files in their place: until:ttir -> until:ttgir"]
    monkeypatch.setenv("DISABLE_LLVM_OPT", "1")
    assert told() == ["environment DISABLE_LLVM_OPT: unset -> True"]
    monkeypatch.delenv("DISABLE_LLVM_OPT")
    with monkeypatch.context() as m:
        m.setattr("tritium.compiler.key.package_key", lambda: "other")
        assert told() == ["tritium's own sources changed"]
    with monkeypatch.context() as m:
        m.setattr("tritium.backends.nvidia.compiler.llvm_release", lambda: "99.0")
        assert [line.split(":")[0] for line in told()] == ["LLVM"]
    path = tmp_path / "keyed.py"
    assert told(source(load(tmp_path, body="512").kernel)) == [f"the kernel keyed.kernel changed, at {path}:18:1"]
    assert told(source(load(tmp_path, callee="9").kernel)) == [f"the callee keyed.square changed, at {path}:10:1"]
    other = MODULE.replace("square(tl", "other(tl")
    assert told(source(load(tmp_path, text=other).kernel)) == [
        f"the kernel keyed.kernel changed, at {path}:18:1",
        "the callee keyed.square is called no more",
        f"the callee keyed.other is called now, at {path}:14:1",
    ]
    assert told(source(load(tmp_path, scale="3.5").kernel)) == [
        "value SCALE in kernel: constexpr(float:2.0) -> constexpr(float:3.5)"
    ]
    assert told(source(load(tmp_path, inner="7").kernel)) == ["value offset in kernel changed"]
    assert [r[-17:] for r in told(source(load(tmp_path, width="7").kernel))] == ["{builtins.object;WIDTH=int:7}"[-17:]]
    moved = told(source(load(tmp_path, text="\n" + MODULE).kernel))
    assert moved == [
        f"keyed.kernel moved: {path}:18:1 -> {path}:19:1",
        f"keyed.square moved: {path}:10:1 -> {path}:11:1",
    ]


def test_of_several_the_nearest(tmp_path: Path, misses) -> None:
    fn = load(tmp_path).kernel
    far = compile(source(fn), options={"num_warps": 16, "num_stages": 7})
    near = compile(source(fn), options={"num_warps": 8})
    compile(source(fn, constants={"BLOCK": 64}), options={"num_warps": 8})
    assert misses[-1].nearest.key == near.hash != far.hash
    assert str(misses[-1]) == f"beside {near.hash[:12]}, the entry most like it:\n  constant BLOCK: 128 -> 64"


def test_damage_and_switches(tmp_path: Path, misses) -> None:
    src = source(load(tmp_path).kernel)
    made = compile(src, CPU)
    path = next((tmp_path / "cache" / "kernels").rglob("*.kernel"))
    path.write_bytes(path.read_bytes()[:-3] + b"abc")
    with pytest.warns(CacheWarning):
        compile(src, CPU)
    assert reasons(misses) == ["its entry was damaged"]
    with knobs.compilation.scope(), knobs.cache.scope():
        knobs.compilation.always_compile = True
        compile(src, CPU)
        knobs.cache.disable = True
        compile(src, CPU)
    assert [m.reasons[0].split(":")[0] for m in misses[-2:]] == ["everything is compiled", "the cache is off"]
    assert made.hash == misses[-1].key


def test_a_description_that_is_nonsense_is_passed_over(tmp_path: Path, misses) -> None:
    from tritium.compiler import Entry, KernelCache

    fn = load(tmp_path).kernel
    for i, text in enumerate((b"[1]", b"{", b'{"options":3}', b"[" * 100_000)):
        KernelCache().write(f"{i:064x}", Entry({"name": "kernel"}, {"ttir": "x"}, text))
    compile(source(fn))
    assert reasons(misses)[0].startswith("no kernel called kernel")


def test_differences_of_everything_at_once() -> None:
    assert differences({}, {}) == []
    assert differences({"options": {"a": "1"}}, {"options": {}}) == ["option a: 1 -> none"]
    before, after = {"versions": {"ptxas": "13.0.88"}}, {"versions": {"ptxas": "13.1.2"}}
    assert differences(before, after) == ["ptxas: 13.0.88 -> 13.1.2"]
    assert differences(before, {}) == ["ptxas: 13.0.88 -> none"]
