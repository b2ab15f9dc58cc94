"""Accesses of the interpreter by where they lie: in one array or in several, aligned or not, one place twice."""

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs


@pytest.fixture(autouse=True)
def interpreted():
    with knobs.runtime.scope():
        knobs.runtime.interpret = True
        yield


@tritium.jit
def words(bytes, out, start, step, T: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    places = (bytes + start + at * step).to(tl.pointer_type(T), bitcast=True)
    value = tl.load(places)
    tl.store(out + at, value)
    tl.store(places, value + at.to(T))


@pytest.mark.parametrize("kind", ["uint8", "int16", "int32", "float64"])
@pytest.mark.parametrize(("start", "step"), [(0, 8), (3, 8), (4, 1), (1, 3), (0, 0), (16, -2)])
def test_words_at_any_byte(kind, start, step):
    memory = np.random.default_rng(4).integers(0, 100, 64).astype(np.uint8)
    wanted, size = memory.copy(), np.dtype(kind).itemsize
    places = [slice(start + i * step, start + i * step + size) for i in range(7)]
    seen = [wanted[place].copy().view(kind)[0] for place in places]
    for i, place in enumerate(places):  # of those that overlap the last one stays
        wanted[place] = np.array([seen[i] + np.dtype(kind).type(i)], kind).view(np.uint8)
    out = np.zeros(7, kind)
    words[(1,)](memory, out, start, step, getattr(tl, kind), 7)
    np.testing.assert_array_equal(out, seen)
    np.testing.assert_array_equal(memory, wanted)


@tritium.jit
def between(x, y, out, n):
    at = tl.arange(0, 8)
    value = tl.load(tl.where(at < n, x + at, y + at))
    tl.store(tl.where(at < n, out + at, y + at), value + 1)


def test_one_access_of_two_arrays():
    x, y, out = np.arange(8), np.arange(8) + 100, np.zeros(8, np.int64)
    between[(1,)](x, y, out, 3)
    np.testing.assert_array_equal(out, [1, 2, 3, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(y, [100, 101, 102, 104, 105, 106, 107, 108])
    y.flags.writeable = False
    with pytest.raises(tritium.TritiumError, match="read-only"):
        between[(1,)](x, y, out, 8 - 1)


def test_arguments_are_those_of_the_first_program_in_every_one():
    @tritium.jit
    def kernel(out, n, pair):
        at = tl.program_id(0)
        n += at
        pair = (pair[0] + n, pair[1])
        out += at
        tl.store(out, n * 100 + pair[0] * pair[1])

    out = np.zeros(4, np.int32)
    kernel[(4,)](out, 3, (2, 5))
    np.testing.assert_array_equal(out, [(3 + i) * 100 + (5 + i) * 5 for i in range(4)])
