"""Launch predicates: intervals of expressions contain all values, and the right version of a kernel runs."""

from __future__ import annotations

import json
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.runtime.fake import METADATA, kernel_of, program, slot
from tests.runtime.test_host_maps import MAP, ROW, encode
from tritium.runtime.device_caches import Specialization
from tritium.runtime.fastpath.native import native_fastpath
from tritium.runtime.host_maps import HostMaps
from tritium.runtime.jit import JITFunction
from tritium.runtime.kernel_versions import Versioned
from tritium.runtime.launcher import Launcher
from tritium.runtime.packing import Packer
from tritium.support.launch_predicate import LaunchPredicate


def predicate(nodes: list[Any], conditions: list[Any]) -> LaunchPredicate:
    return LaunchPredicate(json.dumps({"nodes": nodes, "conditions": conditions}).replace('"', "'"))


def holds(nodes: list[Any], condition: list[Any], arguments: Any = (), grid: Any = (1, 1, 1)) -> bool:
    return predicate(nodes, [condition])(arguments, grid)


def _value(node: list[Any], values: list[int], bits: int, rng: random.Random) -> int | None:
    """A value that an expression may have in a kernel; None where it is undefined."""
    name, *operands = node
    if name == "sum":
        return sum(number * int(np.prod([values[i] for i in atoms], dtype=object)) for number, *atoms in operands)
    if name == "index":
        return rng.randrange(operands[0])
    if name == "loop":
        low, high = values[operands[0]], values[operands[1]]
        return rng.randrange(low, high) if low < high else None
    if name in ("either", "below"):
        x, y = (values[i] for i in operands)
        return rng.choice((x, y)) if name == "either" else x if x < y else None
    x, y = values[operands[1]], values[operands[2]]
    if name in ("min", "max"):
        return min(x, y) if name == "min" else max(x, y)
    if y == 0:
        return None
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    result = quotient if name == "div" else x - quotient * y
    half = 1 << (bits - 1)
    return (result + half) % (2 * half) - half


def _random_node(rng: random.Random, count: int, bits: int) -> list[Any]:
    at = [rng.randrange(count) for _ in range(3)]
    return rng.choice([
        ["sum", [rng.randint(-5, 5), at[0]], [rng.randint(-3, 3), at[1], at[2]], [rng.randint(-9, 9)]],
        [rng.choice(["div", "rem", "min", "max"]), bits, at[0], at[1]],
        ["div", bits, at[0], at[1]], ["rem", bits, at[0], at[1]],
        ["either", at[0], at[1]], ["below", at[0], at[1]], ["index", rng.randint(1, 9)], ["loop", at[0], at[1]],
    ])  # fmt: skip


def test_intervals_contain_every_value(seed: int) -> None:
    rng = random.Random(seed)
    defined = 0
    for _ in range(400):
        arguments, grid = [rng.randint(-20, 20) for _ in range(3)], [rng.randint(1, 6) for _ in range(3)]
        nodes: list[Any] = [["arg", 32, i] for i in range(3)] + [["program", i] for i in range(3)] + [["programs", 0]]
        while len(nodes) < 14:
            nodes.append(_random_node(rng, len(nodes), 32))
        last = len(nodes) - 1
        failed = predicate(nodes, [["least", last, 10**30]]).failed(arguments, grid)
        assert failed is not None
        low, high = failed[1]
        for _ in range(20):
            programs = [rng.randrange(n) for n in grid]
            values: list[int] = [*arguments, *programs, grid[0]]
            for node in nodes[7:]:
                value = _value(node, values, 32, rng)
                if value is None:
                    break
                values.append(value)
            else:
                assert low <= values[-1] <= high, (nodes, arguments, grid, values)
                defined += 1
    assert defined > 500


@pytest.mark.parametrize(
    ("grid", "fine"), [(16, True), (1, True), (17, False), (40, False), (0, True)]
)  # fmt: skip
def test_tiles_in_groups_are_not_negative_where_the_grid_is_that_of_the_tiles(grid: int, fine: bool) -> None:
    """`group = min(rows - first, 8)` is negative, or 0, for programs beyond the last tile."""
    nodes = [
        ["program", 0], ["int", 32], ["div", 32, 0, 1], ["arg", 32, 0], ["sum", [1, 3], [-8, 2]], ["int", 8],
        ["min", 32, 4, 5], ["rem", 32, 0, 1], ["div", 32, 7, 6],
    ]  # fmt: skip
    assert holds(nodes, ["least", 8, 0], [4], (grid * 2, 1, 1)) is fine


def test_conditions() -> None:
    x = ["arg", 32, 0]
    assert holds([x], ["multiple", 0, 16], [32]) and not holds([x], ["multiple", 0, 16], [40])
    assert not holds([x], ["multiple", 0, 16], [0]) and not holds([x], ["multiple", 0, 16], [-16])
    assert not holds([["program", 0]], ["multiple", 0, 1], (), (2, 1, 1))
    assert holds(
        [["sum", [1 << 16, 0, 0], [-1]], x][::-1][:1] + [["sum", [1 << 15, 0], [-1]]], ["fits", 1, 32], [1 << 16]
    )
    assert not holds([x, ["sum", [1 << 15, 0]]], ["fits", 1, 32], [1 << 16])
    a, b, i = ["arg", 64, 0], ["arg", 64, 1], ["index", 64]
    rows = [a, b, i, ["sum", [1, 0], [2, 2]], ["sum", [1, 1], [2, 2]]]
    for other, apart in ((1128, True), (1127, False), (1000, False), (873, False), (872, True)):
        assert holds(rows, ["apart", 3, 2, 4, 2], [1000, other]) is apart
    assert not holds([["any", 32]], ["least", 0, 0])


def test_an_argument_is_a_signed_integer_of_its_width() -> None:
    assert not holds([["arg", 32, 0]], ["least", 0, 0], [(1 << 32) - 1])
    assert holds([["arg", 64, 0]], ["least", 0, 0], [(1 << 32) - 1])


def test_addresses_are_compared_without_evaluating_the_rest_again(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random launches of two tiles at addresses: `x + 2 * n * [0 : 64]` and `y + 4 * m * [0 : 16] + p`."""
    nodes = [
        ["arg", 64, 0], ["arg", 64, 1], ["arg", 32, 2], ["arg", 32, 3], ["index", 64], ["index", 16], ["program", 0],
        ["sum", [1, 0], [2, 2, 4]], ["sum", [1, 1], [4, 3, 5], [8, 6]],
    ]  # fmt: skip
    conditions = [["apart", 7, 2, 8, 4], ["least", 2, 0], ["apart", 8, 4, 7, 2]]
    found, evaluated = predicate(nodes, conditions), []
    original = LaunchPredicate._values
    monkeypatch.setattr(LaunchPredicate, "_values", lambda *args: evaluated.append(args) or original(*args))
    rng, kinds, seen = random.Random(seed), set(), set()
    for _ in range(400):
        n, m, grid = rng.choice((-1, 3, 40)), rng.choice((5, 70)), rng.choice((1, 6))
        arguments = [rng.randrange(1 << 16), rng.randrange(1 << 16), n, m]
        one = range(arguments[0], arguments[0] + 2 * n * 63 + 2) if n > 0 else range(0)
        other = range(arguments[1], arguments[1] + 4 * m * 15 + 8 * (grid - 1) + 4)
        expected = n >= 0 and (one.stop <= other.start or other.stop <= one.start)
        assert found(arguments, (grid, 1, 1)) is expected
        kinds.add((n, m, grid))
        seen.add(expected)
    assert len(evaluated) == len(kinds) and seen == {True, False}


def test_addresses_in_other_expressions_are_arguments_like_others() -> None:
    """An address in a quotient, twice in a sum, or in another condition."""
    a, b, i = ["arg", 64, 0], ["arg", 64, 1], ["index", 64]
    for more, condition in (
        ([["div", 64, 0, 2]], ["least", 5, 0]),
        ([["sum", [1, 0], [-1, 1]]], ["apart", 5, 4, 4, 2]),
        ([["sum", [2, 0]]], ["apart", 5, 4, 4, 2]),
        ([], ["fits", 3, 64]),
    ):
        found = predicate(
            [a, b, i, ["sum", [1, 0], [2, 2]], ["sum", [1, 1], [2, 2]], *more], [["apart", 3, 2, 4, 2], condition]
        )
        for addresses in ([1 << 20, 1 << 21], [1 << 21, 1 << 20], [1 << 20, 1 << 20]):
            assert found(addresses, (1, 1, 1)) is (found.failed(addresses, (1, 1, 1)) is None)


TEXT = (
    "{'nodes':[['arg',64,1],['program',0],['sum',[64,1],[1,0]]],"
    "'conditions':[['multiple',0,64],['least',2,0],['fits',2,10]]}"
)
WORDS = 3 + 16
COPY = slot(0, "ptr") + "  call void @llvm.memcpy.p0.p0.i64(ptr %a0, ptr %args, i64 {bytes}, i1 false)\n"


@pytest.mark.skipif(native_fastpath() is None, reason="no native code on this machine")
def test_launches_of_the_fast_path_run_the_version_that_the_predicate_selects(
    compiled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two kernels of the CPU that copy their parameters, of which one has a map. Launches alternate between both, by an
    argument and by the grid, and leave the fast path only for new arguments."""

    def raised(out, n, m):
        pass

    def plain(out, n, m):
        pass

    def packer(names: Any, types: Any) -> Packer:
        maps = [{"map": MAP, "type": "tensordesc<f32[16,16]>", "meta": ROW}]
        return Packer(names, types, maps=HostMaps(maps, encode, LaunchPredicate(TEXT)) if current[0] else None)

    def version(found: Any, grid: Any, args: Any, *rest: Any) -> Any:
        maps = found.kernel.launcher.packer.maps
        return (found, None) if found.kernel.launcher.runs(grid, args, -1) else (plain_one, maps)

    current, slow = [False], []
    launch_any = JITFunction._launch_any
    monkeypatch.setattr("tritium.runtime.launcher.Packer", packer)
    monkeypatch.setattr(Launcher, "runs", Versioned.runs, raising=False)
    monkeypatch.setattr(JITFunction, "_launch_any", lambda *args: slow.append(args) or launch_any(*args))
    declared = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    kernels = [
        kernel_of(fn, lambda *_, fn=fn, words=words: program(COPY.format(bytes=8 * words), declared, fn.__name__))
        for fn, words in ((raised, WORDS), (plain, 3))
    ]
    out = np.zeros(32, np.int64)
    other = kernels[1].warmup(out, 64, 2, grid=(1,))
    plain_one = Specialization(other)
    _ = other.launcher
    current[0] = True
    monkeypatch.setattr("tritium.runtime.jit._kernel_versions", SimpleNamespace(version_for=version, PLAIN={}))
    monkeypatch.setitem(METADATA, "raised", {"launch_predicate": TEXT})

    def launch(n: int, m: int, grid: Any = (1,), runs: bool = True) -> None:
        out[:] = -1
        kernel = kernels[0][grid](out, n, m)
        at = out.ctypes.data
        rest = [7, at, 64, n, n * 16, *[0] * (WORDS - 8)] if runs else [-1] * (WORDS - 3)
        assert out[:WORDS].tolist() == [at, n, m, *rest]
        assert kernel.name == ("raised" if runs else "plain")

    cases: list[tuple[Any, ...]] = [
        (64, 2, (1,), True),
        (80, 2, (1,), False),
        (64, 2, (8,), False),
        (128, 2, (3,), True),
    ]
    cases += [(128, 2, lambda meta: (meta["n"] // 64,), True), (320, 2, lambda meta: (9,), False)]
    for _ in range(5):
        for case in cases:
            launch(*case)
    slow.clear()
    for case in cases * 2:
        launch(*case)
    assert not slow
    launch(64, 3, (1,), True)  # an argument that neither depends on
    launch(192, 2, (2,), True)  # another one that the plan of the same version can tell
    launch(96, 2, (1,), False)
    assert not slow


@pytest.mark.skipif(native_fastpath() is None, reason="no native code on this machine")
def test_launches_of_the_fast_path_leave_it_for_a_version_that_is_not_compiled_yet(
    compiled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel of the CPU with a deferred version: launches that this one cannot run take the fast path, the first other
    one compiles it."""

    def plain(out, n):
        pass

    def deferred(out, n):
        pass

    slow, asked = [], []
    launch_any, find = JITFunction._launch_any, JITFunction._find

    def find_version(self: Any, *args: Any, **keywords: Any) -> Any:
        if self is not kernels[0] or "grid" not in keywords:
            return find(self, *args, **keywords)
        asked.append(keywords["grid"])
        return Specialization(other)

    monkeypatch.setattr(Launcher, "runs", Versioned.runs, raising=False)
    monkeypatch.setattr(JITFunction, "_launch_any", lambda *args: slow.append(args) or launch_any(*args))
    kernels = [
        kernel_of(fn, lambda *_, fn=fn, n=n: program(f"{slot(0, 'ptr')}  store i64 {n}, ptr %a0\n", "", fn.__name__))
        for n, fn in enumerate((plain, deferred))
    ]
    out = np.zeros(8, np.int64)
    other = kernels[1].warmup(out, 64, grid=(1,))
    kernels[0].warmup(out, 64, grid=(1,)).deferred = TEXT
    monkeypatch.setattr(JITFunction, "_find", find_version)
    for _ in range(6):
        out[:] = 7
        assert kernels[0][(1,)](out, 80).name == "plain" and out[0] == 0
        assert kernels[0][(8,)](out, 64).name == "plain"
    slow.clear()
    for grid, n in (((1,), 80), ((8,), 64), ((1,), 96)):
        kernels[0][grid](out, n)
    assert not slow and not asked
    assert kernels[0][(2,)](out, 128).name == "deferred" and out[0] == 1
    assert slow and asked == [(2,)]
    assert kernels[0][(1,)](out, 80).name == "plain"


@pytest.mark.skipif(native_fastpath() is None, reason="no native code on this machine")
def test_launches_of_the_fast_path_start_the_programs_that_run_at_once(
    compiled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel of the CPU that counts its programs, launched as on a device that runs three of them; the grid is passed
    after the arguments."""

    def counted(out, n):
        pass

    def packer(names: Any, types: Any) -> Packer:
        return Packer(names, types, maps=HostMaps([], encode, LaunchPredicate(EVERYTHING), passed=["programs"]))

    backend, slow, launch_any = Launcher.launch_backend, [], JITFunction._launch_any
    monkeypatch.setattr("tritium.runtime.launcher.Packer", packer)
    monkeypatch.setattr(Launcher, "launch_backend", lambda *args: backend(*args)._replace(resident=3))
    monkeypatch.setattr(JITFunction, "_launch_any", lambda *args: slow.append(args) or launch_any(*args))
    body = slot(0, "ptr") + slot(2, "i32")
    body += "  %w = sext i32 %a2 to i64\n  %p = getelementptr i64, ptr %a0, i64 %pid\n  store i64 %w, ptr %p\n"
    kernel = kernel_of(counted, lambda *_: program(body, "", "counted"))
    out = np.zeros(8, np.int64)
    for _ in range(3):
        kernel[(2,)](out, 5)
    slow.clear()
    for grid, started in (((2,), 2), ((3,), 3), ((7,), 3), (lambda meta: (5,), 3), (1, 1), ((2, 1, 1), 2)):
        out[:] = 0
        kernel[grid](out, 5)
        count = grid({})[0] if callable(grid) else grid if isinstance(grid, int) else grid[0]
        assert out.tolist() == [count] * started + [0] * (8 - started)
    assert not slow


EVERYTHING = "{'nodes':[],'conditions':[]}"
