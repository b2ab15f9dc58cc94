"""collapse-dims: random programs on hypercubes mean the same, and sorting networks lose most of their dimensions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.conftest import SEED
from tritium.dialects import tt
from tritium.interpreter.evaluator import run
from tritium.ir import Pass, parse_module, run_pipeline, shape_of, verify
from tritium.transforms.collapse_dims import MAX_BOUNDARIES, collapse_dims

SIZE = 64
HEAD = f"""tt.func public @f(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {{
  %at = tt.make_range {{start = 0 : i32, end = {SIZE} : i32}} : tensor<{SIZE}xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<{SIZE}x!tt.ptr<i32>>
  %qs = tt.splat %q : !tt.ptr<i32> -> tensor<{SIZE}x!tt.ptr<i32>>
  %from = tt.addptr %ps, %at : tensor<{SIZE}x!tt.ptr<i32>>, tensor<{SIZE}xi32>
  %to = tt.addptr %qs, %at : tensor<{SIZE}x!tt.ptr<i32>>, tensor<{SIZE}xi32>
  %two = tt.make_range {{start = 0 : i32, end = 2 : i32}} : tensor<2xi32>
  %x = tt.load %from : tensor<{SIZE}x!tt.ptr<i32>>
"""


def tile(shape: tuple[int, ...]) -> str:
    return "tensor<" + "".join(f"{n}x" for n in shape) + "i32>"


class Program:
    """A random program of reductions along one axis at a time and of what stands between them."""

    def __init__(self, seed: int, shape: tuple[int, ...]) -> None:
        self.rng = random.Random(seed)
        self.shape = shape
        self.lines: list[str] = []
        self.values = [self.line(f"tt.reshape %x : {tile((SIZE,))} -> {tile(shape)}")]
        for _ in range(14):
            self.values.append(self.rng.choice([self.sum, self.arithmetic, self.position, self.number, self.turned])())

    def line(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def any(self) -> str:
        return self.rng.choice(self.values[-4:])

    def sum(self) -> str:
        axis, shape, ty = self.rng.randrange(len(self.shape)), self.shape, tile(self.shape)
        less = shape[:axis] + shape[axis + 1 :]
        low = self.line(
            f'"tt.reduce"({self.any()}) <{{axis = {axis} : i32}}> ({{\n'
            "  ^bb0(%a: i32, %b: i32):\n    %c = arith.addi %a, %b : i32\n    tt.reduce.return %c : i32\n"
            f"  }}) : ({ty}) -> {tile(less)}"
        )
        if self.rng.random() < 0.3:
            low = self.line(f"arith.addi {low}, {low} : {tile(less)}")
        places = [d for d in range(len(shape)) if less[:d] + less[d:] == shape[:d] + shape[d + 1 :]]
        back = axis if self.rng.random() < 0.8 else self.rng.choice(places)
        one = less[:back] + (1,) + less[back:]
        wide = self.line(f"tt.expand_dims {low} {{axis = {back} : i32}} : {tile(less)} -> {tile(one)}")
        full = self.line(f"tt.broadcast {wide} : {tile(one)} -> {ty}")
        return self.line(f"arith.xori {self.any()}, {full} : {ty}")

    def position(self) -> str:
        axis = self.rng.choice([d for d, n in enumerate(self.shape) if n == 2])
        one = tuple(2 if d == axis else 1 for d in range(len(self.shape)))
        flag = self.line(f"tt.reshape %two : tensor<2xi32> -> {tile(one)}")
        return self.line(f"tt.broadcast {flag} : {tile(one)} -> {tile(self.shape)}")

    def arithmetic(self) -> str:
        name = self.rng.choice(["arith.addi", "arith.muli", "arith.subi"])
        return self.line(f"{name} {self.any()}, {self.any()} : {tile(self.shape)}")

    def number(self) -> str:
        ty = tile(self.shape)
        three = self.line(f"arith.constant dense<{self.rng.randrange(9)}> : {ty}")
        return self.line(f"arith.subi {three}, {self.any()} : {ty}")

    def turned(self) -> str:
        order = list(range(len(self.shape)))
        at = self.rng.choice([d for d in order[1:] if self.shape[d] == self.shape[d - 1]] or [0])
        order[at], order[at - 1] = (order[at - 1], order[at]) if at else (order[at], order[at - 1])
        if not at:
            return self.any()
        ty = tile(self.shape)
        return self.line(f"tt.trans {self.any()} {{order = array<i32: {', '.join(map(str, order))}>}} : {ty} -> {ty}")

    def text(self) -> str:
        last = self.line(f"tt.reshape {self.values[-1]} : {tile(self.shape)} -> {tile((SIZE,))}")
        return (
            HEAD + "\n".join(self.lines) + f"\n  tt.store %to, {last} : tensor<{SIZE}x!tt.ptr<i32>>\n  tt.return\n}}\n"
        )


def outcome(module: object) -> np.ndarray:
    x, out = np.arange(SIZE, dtype=np.int32) * 37 % 101, np.zeros(SIZE, np.int32)
    run(module, 1, [x, out])
    return out


@pytest.mark.parametrize("shape", [(2,) * 6, (2, 2, 4, 2, 2), (4, 2, 1, 2, 2, 2), (4, 4, 2, 2), (2, 2, 16), (8, 8)])
def test_random_programs_mean_the_same(shape: tuple[int, ...]) -> None:
    for seed in range(SEED, SEED + 20):
        if 2 not in shape:
            shape = (8, 2, 4)
        text = Program(seed, shape).text()
        module = parse_module(text)
        before = outcome(module)
        run_pipeline(module, [Pass("collapse-dims", collapse_dims, "")], verifier=verify)
        assert (outcome(module) == before).all(), f"seed {seed}: {text}\nbecame\n{module}"


def test_steps_of_a_sorting_network_have_few_dimensions() -> None:
    steps, value = [], "%x0"
    steps.append(f"  %x0 = tt.reshape %x : {tile((SIZE,))} -> {tile((2,) * 6)}")
    for axis in reversed(range(6)):
        less, one = (2,) * 5, (2,) * axis + (1,) + (2,) * (5 - axis)
        steps.append(
            f'  %r{axis} = "tt.reduce"({value}) <{{axis = {axis} : i32}}> ({{\n  ^bb0(%a: i32, %b: i32):\n'
            "    %c = arith.xori %a, %b : i32\n    tt.reduce.return %c : i32\n"
            f"  }}) : ({tile((2,) * 6)}) -> {tile(less)}\n"
            f"  %e{axis} = tt.expand_dims %r{axis} {{axis = {axis} : i32}} : {tile(less)} -> {tile(one)}\n"
            f"  %b{axis} = tt.broadcast %e{axis} : {tile(one)} -> {tile((2,) * 6)}\n"
            f"  %o{axis} = arith.xori {value}, %b{axis} : {tile((2,) * 6)}\n"
            f"  %m{axis} = arith.minsi {value}, %o{axis} : {tile((2,) * 6)}"
        )
        value = f"%m{axis}"
    end = f"  %y = tt.reshape {value} : {tile((2,) * 6)} -> {tile((SIZE,))}\n  tt.store %to, %y : tensor<{SIZE}x!tt.ptr<i32>>"
    module = parse_module(HEAD + "\n".join(steps) + f"\n{end}\n  tt.return\n}}\n")
    before = outcome(module)
    assert collapse_dims(module) and (outcome(module) == before).all()
    shapes = [shape_of(op.operands[0].type) for op in module.walk() if isinstance(op, tt.Reduce)]
    assert shapes == [(32, 2), (16, 2, 2), (8, 2, 4), (4, 2, 8), (2, 2, 16), (2, 32)]
    assert all(
        len(shape_of(r.type)) <= 3 < MAX_BOUNDARIES
        for op in module.walk()
        for r in op.results
        if op.name != "tt.reshape"
    )
