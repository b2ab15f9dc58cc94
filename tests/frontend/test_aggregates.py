"""Aggregates: classes whose instances are values of the language."""

import pytest
import scalar
from native import compile_scalar

import tritium.language as tl
from tritium.dialects import scf
from tritium.frontend.aggregates import aggregate, aggregate_replace
from tritium.frontend.callee import SourceFunction, constexpr_function
from tritium.frontend.errors import CompilationError


@aggregate
class Range:
    low: tl.tensor
    high: tl.tensor
    step: tl.constexpr

    def __init__(self, low, high, step=2):
        self.low = low
        self.high = high
        self.step = step

    @SourceFunction
    def length(self):
        return (self.high - self.low) // self.step

    @SourceFunction
    def __add__(self, other):
        return Range(self.low + other.low, self.high + other.high, self.step)

    @constexpr_function
    def double_step(self):
        return self.step.value * 2


@aggregate
class Named(Range):
    tag: tl.constexpr = 7

    def __init__(self, low, high):
        super().__init__(low, high, 3)


@aggregate
class Point:
    x: tl.tensor
    y: tl.tensor


@SourceFunction
def shift(r, n):
    return Range(r.low + n, r.high + 2 * n, r.step)


def run(kernel, *args, size=4):
    out = [0] * size
    scalar.run(compile_scalar(kernel, *args), out, *args)
    return out


def test_fields_methods_operators_and_functions():
    @SourceFunction
    def kernel(out, a, b):
        r = Range(a, b)
        tl.store(out, r.length())
        s = shift(r, a) + r
        tl.store(out + 1, s.high - s.low)
        tl.store(out + 2, r.double_step() + r.step)
        tl.static_assert(r.step == 2)

    assert run(kernel, 3, 11) == [4, (11 + 6 - 3 - 3) + 8, 6, 0]


def test_bases_are_aggregates():
    class Plain:
        low: tl.tensor

    class Child(Plain):
        high: tl.tensor

    with pytest.raises(TypeError, match="Aggregates can only inherit from other aggregates, not Child from Plain"):
        aggregate(Child)


def test_values_merge_and_are_carried():
    @SourceFunction
    def kernel(out, a, b):
        p = Point(a, b)
        for i in range(4):
            p = Point(p.y, p.x + i)
        if a > 2:
            p = Point(p.x + 1, p.y)
        tl.store(out, p.x)
        tl.store(out + 1, p.y)

    x, y = 3, 5
    for i in range(4):
        x, y = y, x + i
    assert run(kernel, 3, 5)[:2] == [x + 1, y]
    assert sum(isinstance(op, scf.For) for op in compile_scalar(kernel, 3, 5).walk()) == 1


def test_inheritance_and_defaults():
    @SourceFunction
    def kernel(out, a, b):
        n = Named(a, b)
        tl.store(out, n.length() + n.tag)

    assert run(kernel, 3, 12)[0] == 3 + 7


def test_replace():
    @SourceFunction
    def kernel(out, a, b):
        p = aggregate_replace(Point(a, b), y=a + 7)
        tl.store(out, p.x * p.y)

    assert run(kernel, 3, 12)[0] == 30


def test_mistakes():
    @SourceFunction
    def unknown_field(out, a):
        p = Point(a, a)
        tl.store(out, p.z)

    @SourceFunction
    def too_few(out, a):
        tl.store(out, Point(a).x)

    @SourceFunction
    def wrong_type(out, a):
        tl.store(out, Point(a, 3).x)

    for kernel, message in (
        (unknown_field, "has no attribute z"),
        (too_few, "Point needs a value for the field y"),
        (wrong_type, "the field y of Point is a tensor"),
    ):
        with pytest.raises(CompilationError, match=message):
            compile_scalar(kernel, 3)
    with pytest.raises(TypeError, match="must not be a @jit function"):

        @aggregate
        class Bad:
            x: tl.tensor

            @SourceFunction
            def __init__(self, x):
                self.x = x


def test_methods_are_part_of_the_identity_of_a_class():
    @SourceFunction
    def kernel(out, a):
        tl.store(out, Range(a, a).length())

    names = [name for name, _, _ in kernel.references]
    assert "Range" in names
    key = kernel.cache_key
    Range.tritium_members.append(constexpr_function(lambda x: x))
    again = SourceFunction(kernel.fn)
    assert again.cache_key != key
    Range.tritium_members.pop()


@aggregate
class Base:
    x: tl.tensor
    scale: tl.constexpr = 3


@aggregate
class Child(Base):
    pair: tl.tuple

    def shifted(self, by, _semantic=None):
        return _semantic.add(self.x, by)


@aggregate
class Made:
    x: tl.tensor

    def __init__(self, n, _semantic=None):
        self.x = _semantic.to_tensor(n)


def test_fields_and_defaults_are_inherited():
    held = aggregate(type("Held", (), {"__annotations__": {"a": tl.constexpr, "b": tl.constexpr}, "b": 9}))
    below = aggregate(type("Below", (held,), {"__annotations__": {"c": tl.constexpr}}))
    assert [below(1, 2, 3).c.value, below(1, c=3).b.value, below(a=1, c=3).a.value] == [3, 9, 1]


def test_methods_and_constructors_that_emit_operations():
    @SourceFunction
    def kernel(out, a):
        child = Child(a, 4, (5, 6))
        tl.store(out, child.shifted(child.pair[1]) * child.scale + Made(7).x)

    assert run(kernel, 2)[0] == (2 + 6) * 4 + 7


def test_aggregates_are_immutable_and_replaced():
    held = aggregate(type("Held", (), {"__annotations__": {"a": tl.constexpr}}))
    value = held(1)
    with pytest.raises(AttributeError, match="cannot assign to field 'a' on immutable aggregate Held"):
        value.a = 2
    assert aggregate_replace(value, a=5).a.value == 5
    with pytest.raises(TypeError, match="has no field 'z'"):
        aggregate_replace(value, z=1)
    with pytest.raises(TypeError, match="expects an aggregate instance"):
        aggregate_replace(3, a=1)
