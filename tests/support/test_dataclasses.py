"""Dataclasses of ours behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
import threading
from typing import ClassVar

import pytest

from tritium.support.dataclasses import WRITTEN_AFTER, dataclass, fields


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


def test_standard_dataclasses_are_imported_on_demand():
    code = """
import sys
before = set(sys.modules)
from tritium.support.dataclasses import asdict, dataclass, fields, replace
@dataclass(frozen=True, order=True)
class Point:
    x: int
    y: int = 0
assert replace(Point(1), y=2) > Point(1) and asdict(Point(1)) == {"x": 1, "y": 0} and len({Point(1), Point(1)}) == 1
assert [f.name for f in fields(Point)] == ["x", "y"]
assert "dataclasses" not in sys.modules and "inspect" not in sys.modules
import dataclasses
assert [f.default for f in dataclasses.fields(Point)] == [dataclasses.MISSING, 0]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_constructor_is_written_for_many_instances():
    base, _, ordered = classes(dataclass)
    first = base.__init__
    made = [base(i, items=[i]) for i in range(WRITTEN_AFTER)]
    assert base.__init__ is first
    made += [base(i, items=[i]) for i in range(WRITTEN_AFTER, 3 * WRITTEN_AFTER)]
    assert base.__init__ is not first and base.__init__.__code__.co_varnames[:3] == ("self", "x", "items")
    assert [value.x for value in made] == list(range(3 * WRITTEN_AFTER)) and made[-1].items == [made[-1].x]
    assert ordered(1).b == 3


@pytest.mark.parametrize("call", ["1, x=2", "y=3", "1, z=2", "1, [], 2.0, 3", "z=1"])
def test_wrong_arguments_raise_the_errors_of_the_standard_library(call):
    told = []
    for decorator in (dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError) as error:
            eval(f"sub({call})", {"sub": classes(decorator)[1]})
        told.append(str(error.value))
    assert told[0] == told[1]


def test_slots_and_classes_of_both_kinds():
    @dataclass(frozen=True, slots=True)
    class Slotted:
        x: int
        y: tuple = ()

    assert not hasattr(Slotted(1), "__dict__") and Slotted(1) == Slotted(1, ()) and Slotted.__slots__ == ("x", "y")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Slotted(1).x = 2

    @dataclasses.dataclass(frozen=True)
    class Standard(classes(dataclass)[0]):
        z: int = 5

    assert [f.name for f in fields(Standard)] == ["x", "items", "z"] and Standard(1, z=2).z == 2

    @dataclass(frozen=True)
    class Ours(Standard):
        last: str = dataclasses.field(default="", compare=False)

    assert Ours(1, [], 2, "a") == Ours(1, [], 2, "b") and repr(Ours(1)).endswith("Ours(x=1, items=[], z=5, last='')")
    assert copy.deepcopy(Ours(1)) == Ours(1) and pickle.loads(pickle.dumps(OF_MODULE)) == OF_MODULE


@dataclass(frozen=True)
class OfModule:
    x: int


OF_MODULE = OfModule(3)


def test_orders_of_fields_that_cannot_be_called_are_refused():
    with pytest.raises(TypeError, match="non-default argument 'b' follows default argument"):

        @dataclass
        class Wrong:
            a: int = 0
            b: int

    with pytest.raises(ValueError, match="mutable default <class 'list'> for field a"):

        @dataclass
        class Shared:
            a: list = []


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


@dataclass(frozen=True, slots=True)
class _Slotted:
    name: str
    sizes: tuple = ()


def test_frozen_instances_with_slots_are_copied_and_pickled() -> None:
    made = _Slotted("a", (1, 2))
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == copy.copy(made) == made
