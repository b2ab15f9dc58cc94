"""Dataclasses whose methods are written late behave as those of the standard library."""

from __future__ import annotations

import dataclasses
import threading
from typing import ClassVar

import pytest

from tritium.support.dataclasses import dataclass


def classes(decorator):
    """A base, a subclass and an ordered class, by one decorator or the other."""

    @decorator(frozen=True)
    class Base:
        KIND: ClassVar[str] = "base"
        x: int
        items: list = dataclasses.field(default_factory=list)

        def __post_init__(self):
            if self.x < 0:
                raise ValueError(self.x)

    @decorator(frozen=True)
    class Sub(Base):
        y: float = 2.0

    @decorator(order=True)
    class Ordered:
        a: int
        b: int = dataclasses.field(default=3, compare=False)

    return Base, Sub, Ordered


def behaviour(decorator):
    """Everything that can be seen of the three, as text."""
    base, sub, ordered = classes(decorator)
    seen = [[(f.name, f.default, f.type) for f in dataclasses.fields(sub)]]
    seen += [dataclasses.is_dataclass(base), base(1) == base(1, []), base(1) == sub(1), sub.KIND]
    seen += [dataclasses.asdict(sub(3, [1], y=1.5)), dataclasses.replace(sub(3), x=4).x, ordered(1, 9) < ordered(2)]
    seen += [hash(sub(1, ())) == hash(sub(1, ())), ordered.__hash__, base(1).items is base(1).items]
    for wrong in (lambda: base(), lambda: base(-1), lambda: base(1, [], 2), lambda: setattr(sub(1), "x", 2)):
        with pytest.raises((TypeError, ValueError, AttributeError)) as error:
            wrong()
        seen.append((error.type, str(error.value).rpartition(".")[2]))
    value = ordered(5)
    value.a = 6
    match value:
        case ordered(a, b):
            seen.append((a, b))
    return [str(s) for s in seen]


def test_they_are_alike():
    assert behaviour(dataclass) == behaviour(dataclasses.dataclass)


def test_nothing_is_written_before_it_is_needed():
    base, sub, _ = classes(dataclass)
    assert "__eq__" not in vars(base) and "__eq__" not in vars(sub)
    assert dataclasses.fields(sub)[0].name == "x"
    assert "__eq__" in vars(base) and "__eq__" in vars(sub)


def test_a_constructor_of_its_own_is_kept():
    @dataclass(frozen=True)
    class Own:
        x: int

        def __init__(self):
            object.__setattr__(self, "x", 7)

    assert Own().x == 7 and Own() == Own()


@pytest.mark.parametrize("run", range(20))
def test_threads_meet_at_the_first_instance(run):
    base, sub, _ = classes(dataclass)
    start, made = threading.Barrier(8), []

    def make(cls):
        start.wait()
        made.append(cls(1))

    threads = [threading.Thread(target=make, args=(base if i % 2 else sub,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(made) == 8 and all(value.x == 1 for value in made)
