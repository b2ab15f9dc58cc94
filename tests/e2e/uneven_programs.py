"""Random programs over blocks of any size: the text of a kernel, and what NumPy says that it stores."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

SIZES = (1, 2, 3, 4, 5, 6, 7, 9, 12, 16, 20, 33)
MOST = 600  # elements of a block


class Program:
    """Statements on int32 blocks, which wrap around: every order of additions gives the same bits."""

    def __init__(self, rng: np.random.Generator, steps: int) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.inputs: list[np.ndarray] = []
        self.outputs: list[np.ndarray] = []
        self.values: list[tuple[str, np.ndarray]] = []
        self._input()
        for _ in range(steps):
            make = _STEPS[int(rng.integers(len(_STEPS)))]
            make(self)
        for name, value in self.values[-4:]:
            self._store(name, value)

    @property
    def text(self) -> str:
        """The source of `kernel(x, y)`: inputs behind each other, outputs too."""
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"@triton.jit\ndef kernel(x, y):\n{body}\n"

    # -- pieces -----------------------------------------------------------------------------------------------------

    def pick(self) -> tuple[str, np.ndarray]:
        """A value, a late one rather."""
        at = len(self.values) - 1 - min(int(self.rng.geometric(0.5)) - 1, len(self.values) - 1)
        return self.values[at]

    def add(self, text: str, value: Any) -> None:
        """A new value."""
        value = np.asarray(value).astype(np.int32)
        if not 0 < value.size <= MOST or not value.ndim:
            return
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.values.append((name, value))

    def shape(self) -> tuple[int, ...]:
        """A random one."""
        while True:
            shape = tuple(int(s) for s in self.rng.choice(SIZES, int(self.rng.integers(1, 4))))
            if math.prod(shape) <= MOST:
                return shape

    def _input(self) -> None:
        value = self.rng.integers(-99, 99, self.shape()).astype(np.int32)
        start = sum(v.size for v in self.inputs)
        self.inputs.append(value)
        self.add(f"tl.load(x + {start} + {_offsets(value.shape)})", value)

    def _store(self, name: str, value: np.ndarray) -> None:
        start = sum(v.size for v in self.outputs)
        self.outputs.append(value)
        self.lines.append(f"tl.store(y + {start} + {_offsets(value.shape)}, {name})")


def _offsets(shape: tuple[int, ...]) -> str:
    """Row-major numbers of the elements."""
    parts = []
    for d, n in enumerate(shape):
        index = ", ".join(":" if k == d else "None" for k in range(len(shape)))
        parts.append(f"tl.arange(0, {n})[{index}] * {math.prod(shape[d + 1 :])}")
    return "(" + " + ".join(parts) + ")"


def _axis(p: Program, value: np.ndarray) -> int:
    return int(p.rng.integers(value.ndim))


def _load(p: Program) -> None:
    p._input()


def _pointwise(p: Program) -> None:
    name, v = p.pick()
    number = int(p.rng.integers(1, 9))
    p.add(*_choice(p, [
        (f"{name} * {number} + 1", v * number + 1),
        (f"tl.where({name} % 2 == 0, {name}, -{name})", np.where(v % 2 == 0, v, -v)),
        (f"tl.maximum({name}, {number}) ^ {name}", np.maximum(v, number) ^ v),
        (f"({name} & 1023) // (({name} & 3) + 1)", (v & 1023) // ((v & 3) + 1)),
    ]))  # fmt: skip


def _choice(p: Program, options: list[Any]) -> Any:
    return options[int(p.rng.integers(len(options)))]


def _binary(p: Program) -> None:
    (a, x), (b, y) = p.pick(), p.pick()
    try:
        p.add(f"{a} - {b}", x - y)
    except ValueError:  # shapes that do not go together
        _reduce_kept(p)


def _reduce_kept(p: Program) -> None:
    name, v = p.pick()
    axis = _axis(p, v)
    fn, numpy = _choice(p, [("sum", np.sum), ("max", np.max), ("min", np.min), ("xor_sum", np.bitwise_xor.reduce)])
    p.add(f"{name} + tl.{fn}({name}, {axis}, keep_dims=True)", v + numpy(v, axis=axis, keepdims=True))


def _reduce(p: Program) -> None:
    name, v = p.pick()
    axis = _axis(p, v)
    fn, numpy = _choice(p, [("sum", np.sum), ("max", np.max), ("argmax", np.argmax), ("argmin", np.argmin)])
    if v.ndim > 1:
        p.add(f"tl.{fn}({name}, {axis})", numpy(v, axis=axis))


def _reduce_all(p: Program) -> None:
    name, v = p.pick()
    fn, numpy = _choice(p, [("sum", np.sum), ("max", np.max), ("min", np.min)])
    p.add(f"{name} + tl.{fn}({name})", v + numpy(v))


def _scan(p: Program) -> None:
    name, v = p.pick()
    axis, reverse = _axis(p, v), bool(p.rng.integers(2))
    turned = np.flip(v, axis) if reverse else v
    sums = np.cumsum(turned, axis, dtype=np.int32)
    p.add(f"tl.cumsum({name}, {axis}, reverse={reverse})", np.flip(sums, axis) if reverse else sums)


def _reshape(p: Program) -> None:
    name, v = p.pick()
    for _ in range(20):
        shape = p.shape()
        if math.prod(shape) == v.size and shape != v.shape:
            break
    else:
        shape = (v.size,) if v.ndim > 1 else (1, v.size)
    p.add(f"tl.reshape({name}, {list(shape)})", v.reshape(shape))


def _turn(p: Program) -> None:
    name, v = p.pick()
    order = tuple(int(d) for d in p.rng.permutation(v.ndim))
    p.add(f"tl.permute({name}, {list(order)})", v.transpose(order))


def _flip(p: Program) -> None:
    name, v = p.pick()
    axis = _axis(p, v)
    p.add(f"tl.flip({name}, {axis})", np.flip(v, axis))


def _cat(p: Program) -> None:
    name, v = p.pick()
    axis = _axis(p, v)
    p.add(f"tl.cat({name}, {name} + 1, dim={axis})", np.concatenate([v, v + 1], axis))


def _interleave(p: Program) -> None:
    name, v = p.pick()
    p.add(f"tl.interleave({name}, -{name})", np.stack([v, -v], -1).reshape(*v.shape[:-1], -1))


def _expand(p: Program) -> None:
    name, v = p.pick()
    at = int(p.rng.integers(v.ndim + 1))
    p.add(f"tl.expand_dims({name}, {at})", np.expand_dims(v, at))


def _broadcast(p: Program) -> None:
    name, v = p.pick()
    shape = tuple(int(p.rng.choice(SIZES)) if n == 1 else n for n in v.shape)
    p.add(f"tl.broadcast_to({name}, {list(shape)})", np.broadcast_to(v, shape))


def _gather(p: Program) -> None:
    name, v = p.pick()
    axis, n = _axis(p, v), int(p.rng.choice(SIZES))
    shape = (*v.shape[:axis], n, *v.shape[axis + 1 :])
    index = np.broadcast_to(
        (np.arange(n) * 5 % v.shape[axis]).reshape([-1 if d == axis else 1 for d in range(v.ndim)]), shape
    )
    subscript = ", ".join(":" if d == axis else "None" for d in range(v.ndim))
    text = f"tl.broadcast_to((tl.arange(0, {n}) * 5 % {v.shape[axis]})[{subscript}], {list(shape)})"
    p.add(f"tl.gather({name}, {text}, {axis})", np.take_along_axis(v, index, axis))


def _sort(p: Program) -> None:
    name, v = p.pick()
    descending = bool(p.rng.integers(2))
    ordered = np.sort(v, -1)
    p.add(f"tl.sort({name}, descending={descending})", ordered[..., ::-1] if descending else ordered)


def _histogram(p: Program) -> None:
    name, v = p.pick()
    bins = int(p.rng.choice(SIZES))
    counts = np.bincount((v & 15).ravel(), minlength=max(bins, 16))[:bins]
    p.add(f"tl.histogram(tl.ravel({name} & 15), {bins})", counts)


def _slice(p: Program) -> None:
    name, v = p.pick()
    axis = _axis(p, v)
    n = v.shape[axis]
    start = int(p.rng.integers(n))
    stop = int(p.rng.integers(start + 1, n + 1))
    subscript = ", ".join(f"{start}:{stop}" if d == axis else ":" for d in range(v.ndim))
    p.add(f"{name}[{subscript}]", v[tuple(slice(start, stop) if d == axis else slice(None) for d in range(v.ndim))])


_STEPS: list[Callable[[Program], None]] = [
    _load, _pointwise, _pointwise, _binary, _binary, _reduce_kept, _reduce, _reduce_all, _scan, _reshape, _reshape, _turn,
    _flip, _cat, _interleave, _expand, _broadcast, _gather, _sort, _histogram, _slice,
]  # fmt: skip
