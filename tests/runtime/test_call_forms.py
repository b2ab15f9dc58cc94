"""Calls of compiled kernels: every form of the arguments that Triton's compiled kernels take."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs
from tritium.runtime import ArgumentError, driver
from tritium.runtime.call_forms import CallForms
from tritium.runtime.cpu_driver import CPUDriver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.runtime.jit import compute_cache_key


@pytest.fixture(params=["cpu", "emulated"])
def device(request):
    before = driver.active
    driver.set_active(CPUDriver() if request.param == "cpu" else EmulatedCUDADriver(90))
    yield request.param
    driver.set_active(before)


@tritium.jit
def strided(x, bias, out, n, stride, SCALE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at * stride, mask=at < n)
    if bias is not None:
        value += tl.load(bias)
    tl.store(out + at, value * SCALE, mask=at < n)


ALL = ("x", "bias", "out", "n", "stride", "SCALE", "BLOCK")
FORMS = {
    "all": ALL,
    "no constexprs": ALL[:5],
    "run-time values": ("x", "out", "n"),
    "no trailing constants": ALL[:4],
    "some trailing constants": ALL[:6],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("hooked", [False, True])
def test_compiled_kernel_accepts_form(device, form, hooked) -> None:
    x, first = np.arange(16, dtype=np.float32), np.empty(16, np.float32)
    compiled = strided[(1,)](x, None, first, 9, 1, SCALE=3, BLOCK=16)
    assert list(compiled.src.signature.values()).count("constexpr") == 4
    told = []
    with knobs.runtime.scope():
        if hooked:
            knobs.runtime.launch_enter_hook.add(lambda metadata: told.append(metadata.args))
        for n in (5, 7, 5, 9, 11):  # the third launch of a kind takes the fast path
            out = np.zeros(16, np.float32)
            values = {"x": x, "bias": None, "out": out, "n": n, "stride": 1, "SCALE": 3, "BLOCK": 16}
            compiled[(1, 1, 1)](*(values[name] for name in FORMS[form]))
            np.testing.assert_array_equal(out, np.where(np.arange(16) < n, 3 * x, 0))
    assert all(tuple(map(type, args[1:2] + args[3:])) == (type(None), *[int] * 4) for args in map(list, told))
    assert bool(told) == hooked


def test_run_accepts_forms(device) -> None:
    x, out = np.arange(16, dtype=np.float32), np.empty(16, np.float32)
    compiled = strided[(1,)](x, None, out, 9, 1, SCALE=3, BLOCK=16)
    for form in FORMS.values():
        out = np.zeros(16, np.float32)
        values = {"x": x, "bias": None, "out": out, "n": 4, "stride": 1, "SCALE": 3, "BLOCK": 16}
        args = [values[name] for name in form]
        compiled.run(1, 1, 1, 0, compiled.function, compiled.packed_metadata, None, None, None, *args)
        assert out.tolist() == [0, 3, 6, 9] + [0] * 12


@tritium.jit
def scattered(FACTOR: tl.constexpr, x, one, out, BLOCK: tl.constexpr, two):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * FACTOR + one + two)


def test_constexprs_between_arguments() -> None:
    x, out = np.arange(4, dtype=np.int32), np.empty(4, np.int32)
    compiled = scattered[(1,)](10, x, 1, out, 4, 1)
    values = {"FACTOR": 10, "x": x, "one": 1, "out": out, "BLOCK": 4, "two": 1}
    for form in (list(values), ["x", "out"], ["FACTOR", "x", "one", "out", "BLOCK"]):
        out[:] = 0
        compiled[(1,)](*(values[name] for name in form))
        assert out.tolist() == [2, 12, 22, 32]


def test_ambiguous_count_is_refused() -> None:
    x, out = np.arange(4, dtype=np.int32), np.empty(4, np.int32)
    compiled = scattered[(1,)](10, x, 1, out, 4, 1)
    with pytest.raises(ArgumentError) as raised:  # (x, one, out, two), or all but BLOCK and two
        compiled[(1,)](x, 1, out, 1)
    assert "4 arguments may be (x, one, out, two) or (FACTOR, x, one, out)" in str(raised.value)
    assert "pass all 6 arguments, or the 2 run-time ones" in str(raised.value)


def test_compiled_in_values_of_an_incomplete_call_are_checked() -> None:
    """All but the specialized 1: the same count as all but the last parameter, which is compiled in."""
    x, out = np.arange(16, dtype=np.float32), np.empty(16, np.float32)
    compiled = strided[(1,)](x, None, out, 9, 1, SCALE=3, BLOCK=16)
    compiled[(1,)](x, None, out, 9, 1, 3)
    with pytest.raises(ArgumentError) as raised:
        compiled[(1,)](x, None, out, 9, 3, 16)
    assert "6 arguments are (x, bias, out, n, stride, SCALE), and 'stride' is compiled in as 1" in str(raised.value)
    assert "hint: pass all 7 arguments, or the 3 run-time ones" in str(raised.value)


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("stride", 2, "'stride' is compiled in as 1, not 2"),
        ("bias", np.ones(1, np.float32), "'bias' is compiled in as None, not a ndarray"),
        ("SCALE", 4, "'SCALE' is compiled in as 3, not 4"),
        ("SCALE", tl.constexpr(5), "'SCALE' is compiled in as 3, not 5"),
        ("n", 17, "compiled for 'n' divisible by 16, and it is 0x11"),
        ("x", np.arange(33, dtype=np.float32)[1:], "compiled for 'x' divisible by 16, and it is 0x"),
    ],
)
def test_arguments_of_other_kernels_are_refused(device, hooked, name, value, text) -> None:
    """In every call, also where the fast path serves those before."""
    x, out = np.arange(32, dtype=np.float32), np.empty(16, np.float32)
    values = {"x": x, "bias": None, "out": out, "n": 16, "stride": 1, "SCALE": 3, "BLOCK": 16}
    compiled = strided[(1,)](*values.values())
    with knobs.runtime.scope():
        if hooked:
            knobs.runtime.launch_enter_hook.add(lambda metadata: None)
        for _ in range(4):
            compiled[(1,)](*values.values())
        same = {**values, "SCALE": np.int64(3), "BLOCK": tl.constexpr(16), "n": 32}
        compiled[(1,)](*same.values())
        other = {**values, name: value}
        forms = [ALL] if name == "SCALE" else [ALL, FORMS["no constexprs"]]
        for form in forms:
            with pytest.raises(ArgumentError, match=text) as raised:
                compiled[(1,)](*(other[key] for key in form))
            assert "hint: launch the function itself" in str(raised.value)
        with pytest.raises(ArgumentError, match=text):
            compiled.run(1, 1, 1, 0, compiled.function, compiled.packed_metadata, None, None, None, *other.values())


def test_compiled_in_numbers_are_compared_by_value() -> None:
    x, out = np.arange(16, dtype=np.float32), np.empty(16, np.float32)
    compiled = strided[(1,)](x, None, out, 9, 1, SCALE=float("nan"), BLOCK=16)
    for scale in (float("nan"), np.float32("nan")):
        compiled[(1,)](x, None, out, 9, 1, scale, 16.0)
    with pytest.raises(ArgumentError, match="compiled in as nan, not 0.0"):
        compiled[(1,)](x, None, out, 9, 1, 0.0, 16)


@pytest.mark.parametrize("number", [0, 1, 3, 7])
def test_count_without_form_is_refused(number) -> None:
    x, out = np.arange(4, dtype=np.int32), np.empty(4, np.int32)
    compiled = scattered[(1,)](10, x, 1, out, 4, 1)
    text = rf"takes 6 arguments, 4 without the declared constexprs, or 2 without .*; {number} were given"
    with pytest.raises(ArgumentError, match=text):
        compiled[(1,)](*[x] * number)


def _assigns(names, types, declared, number) -> list[str] | None:
    try:
        return [names[i] for i in CallForms("f", names, types, declared).positions(number)]
    except ArgumentError:
        return None


def test_forms_never_confuse_run_time_values() -> None:
    """All kernels of up to four parameters: a form that is accepted gives each run-time value its own argument."""
    checked = count()
    for length in range(1, 5):
        for code in range(3**length):
            kinds = [code // 3**i % 3 for i in range(length)]
            names = [f"p{i}" for i in range(length)]
            types = ["i32" if kind == 0 else "constexpr" for kind in kinds]
            declared = frozenset(name for name, kind in zip(names, kinds) if kind == 2)
            runtime = [name for name, ty in zip(names, types) if ty != "constexpr"]
            undeclared = [name for name in names if name not in declared]
            for form in (names, undeclared, runtime):
                found = _assigns(names, types, declared, len(form))
                if found is None:  # some prefix of this length gives a run-time value another argument
                    prefix = names[: len(form)]
                    assert set(runtime) <= set(prefix)
                    assert [prefix.index(name) for name in runtime] != [form.index(name) for name in runtime]
                    continue
                assert [found.index(name) for name in runtime] == [form.index(name) for name in runtime]
                next(checked)
    assert next(checked) > 300


# -- launches that programs build of a kernel's parts -----------------------------------------------------------------


def test_device_caches_have_the_fields_of_triton() -> None:
    """As Helion's precompiler and vLLM's warmup take them apart (Triton's `JITFunction.run`)."""
    kernel = tritium.jit(strided.fn)
    device = driver.active.get_current_device()
    kernels, keys, target, backend, bind = kernel.device_caches[device]
    x, out = np.arange(16, dtype=np.float32), np.empty(16, np.float32)
    arguments = {"x": x, "bias": None, "out": out, "n": 9, "stride": 1, "SCALE": 3}
    bound, specialization, options = bind(*arguments.values(), BLOCK=16, num_warps=2, debug=False)
    assert list(bound) == list(ALL) and options == {"num_warps": 2, "debug": False}
    key = compute_cache_key(keys, specialization, options)
    assert kernels.get(key) is None and compute_cache_key(keys, specialization, options) == key
    given = {**arguments, "BLOCK": 16, "num_warps": 2, "debug": False}
    parsed, signature, constants, attrs = kernel._pack_args(backend, given, bound, specialization, options)
    assert [name for name, ty in signature.items() if ty == "constexpr"] == ["bias", "stride", "SCALE", "BLOCK"]
    assert constants == {(1,): None, (4,): 1, (5,): 3, (6,): 16}
    source = kernel.ASTSource(kernel, signature, constants, attrs)
    kernels[key] = compiled = kernel.compile(source, target=target, options=parsed.__dict__)
    compiled[(1, 1, 1)](x, None, out, 9, 1, 3, 16)
    np.testing.assert_array_equal(out[:9], 3 * x[:9])
    launched = kernel[(1,)](x, None, out, 9, 1, SCALE=3, BLOCK=16, num_warps=2)
    assert launched.hash == compiled.hash
