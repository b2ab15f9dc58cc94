"""exchange-pairs: random programs on hypercubes mean the same, and exchanges need no reductions and no dimensions."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.conftest import SEED
from tests.transforms.test_collapse_dims import HEAD, SIZE, Program, outcome, tile
from tritium.dialects import tt
from tritium.ir import Pass, parse_module, run_pipeline, shape_of, verify
from tritium.transforms.collapse_dims import collapse_dims
from tritium.transforms.exchange_pairs import exchange_pairs

PASSES = [Pass("exchange-pairs", exchange_pairs, ""), Pass("collapse-dims", collapse_dims, "")]


class Exchanges(Program):
    """Random programs of exchanges and what may be near them."""

    def sum(self) -> str:
        """The xor of the pairs of a tile, which is then that with this tile or with another."""
        axis = self.rng.choice([d for d, n in enumerate(self.shape) if n <= 4])
        less, ty, source = self.shape[:axis] + self.shape[axis + 1 :], tile(self.shape), self.any()
        name = self.rng.choice(["arith.xori"] * 8 + ["arith.addi"])
        low = self.line(
            f'"tt.reduce"({source}) <{{axis = {axis} : i32}}> ({{\n'
            f"  ^bb0(%a: i32, %b: i32):\n    %c = {name} %a, %b : i32\n    tt.reduce.return %c : i32\n"
            f"  }}) : ({ty}) -> {tile(less)}"
        )
        one = less[:axis] + (1,) + less[axis:]
        wide = self.line(f"tt.expand_dims {low} {{axis = {axis} : i32}} : {tile(less)} -> {tile(one)}")
        full = self.line(f"tt.broadcast {wide} : {tile(one)} -> {ty}")
        pair = [source if self.rng.random() < 0.9 else self.any(), full]
        self.rng.shuffle(pair)
        return self.line(f"arith.xori {', '.join(pair)} : {ty}")

    def position(self) -> str:
        """A coordinate, or two of them together before the broadcast."""
        if self.rng.random() < 0.5:
            return super().position()
        axes = [d for d, n in enumerate(self.shape) if n == 2]
        a, b = self.rng.choice(axes), self.rng.choice(axes)
        both = tuple(2 if d in (a, b) else 1 for d in range(len(self.shape)))
        parts = []
        for axis in (a, b):
            one = tuple(2 if d == axis else 1 for d in range(len(self.shape)))
            flag = self.line(f"tt.reshape %two : tensor<2xi32> -> {tile(one)}")
            parts.append(self.line(f"tt.broadcast {flag} : {tile(one)} -> {tile(both)}"))
        mixed = self.line(f"arith.xori {', '.join(parts)} : {tile(both)}")
        return self.line(f"tt.broadcast {mixed} : {tile(both)} -> {tile(self.shape)}")


@pytest.mark.parametrize("shape", [(2,) * 6, (2, 2, 4, 2, 2), (4, 2, 1, 2, 2, 2), (4, 2, 8), (2, 32)])
def test_random_programs_mean_the_same(shape: tuple[int, ...]) -> None:
    changed = 0
    for seed in range(SEED, SEED + 20):
        text = Exchanges(seed, shape).text()
        module = parse_module(text)
        before = outcome(module)
        run_pipeline(module, PASSES, verifier=verify)
        assert (outcome(module) == before).all(), f"seed {seed}: {text}\nbecame\n{module}"
        changed += "tt.gather" in str(module)
    assert changed > 5


def exchange(value: str, name: str, axis: int, ty: str, less: str, one: str) -> str:
    return (
        f'  %r{name} = "tt.reduce"({value}) <{{axis = {axis} : i32}}> ({{\n  ^bb0(%a: i32, %b: i32):\n'
        "    %c = arith.xori %a, %b : i32\n    tt.reduce.return %c : i32\n"
        f"  }}) : ({ty}) -> {less}\n"
        f"  %e{name} = tt.expand_dims %r{name} {{axis = {axis} : i32}} : {less} -> {one}\n"
        f"  %b{name} = tt.broadcast %e{name} : {one} -> {ty}\n"
        f"  %{name} = arith.xori %b{name}, {value} : {ty}\n"
    )


def test_exchanges_one_after_another_are_one() -> None:
    shape = (2,) * 6
    text, value = f"  %h = tt.reshape %x : {tile((SIZE,))} -> {tile(shape)}\n", "%h"
    for axis in range(6):
        one = shape[:axis] + (1,) + shape[axis + 1 :]
        text += exchange(value, f"y{axis}", axis, tile(shape), tile(shape[1:]), tile(one))
        value = f"%y{axis}"
    text += f"  %out = tt.reshape {value} : {tile(shape)} -> {tile((SIZE,))}\n"
    module = parse_module(f"{HEAD}{text}  tt.store %to, %out : tensor<{SIZE}x!tt.ptr<i32>>\n  tt.return\n}}\n")
    before = outcome(module)
    run_pipeline(module, PASSES, verifier=verify)
    assert (outcome(module) == before).all() and (before == (np.arange(SIZE)[::-1] * 37 % 101)).all()
    gathers = [op for op in module.walk() if isinstance(op, tt.Gather)]
    assert len(gathers) == 1 and not any(isinstance(op, tt.Reduce) for op in module.walk())


def test_sizes_that_are_no_powers_of_two_are_left_alone() -> None:
    """In the middle: the other element is then not at the index xor a number."""
    ty, less, one = tile((2, 3)), tile((3,)), tile((1, 3))
    body = exchange("%v", "y", 0, ty, less, one)
    module = parse_module(f"tt.func @f(%v: {ty}) -> {ty} {{\n{body}  tt.return %y : {ty}\n}}\n")
    assert not exchange_pairs(module)


def test_sorting_networks_become_flat() -> None:
    @tritium.jit
    def sorted_block(x, y, N: tl.constexpr):
        at = tl.arange(0, N)
        tl.store(y + at, tl.sort(tl.load(x + at)))

    source = tritium.compiler.ASTSource(sorted_block, {"x": "*i32", "y": "*i32", "N": "constexpr"}, {(2,): 64})
    module = parse_module(tritium.compile(source).asm["ttir"])
    run_pipeline(module, PASSES, verifier=verify)
    exchanged = [op for op in module.walk() if isinstance(op, tt.Gather)]
    assert len(exchanged) == 6 * 7 // 2
    results = [user.results[0] for op in exchanged for user in op.result.users]
    assert all(len(shape_of(result.type)) == 1 for result in results if result.uses)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 8, 12, 16, 31, 63])
def test_gathers_at_the_index_xor_a_number(number: int) -> None:
    """The CPU reads whole vectors and changes the order of lanes."""

    @tritium.jit
    def partner(x, y, c: tl.constexpr):
        at = tl.arange(0, 64)
        v = tl.load(x + at)
        tl.store(y + at, tl.gather(v * 2, at ^ c, 0) + v)

    x, y = np.arange(64, dtype=np.int32) * 3, np.zeros(64, np.int32)
    partner[(1,)](x, y, number)
    assert (y == x[np.arange(64) ^ number] * 2 + x).all()
