"""Rows that are divided by one number each, whose reciprocal their elements share: the bits of `div.full`."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl

ROWS, COLUMNS = 32, 128


@tritium.jit
def quotients(x, y, out, M: tl.constexpr, N: tl.constexpr, SHARED: tl.constexpr):
    at = tl.program_id(0) * M * N + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    if SHARED:
        divisor = tl.load(y + tl.program_id(0) * M + tl.arange(0, M))[:, None]
    else:
        divisor = tl.load(y + at // N)  # one number an element, as far as the compiler knows
    tl.store(out + at, tl.load(x + at) / divisor)


@pytest.mark.nvidia
@pytest.mark.share(1)
def test_quotients_are_the_same_bits_however_they_are_divided(device, seed) -> None:
    """Any bits as floats: NaN, infinities and subnormals are among them. An emulated GPU's reciprocals and quotients are
    rounded, each for itself, so that two units in the last place lie between them."""
    programs = 1 if device == "emulated" else 256
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(0, 1 << 32, programs * n, np.uint32) for n in (ROWS * COLUMNS, ROWS))
    y[::3] = (y[::3] & 0x80FFFFFF) | rng.choice([0, 0x00800000, 0x7E800000, 0x7F000000], len(y[::3])).astype(np.uint32)
    found = []
    for shared in (True, False):
        out = np.zeros(len(x), np.float32)
        kernel = quotients[(programs,)](x.view(np.float32), y.view(np.float32), out, ROWS, COLUMNS, SHARED=shared)
        assert ("rcp.approx.ftz" in kernel.asm["ptx"]) == shared and ("div.full" in kernel.asm["ptx"]) != shared
        found.append(out)
    np.testing.assert_array_equal(np.isnan(found[0]), np.isnan(found[1]))
    if device == "emulated":
        finite = np.isfinite(found[1])
        np.testing.assert_allclose(found[0][finite], found[1][finite], rtol=2.0**-22, atol=2.0**-147)
    else:
        kept = ~np.isnan(found[0])
        np.testing.assert_array_equal(found[0][kept].view(np.uint32), found[1][kept].view(np.uint32))
