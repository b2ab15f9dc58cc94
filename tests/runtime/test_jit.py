"""The JIT function itself: its source, its name, options that are no plain values."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs


def test_a_replaced_source_is_compiled_anew():
    @tritium.jit
    def kernel(x):
        tl.store(x, FIRST)  # noqa: F821

    x = np.zeros(1, np.int32)
    template = kernel.src
    for value in (3, 4):
        kernel._unsafe_update_src(template.replace("FIRST", str(value)))
        kernel[(1,)](x)
        assert x[0] == value
        assert kernel.hash == kernel.cache_key
    with pytest.raises(SyntaxError):
        kernel._unsafe_update_src("1 + 1")


def test_a_function_names_the_kernel():
    def name(specialization):
        ones = [k for k, v in specialization.constants.items() if v == 1]
        return f"kernel_{specialization.signature['n']}_{'_'.join(ones)}"

    @tritium.jit(repr=name)
    def kernel(x, n, one, m: tl.constexpr):
        tl.store(x, n + one + m)

    x = np.zeros(1, np.int64)
    compiled = kernel[(1,)](x, 5, 1, 1)
    assert compiled.name == "kernel_i32_one_m"
    assert "@kernel_i32_one_m(" in compiled.asm["ttir"]
    assert x[0] == 7


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_an_integer_of_more_than_64_bits(value):
    @tritium.jit
    def kernel(x, n):
        tl.store(x, n)

    with pytest.raises(OverflowError, match="argument 'n'.*64 bits"):
        kernel[(1,)](np.zeros(1, np.int64), value)


def test_options_may_be_dicts_and_hooks_see_them_all():
    seen = []

    @tritium.jit
    def kernel(x):
        tl.store(x, 1)

    with knobs.runtime.scope():
        knobs.runtime.jit_post_compile_hook = lambda **event: seen.append(event["compile"])
        for _ in range(3):
            kernel[(1,)](np.zeros(1, np.int32), extern_libs={"libdevice": "path"}, num_warps=8)
    assert len(seen) == 1
    assert seen[0]["extern_libs"] == (("libdevice", "path"),)
    assert seen[0]["num_warps"] == 8 and seen[0]["enable_fp_fusion"] is True


def test_the_cpu_is_a_device_under_torchs_name_as_well() -> None:
    @tritium.jit
    def kernel(x):
        tl.store(x, 1)

    x = np.zeros(1, np.int32)
    kernel[(1,)](x)
    assert kernel.device_caches["cpu"] is kernel.device_caches[0] and len(kernel.device_caches["cpu"][0]) == 1
    kernel.device_caches["cpu"][0].clear()
    kernel[(1,)](x)
    assert list(kernel.device_caches) == [0]


def test_what_tools_ask_a_kernel() -> None:
    @tritium.jit
    def asked(out, N: "constexpr", n, M: "constexpr" = 3):  # noqa: F821, UP037
        pass

    assert asked.constexprs == [1, 3] and asked.module == __name__ and not asked.is_gluon()
    assert asked.raw_src[0].strip() == "@tritium.jit" and asked.raw_src[1].strip().startswith("def asked(")
    with open(__file__) as f:
        assert f.read().splitlines(True)[asked.starting_line_number - 1 :][: len(asked.raw_src)] == asked.raw_src


def test_generated_kernel_has_position_of_its_template() -> None:
    """What libraries of generated kernels do: another text in an object, told to stand in the template's file."""

    @tritium.jit
    def template(out, KIND: tl.constexpr):
        tl.store(out, KIND)
        tl.store(out + 1, missing)  # noqa: F821

    written = (
        "def template(out):\n    KIND: tl.constexpr = 7\n    tl.store(out, KIND)\n    tl.store(out + 1, missing)\n"
    )

    def empty():
        pass

    empty.__signature__ = inspect.signature(lambda out: None)
    made = tritium.JITFunction(empty)
    made._unsafe_update_src(written)
    made.raw_src = list(template.raw_src)
    made.starting_line_number = template.starting_line_number
    made.def_file_line_number = template.def_file_line_number - 1  # a line more stands before the body
    made.def_file_col_number = template.def_file_col_number
    made.file_name = template.file_name
    assert made.raw_src == template.raw_src and made.starting_line_number == template.starting_line_number
    assert made.def_file_col_number == template.def_file_col_number == 5 and made.file_name == __file__
    with pytest.raises(tritium.CompilationError, match="missing") as error:
        made[(1,)](np.zeros(2, np.int32))
    assert f"test_jit.py:{template.def_file_line_number + 2}:" in str(error.value)
    assert "tl.store(out + 1, missing)" in str(error.value)
