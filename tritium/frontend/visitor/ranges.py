"""Ranges of loops: bounds, trip counts, and the attributes that `tl.range` sets."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...dialects.llvm_loops import LICM_OFF
from ...ir import UNIT, Attribute, IntegerAttr, i32
from ...support.limits import MAX_STAGES
from ..errors import LanguageError
from ..language import core
from ..semantics.errors import OperandError
from .core import Visitor
from .values import constexpr, has_handles, tensor, type_text, unwrap

__all__ = ["Bounds", "bind_counters", "bounds_of", "last_value", "loop_attributes"]


_BOUNDS = {"start": "lower bound", "end": "upper bound", "step": "step"}


class Bounds(NamedTuple):
    """A range as one that counts up: from `lower` to below `upper` by `step` > 0, all of one integer type.

    `down` says that the loop's variable runs the other way: from `upper` to above `lower`.
    """

    lower: tensor
    upper: tensor
    step: tensor
    down: bool

    @property
    def first(self) -> tensor:
        """The first value of the loop's variable, if there is one."""
        return self.upper if self.down else self.lower


def bounds_of(visitor: Visitor, iterator: Any) -> Bounds:
    """The bounds of a `tl.range`; raises LanguageError unless they are scalar integers and the step is not zero."""
    semantic = visitor.semantic
    lb, ub, step = iterator.start, iterator.end, iterator.step
    down = False
    constant = unwrap(step)
    if isinstance(constant, int):
        if constant == 0:
            raise LanguageError("ValueError: the step of a range must not be zero")
        if constant < 0:
            down, step, lb, ub = True, constexpr(-constant), ub, lb
    lb, ub, step = (semantic.to_tensor(v) for v in (lb, ub, step))
    given = {"start": lb, "end": ub, "step": step}
    for role, v in given.items():
        if not v.dtype.is_int() or v.type != v.dtype:
            if v.type != v.dtype:
                raise OperandError(
                    f"TypeError: For {_BOUNDS[role]} must be a scalar, got {v.type}",
                    {role: f"has shape {list(v.type.shape)}"},
                    "a loop runs over scalars",
                    role,
                )
            constant = not has_handles(getattr(iterator, role))
            cast = "use an integer" if constant else f"cast it: `{{{role}}}.to(tl.int32)`"
            raise OperandError(
                f"TypeError: For loop bounds and step must all be ints, are ({lb.type}, {ub.type}, {step.type})",
                {role: f"has type {v.type}"},
                cast,
                role,
            )
    kind = semantic.integer_promote(semantic.integer_promote(lb.dtype, ub.dtype), step.dtype)
    return Bounds(semantic.cast(lb, kind), semantic.cast(ub, kind), semantic.cast(step, kind), down)


def bind_counters(visitor: Visitor, place: str, bounds: Bounds) -> None:
    """Bind the names that `desugar.counted_loop` reads for the loop at `place`: first, step, count and k."""
    sem = visitor.semantic
    steps = _steps(visitor, bounds)
    count = sem.where(sem.lt(bounds.lower, bounds.upper), sem.add(steps, 1, False), 0)
    visitor.env[f"first{place}"] = bounds.first
    visitor.env[f"step{place}"] = sem.neg(bounds.step) if bounds.down else bounds.step
    visitor.env[f"count{place}"] = count
    visitor.env[f"k{place}"] = sem.cast(sem.to_tensor(constexpr(0)), steps.dtype)


def _steps(visitor: Visitor, bounds: Bounds) -> tensor:
    """The trip count minus one of a range that is not empty, unsigned; correct even if the difference overflows."""
    sem = visitor.semantic
    unsigned = getattr(core, f"uint{bounds.lower.dtype.int_bitwidth}")
    difference = sem.cast(sem.sub(bounds.upper, bounds.lower, False), unsigned)
    return sem.floordiv(sem.sub(difference, 1, False), sem.cast(bounds.step, unsigned))


def last_value(visitor: Visitor, bounds: Bounds, otherwise: Any) -> tensor:
    """The last value of a range: `first + steps * step`; `otherwise` (by default, the first) where there is none."""
    sem, first = visitor.semantic, bounds.first
    way = sem.mul(sem.cast(_steps(visitor, bounds), first.dtype), bounds.step, False)
    last = sem.sub(first, way, False) if bounds.down else sem.add(first, way, False)
    return sem.where(sem.lt(bounds.lower, bounds.upper), last, first if otherwise is None else otherwise)


def loop_attributes(iterator: Any) -> dict[str, Attribute]:
    """The attributes that a `tl.range` sets on its `scf.for`; raises LanguageError for values out of range."""
    attributes: dict[str, Attribute] = {}
    for name in ("num_stages", "loop_unroll_factor"):
        number = unwrap(getattr(iterator, name, None))
        if number is None:
            continue
        if not isinstance(number, int):
            raise LanguageError(
                f"TypeError: {name} must be an integer known at compile time, got {type_text(number)}",
                "make it a tl.constexpr parameter",
            )
        if name == "num_stages" and not 0 <= number <= MAX_STAGES:
            raise LanguageError(
                f"ValueError: num_stages must be 0 to {MAX_STAGES}, got {number}",
                "each stage needs a buffer in shared memory for each load; 2 to 7 are usual, 1 disables pipelining",
            )
        attributes[f"tt.{name}"] = IntegerAttr(number, i32)
    for name in ("disallow_acc_multi_buffer", "flatten", "warp_specialize"):
        if unwrap(getattr(iterator, name, None)):
            attributes[f"tt.{name}"] = UNIT
    if unwrap(getattr(iterator, "disable_licm", None)):
        attributes["llvm.loop_annotation"] = LICM_OFF
    return attributes
