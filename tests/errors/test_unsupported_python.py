"""What Python has and kernels have not: one error that says so, at the place, with what to do instead."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import TritiumError


@tritium.jit
def abs_of_two(x):
    tl.store(x, abs(tl.load(x), 3))


@tritium.jit
def min_with_key(x):
    tl.store(x, min(tl.load(x), 1.0, key=3))


@tritium.jit
def len_of_two(x):
    tl.store(x, len(x, 2))


@tritium.jit
def opened(x):
    with open("numbers"):
        tl.store(x, 1.0)


@tritium.jit
def yielding(x):
    tl.store(x, 1.0)
    yield x


@tritium.jit
def matching(x, n):
    match n:
        case 1:
            tl.store(x, 1.0)


@tritium.jit
def shapes_apart(x):
    tl.store(x + tl.arange(0, 8), tl.arange(0, 8) + tl.arange(0, 16))


@pytest.mark.parametrize(
    ("kernel", "message", "shown"),
    [
        (abs_of_two, r"abs\(\) takes 1 argument, got 2", "abs(tl.load(x), 3)"),
        (min_with_key, r"min\(\) takes no argument 'key'", "min(tl.load(x), 1.0, key=3)"),
        (len_of_two, r"len\(\) takes 1 argument, got 2", "len(x, 2)"),
        (opened, "open is not defined.*hint: kernels cannot use Python's open", "open"),
        (yielding, "Yield is not supported.*hint: return a tuple", "yield x"),
        (shapes_apart, r"8 and 16.*hint: `tl.arange\(0, 8\)\[:, None\]`", "tl.arange(0, 8)"),
    ],
    ids=lambda v: getattr(getattr(v, "fn", None), "__name__", ""),
)
def test_error_names_and_points_at_the_construct(kernel, message, shown):
    x = np.zeros(16, np.float32)
    with pytest.raises(TritiumError) as raised:
        kernel[(1,)](x)
    text = str(raised.value)
    assert re.search(message, text, re.S), text
    line, caret = text.splitlines()[-3:-1] if "hint: " in text else text.splitlines()[-2:]
    assert line[caret.index("^") :].startswith(shown), text
    assert not x.any()


def test_match_is_refused_with_what_to_write_instead():
    with pytest.raises(TritiumError) as raised:
        matching[(1,)](np.zeros(1, np.float32), 3)
    text = str(raised.value)
    assert "Match is not supported" in text and "    match n:\n" in text
    assert "hint: use if and elif; conditions on tl.constexpr values are decided at compile time" in text


def test_lambda_is_refused_as_a_kernel():
    with pytest.raises(TritiumError, match="a lambda cannot be a kernel\nhint: define a function"):
        tritium.jit(lambda x: tl.store(x, 1.0))[(1,)](np.zeros(1, np.float32))


@pytest.mark.parametrize("option", [{"maxnreg": -5}, {"num_ctas": 3}, {"num_warps": 0}, {"num_stages": -1}])
def test_options_without_effect_are_checked_too(option):
    (name,) = option
    with pytest.raises(TritiumError, match=f"{name} must be"):
        shapes_apart[(1,)](np.zeros(16, np.float32), **option)


@tritium.jit
def asks_a_block(x):
    if tl.arange(0, 4) > 2:
        tl.store(x, 1.0)


@tritium.jit
def to_any_power(x):
    tl.store(x, tl.load(x) ** 2.5)


@tritium.jit
def asks_whether_a_value_is_in(x):
    if tl.load(x) in (1.0, 2.0):
        tl.store(x, 1.0)


@tritium.jit
def formats_a_value(x):
    tl.static_print(f"{tl.load(x)}")


@pytest.mark.parametrize("kernel", [asks_a_block, to_any_power, asks_whether_a_value_is_in, formats_a_value])
def test_unsupported_syntax_has_its_own_error_class(kernel):
    with pytest.raises(tritium.compiler.errors.UnsupportedLanguageConstruct, match="hint: "):
        kernel[(1,)](np.zeros(4, np.float32))
