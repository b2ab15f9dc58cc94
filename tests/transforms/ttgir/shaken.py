"""Random tile programs whose tensors have random layouts, as input of passes on layouts."""

from __future__ import annotations

import random
from math import prod

from tests.filetests.runner import passes
from tests.interpreter.programs import random_program
from tritium.dialects import ttg
from tritium.dialects.ttg_layouts import Blocked
from tritium.ir import Builder, Pass, TensorType, functions_of, run_pipeline, verify

__all__ = ["shaken_program"]


def blocked(rng: random.Random, rank: int) -> Blocked:
    """A random blocked layout of one warp, with a few elements per thread."""
    order = list(range(rank))
    rng.shuffle(order)
    threads = [1] * rank
    for _ in range(5):
        threads[rng.randrange(rank)] *= 2
    sizes = [rng.choice([1, 1, 2, 4]) for _ in range(rank)]
    return Blocked(tuple(sizes), tuple(threads), (1,) * rank, tuple(order))


def shaken_program(seed: int, size: int = 25, share: float = 0.3):
    """A random program with layouts, in which a share of the tensors is converted to another layout and back."""
    rng = random.Random(seed)
    module = random_program(seed, size)
    fn = passes()["convert-triton-to-tritongpu"]
    run_pipeline(module, [Pass("convert", fn, "", fn.options_type(target="cuda:80", num_warps=1))])  # type: ignore[attr-defined]
    for func in functions_of(module):
        values = [r for op in func.walk() for r in op.results if isinstance(r.type, TensorType) and r.users]
        for value in values:
            if rng.random() < share and prod(value.type.shape) > 1 and value.type.encoding is not None:
                shake(rng, value)
    verify(module)
    return module


def shake(rng: random.Random, value) -> None:
    """Convert a value to a random layout and back; some of its users use the result."""
    ty = value.type
    users = [u for u in value.users if rng.random() < 0.8]
    b = Builder()
    b.after(value.owner)
    there = b.add(ttg.ConvertLayout(value, result=TensorType(ty.shape, ty.element, blocked(rng, len(ty.shape)))))
    back = b.add(ttg.ConvertLayout(there, result=ty))
    for user in users:
        user.set_operands([back if v is value else v for v in user.operands])
