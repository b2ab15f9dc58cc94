"""Options that are misspelt, unknown, or of the wrong type or value: one error, the same on every target."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.errors import OutOfResources
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.dropin import alias
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.runtime.errors import ConfigError
from tritium.support import OptionError, TritiumError, UnknownOptionError
from tritium.tools.compile_command import main
from tritium.tools.request import Request

TARGETS = {"cpu": GPUTarget("cpu", "", 1), "cuda": GPUTarget("cuda", 90, 32), "hip": GPUTarget("hip", "gfx942", 64)}


@tritium.jit
def increment(x, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(x + at, tl.load(x + at) + 1)


def compiling(target: str) -> Callable[..., Any]:
    source = ASTSource(increment, {"x": "*fp32", "B": "constexpr"}, {"B": 64})
    return lambda **options: compile(source, target=TARGETS[target], options=options, until="ttir")


def load_file(path: Path) -> Any:
    """The module of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def launching(**options: Any) -> Any:
    return increment[(1,)](np.zeros(64, np.float32), B=64, **options)


def tuning(**options: Any) -> Any:
    return tritium.autotune([tritium.Config(options)], key=[])(increment)[(1,)](np.zeros(64, np.float32), B=64)


@pytest.fixture(params=["launch:cpu", "launch:emulated", "autotune", *(f"compile:{target}" for target in TARGETS)])
def call(request: pytest.FixtureRequest) -> Any:
    """What takes options as keywords."""
    way, _, where = request.param.partition(":")
    if where == "emulated":
        driver.set_active(EmulatedCUDADriver(90))
    yield {"launch": launching, "autotune": tuning}.get(way) or compiling(where)
    driver.reset_active()


VALUES = [
    ({"num_warps": 3}, "num_warps must be a power of 2, got 3"),
    ({"num_warps": 0}, "num_warps must be 1 or more, got 0"),
    ({"num_warps": "4"}, "num_warps must be an integer, got '4'"),
    ({"num_warps": True}, "num_warps must be an integer, got True"),
    ({"num_warps": 8.0}, "num_warps must be an integer, got 8.0"),
    ({"num_stages": -1}, "num_stages must be 0 or more, got -1"),
    ({"num_ctas": 3}, "num_ctas must be a power of 2, got 3"),
    ({"debug": "yes"}, "debug must be True or False, got 'yes'"),
    ({"enable_fp_fusion": 2}, "enable_fp_fusion must be True or False, got 2"),
    ({"extern_libs": "lib.bc"}, "extern_libs must be a sequence, got 'lib.bc'"),
    ({"supported_fp8_dtypes": (8,)}, r"supported_fp8_dtypes must be a sequence of strings, got \(8,\)"),
    ({"instrumentation_mode": "consane"}, "there is no mode 'consane'; did you mean 'consan'"),
]


@pytest.mark.parametrize(("options", "message"), VALUES, ids=[str(options) for options, _ in VALUES])
def test_a_value_that_an_option_cannot_have(call: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=f"^kernel increment: .*{message}"):
        call(**options)


def test_registers_are_counted_from_one() -> None:
    for call in (launching, tuning, compiling("cpu"), compiling("cuda")):
        with pytest.raises(OptionError, match="kernel increment: maxnreg must be 1 or more, got 0"):
            call(maxnreg=0)
    with pytest.raises(UnknownOptionError, match="unknown option 'maxnreg'"):
        compiling("hip")(maxnreg=64)


def test_too_many_warps() -> None:
    """An error that the autotuner takes for a configuration that does not fit."""
    for call in (launching, *map(compiling, TARGETS)):
        with pytest.raises(OutOfResources, match="threads"):
            call(num_warps=64)


def test_a_misspelt_option_names_the_nearest(call: Any) -> None:
    with pytest.raises(UnknownOptionError, match=r"'num_warp'(?s:.*)did you mean 'num_warps'\?"):
        call(num_warp=4)


def test_a_keyword_that_is_neither_parameter_nor_option(call: Any) -> None:
    with pytest.raises(KeyError, match="'bogus'"):
        call(bogus=1)


def test_none_is_the_default(call: Any) -> None:
    assert call(num_warps=None, num_stages=None) is not None


def test_options_among_the_meta_parameters_of_a_configuration_take_effect() -> None:
    assert tritium.Config({"num_warps": 8, "B": 64}).all_kwargs() == {
        "num_warps": 8, "B": 64, "num_ctas": 1, "num_stages": 3,
    }  # fmt: skip
    with pytest.raises(ValueError, match="Config has num_warps=2 as an option and 8 in its kwargs"):
        tritium.Config({"num_warps": 8}, num_warps=2).all_kwargs()


def test_a_misspelt_parameter_names_the_nearest() -> None:
    with pytest.raises(UnknownOptionError, match="'BB' is neither a parameter of the kernel nor an option(?s:.*)'B'"):
        increment[(1,)](np.zeros(64, np.float32), B=64, BB=3)


@pytest.mark.parametrize("name", ["device", "device_type"])
def test_a_launch_takes_no_device(name: str) -> None:
    with pytest.raises(UnknownOptionError, match=f"{name!r}(?s:.*)runs on the device of its arguments"):
        launching(**{name: 0})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tl.load(x, volatile='yes')", "an option must be True or False, got 'yes'"),
        ("tl.sum(tl.arange(0, 16), keep_dims='yes')", "an option must be True or False, got 'yes'"),
        ("tl.multiple_of(tl.arange(0, 16), 0)", "values of multiple_of must be 1 or more, got 0"),
        ("tl.max_contiguous(tl.arange(0, 16), -4)", "values of max_contiguous must be 1 or more, got -4"),
        ("tl.load(x, cache_modifier='.wb')", "Cache modifier '.wb' not supported"),
        ("tl.load(x, eviction_policy='never')", "Eviction policy 'never' not supported"),
        ("tl.load(x, evict='never')", "unexpected keyword argument 'evict'"),
        ("tl.atomic_add(x, 1, sem='weak')", "Memory semantic 'weak' not supported"),
        ("tl.atomic_add(x, 1, scope='warp')", "Memory scope 'warp' not supported"),
        ("tl.range(0, 4, flatten='yes')", "an option must be True or False, got 'yes'"),
        ("tl.range(0, 4, num_stages=-1)", "num_stages must be 0 to 128, got -1"),
    ],
)
def test_a_value_that_a_parameter_of_the_language_cannot_have(line: str, message: str, tmp_path: Path) -> None:
    body = f"for _ in {line}:\n        pass" if line.startswith("tl.range") else line
    path = tmp_path / "misused.py"
    path.write_text(f"import tritium\nimport tritium.language as tl\n@tritium.jit\ndef misused(x):\n    {body}\n")
    source = ASTSource(load_file(path).misused, {"x": "*i32"}, {})
    for target in TARGETS.values():
        with pytest.raises(tritium.CompilationError, match=re.escape(message)):
            compile(source, target=target, until="ttir")


def test_a_rule_of_pruning_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="there is no rule 'early_prune'; did you mean 'early_config_prune'"):
        tritium.autotune([tritium.Config({})], key=[], prune_configs_by={"early_prune": list})(increment)


def test_the_interpreter_names_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    with tritium.knobs.runtime.scope():
        tritium.knobs.runtime.interpret = True
        with pytest.raises(OptionError, match="kernel increment: num_warps must be a power of 2, got 3"):
            launching(num_warps=3)


def test_options_of_a_compile_are_none_of_jit() -> None:
    with pytest.raises(
        TypeError, match=r"jit has no parameter 'num_warps'(?s:.*)kernel\[grid\]\(\.\.\., num_warps=4\)"
    ):
        tritium.jit(num_warps=4)(increment.fn)
    with pytest.raises(TypeError, match="jit has no parameter 'no_inline'(?s:.*)did you mean 'noinline'"):
        tritium.jit(no_inline=True)(increment.fn)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("num_warp=4", "unknown option 'num_warp'; did you mean 'num_warps'?"),
        ("num_warps=four", "num_warps must be an integer, got 'four'"),
        ("instrumentation_mode=consan", "instrumentation_mode='consan' is not supported for cuda:90"),
    ],
)
def test_options_of_the_command_line(option: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        assert main(Request(f"{__file__}::increment", "cuda:90", "*fp32, 64", options=[option], stages=["ttir"])) == 1
    finally:
        alias.uninstall()  # the command answers `import triton` in files of kernels
    assert message in capsys.readouterr().err


def test_a_config_that_is_no_dict() -> None:
    with pytest.raises(ConfigError, match="Config takes a dict of meta-parameters, not 'BLOCK'"):
        tritium.Config("BLOCK")  # type: ignore[arg-type]


def test_a_kernel_in_the_place_of_a_source() -> None:
    with pytest.raises(TritiumError, match=r"not JITFunction\nhint: wrap a kernel: tritium.ASTSource"):
        tritium.compile(scaled_by_two)


def test_a_type_of_a_signature_that_does_not_exist() -> None:
    source = tritium.ASTSource(scaled_by_two, {"x": "*float32"})
    with pytest.raises(tritium.CompilationError) as caught:
        tritium.compile(source)
    text = str(caught.value)
    assert "unknown type 'float32' in a signature" in text and "def scaled_by_two(x)" in text
    assert "hint: scalars are " in text and "fp32" in text


def test_a_target_that_is_a_string() -> None:
    source = tritium.ASTSource(scaled_by_two, {"x": "*fp32"})
    with pytest.raises(TritiumError, match="a target is a GPUTarget, not the string 'cuda:90'\nhint: pass GPUTarget"):
        tritium.compile(source, target="cuda:90")


@tritium.jit
def scaled_by_two(x):
    tl.store(x, 2 * tl.load(x))
