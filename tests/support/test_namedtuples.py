"""Named tuples that are cheap to define do what those of `typing` do."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import typing

import pytest

from tritium.support import namedtuples


class Ours(namedtuples.NamedTuple):
    """A place."""

    x: int
    y: int = 2
    z: str = "z"

    @property
    def both(self):
        return self.x + self.y


class Theirs(typing.NamedTuple):
    """A place."""

    x: int
    y: int = 2
    z: str = "z"

    @property
    def both(self):
        return self.x + self.y


@pytest.fixture(params=[0, namedtuples.WRITTEN_AFTER + 1], ids=["at first", "called often"])
def pair(request):
    """A class of each kind, before and after ours has the standard's constructor."""

    class Fresh(namedtuples.NamedTuple):
        x: int
        y: int = 2
        z: str = "z"

    Fresh.__name__ = "Ours"
    for _ in range(request.param):
        Fresh(1)
    assert (Fresh.__new__ is namedtuples._new) is not bool(request.param)
    return Fresh, Theirs


GIVEN = [((1,), {}), ((1, 3, "q"), {}), ((1,), {"z": "q"}), ((), {"z": 1, "x": 2}), ((), {"x": 1, "y": 2, "z": 3})]
WRONG = [((), {}), ((1, 2, 3, 4), {}), ((1,), {"x": 1}), ((1,), {"w": 1}), ((), {"y": 1}), ((1, 2, 3), {"w": 1})]


@pytest.mark.parametrize("args, kwargs", GIVEN)
def test_values(pair, args, kwargs):
    ours, theirs = (cls(*args, **kwargs) for cls in pair)
    assert tuple(ours) == tuple(theirs) and ours == theirs and hash(ours) == hash(theirs)
    assert (ours.x, ours.y, ours.z) == (theirs.x, theirs.y, theirs.z) == tuple(ours)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours") and ours._asdict() == theirs._asdict()
    assert ours._replace(y=9) == theirs._replace(y=9) and type(ours._replace(y=9)) is type(ours)
    assert type(ours)._make("abc") == theirs._make("abc")


@pytest.mark.parametrize("args, kwargs", WRONG)
def test_wrong_arguments_have_the_standards_message(pair, args, kwargs):
    messages = []
    for cls in pair:
        with pytest.raises(TypeError) as caught:
            cls(*args, **kwargs)
        messages.append(str(caught.value).replace("Theirs", "Ours"))
    assert messages[0] == messages[1]


def test_errors_of_methods():
    for cls in (Ours, Theirs):
        with pytest.raises(ValueError, match=r"unexpected field names: \['w'\]"):
            cls(1)._replace(w=1)
        with pytest.raises(TypeError, match="Expected 3 arguments, got 2"):
            cls._make("ab")
        with pytest.raises(AttributeError):
            cls(1).x = 2
        with pytest.raises(AttributeError):
            cls(1).other = 2


def test_what_the_class_tells():
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__module__"):
        assert getattr(Ours, name) == getattr(Theirs, name), name
    assert Ours.__mro__ == (Ours, tuple, object) and not hasattr(Ours(1), "__dict__")
    assert Ours(1).both == 3 and isinstance(Ours.x, type(Theirs.x))
    match Ours(1):
        case Ours(x, y):
            assert (x, y) == (1, 2)


def test_copies():
    for made in (pickle.loads(pickle.dumps(Ours(1, y=5))), copy.copy(Ours(1, y=5)), copy.deepcopy(Ours(1, y=5))):
        assert made == (1, 5, "z") and type(made) is Ours


def test_a_class_derived_from_one():
    class Derived(Ours):
        def __new__(cls, x):
            return super().__new__(cls, x, y=x)

    assert Derived(4) == (4, 4, "z") and Derived(4)._replace(z=1) == (4, 4, 1)


def test_refused_class_statements():
    with pytest.raises(TypeError, match="a field without a default follows"):

        class Late(namedtuples.NamedTuple):
            x: int = 1
            y: int

    with pytest.raises(TypeError, match="no other base"):

        class Two(namedtuples.NamedTuple, dict):
            x: int


def test_a_class_writes_no_text():
    """What makes the standard's expensive: none is written where instances are made by position."""
    code = """
import collections
from tritium.support.namedtuples import NamedTuple
collections.namedtuple = None
class P(NamedTuple):
    x: int
    y: int = 1
assert P(1, 2).y == 2 and P(1).y == 1 and P(x=1).x == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True)
