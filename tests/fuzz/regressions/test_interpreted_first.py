"""A kernel whose function with two returns was interpreted first could never be compiled in the same process: what the
visitor notes about a `return` leads back to it, and the search for names walked in that circle."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def step(a):
    if a > 5:
        return a * 3
    else:
        return a - 1


@tritium.jit
def steps(x, out):
    at = tl.arange(0, 16)
    tl.store(out + at, tl.map_elementwise(step, tl.load(x + at)))


def test_interpreted_then_asked_for_its_key(monkeypatch):
    x, out = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    monkeypatch.setattr(tritium.knobs.runtime, "interpret", True)
    steps[(1,)](x, out)
    np.testing.assert_array_equal(out, np.where(x > 5, x * 3, x - 1))
    assert len(steps.cache_key) > 10
