"""TMA copies that hang (triton#6354: boxes over 256 elements a side), and descriptors read too early (#4332)."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.reliability.emulated import error_of, gpu, tile, without
from tritium.emulator import EmulationError


@tritium.jit
def doubled(x, o, M: tl.constexpr, N: tl.constexpr):
    o.store([0, 0], x.load([0, 0]) * 2)


@tritium.jit
def made_here(x, o, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [M, N])
    target = tl.make_tensor_descriptor(o, [m, n], [n, 1], [M, N])
    target.store([0, 0], source.load([0, 0]) * 2)


@pytest.mark.parametrize("block", [[512, 16], [16, 512], [1024, 8]], ids=str)
def test_a_box_of_more_than_256_elements_a_side_ends(block: list[int]) -> None:
    with gpu():
        (x, x_map), (o, o_map) = tile((block[0], block[1]), block, 3), tile((block[0], block[1]), block)
        doubled[(1,)](x_map, o_map, *block)
        np.testing.assert_array_equal(o, x * 2)
        o[...] = np.nan
        made_here[(1,)](x, o, *block, *block)
        np.testing.assert_array_equal(o, x * 2)


def test_a_descriptor_is_not_read_before_it_is_there() -> None:
    """The fences between making a tensor map and using it are there, and each is needed."""
    with gpu():
        (x, _), (o, _) = tile((32, 32), [32, 32], 4), tile((32, 32), [32, 32])
        arguments = (x, o, 32, 32, 32, 32)
        kernel = made_here[(1,)](*arguments, without="host-maps")
        np.testing.assert_array_equal(o, x * 2)
        fences = list(without(kernel.asm["ptx"], r"fence\.proxy\.tensormap"))
        assert fences
        for line, ptx in fences:
            assert isinstance(error_of(kernel, ptx, (1,), *arguments), EmulationError), line
