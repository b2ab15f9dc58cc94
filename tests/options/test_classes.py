"""Every option, annotation and setting has a class: semantic, instrumentation or hint."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tritium.backends.amd import HIPOptions
from tritium.backends.cpu import CPUOptions
from tritium.backends.nvidia.options import CUDAOptions
from tritium.frontend.callee import SourceFunction
from tritium.frontend.language.builtin import is_builtin
from tritium.frontend.language.parameters import ANNOTATIONS, PARAMETERS
from tritium.language.extra import cuda
from tritium.runtime import parameters as launch_parameters
from tritium.runtime.fastpath.table import LAUNCH_ONLY
from tritium.support.dataclasses import fields
from tritium.support.option_classes import HINT, INSTRUMENTATION, KINDS, SEMANTIC, declared
from tritium.support.settings import GROUPS

OPTIONS = {"cpu": CPUOptions, "cuda": CUDAOptions, "hip": HIPOptions}
TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("target", OPTIONS)
def test_every_option_declares_a_class_and_an_effect(target: str) -> None:
    for f in fields(OPTIONS[target]):
        declaration = declared(f)
        assert declaration is not None, f.name
        assert declaration.kind in KINDS and declaration.effect, f.name
        assert declaration.kind == HINT or not declaration.ignored, f"{f.name}: only hints may be ignored"


def test_an_option_has_the_same_class_on_every_target() -> None:
    kinds: dict[str, set[str]] = {}
    for cls in OPTIONS.values():
        for f in fields(cls):
            kinds.setdefault(f.name, set()).add(declared(f).kind)  # type: ignore[union-attr]
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}


def test_the_cpu_accepts_every_hint_of_a_gpu() -> None:
    hints = {f.name for cls in OPTIONS.values() for f in fields(cls) if declared(f).kind == HINT}  # type: ignore[union-attr]
    assert hints <= {f.name for f in fields(CPUOptions)}


def test_every_setting_has_a_class() -> None:
    settings = [(f"{group}.{name}", s) for group, owner in GROUPS.items() for name, s in owner.settings().items()]
    assert [name for name, s in settings if s.kind not in KINDS] == []
    # what is said to have no effect is a hint
    assert [name for name, s in settings if "no effect" in s.__doc__ and s.kind != HINT] == []


def test_every_setting_with_an_effect_is_tested() -> None:
    """A test names it, by its attribute or its variable; settings of AMD's later stages cannot be reached."""
    text = "\n".join(path.read_text() for path in TESTS.rglob("*.py"))
    words = {*re.findall(r"\b[A-Z0-9_]{4,}\b", text), *map(".".join, re.findall(r"(\w+)\.(?=(\w+))", text))}
    missing = []
    for group, owner in GROUPS.items():
        for name, setting in owner.settings().items():
            if setting.kind == HINT or setting.__doc__.startswith("not reached"):
                continue
            if not words & {f"{group}.{name}", *setting.env}:
                missing.append(f"{group}.{name}")
    assert missing == []


def _language_functions() -> dict[str, Any]:
    owners = (tl, tl.tensor, tl.tensor_descriptor, tl.math, tl.target_info, cuda)
    found = {
        f"{owner.__name__}.{name}": getattr(owner, name)
        for owner in owners
        for name in {*dir(owner), *getattr(owner, "__all__", ())}  # modules find some names when they are asked for
        if not name.startswith("_")
    }
    return {
        name: f
        for name, f in found.items()
        if is_builtin(f) or isinstance(f, SourceFunction) or f in (tl.range, tl.static_range, tl.condition)
    }


def _parameters(function: Any) -> list[str]:
    signature = inspect.signature(getattr(function, "fn", function))
    return [p.name for p in signature.parameters.values() if p.default is not p.empty and not p.name.startswith("_")]


def test_every_optional_parameter_of_the_language_has_a_class() -> None:
    functions = _language_functions()
    assert len(functions) > 100
    unclassified = {
        f"{name}.{p}" for name, function in functions.items() for p in _parameters(function) if p not in PARAMETERS
    }
    assert unclassified == set()


def test_no_parameter_is_classified_that_no_function_has() -> None:
    known = {p for f in _language_functions().values() for p in _parameters(f)}
    assert set(PARAMETERS) <= known
    assert {f"tritium.language.{name}" for name in ANNOTATIONS} <= set(_language_functions())


@pytest.mark.parametrize("table", [PARAMETERS, ANNOTATIONS], ids=["parameters", "annotations"])
def test_only_hints_of_the_language_are_ignored(table: Any) -> None:
    for name, parameter in table.items():
        assert parameter.kind in (SEMANTIC, HINT) and parameter.effect, name
        assert parameter.kind == HINT or not parameter.ignored_on, name


@pytest.mark.parametrize(
    ("name", "function"),
    [("jit", tritium.JITFunction), ("autotune", tritium.autotune), ("Config", tritium.Config)],
)
def test_every_parameter_around_kernels_has_a_class(name: str, function: Any) -> None:
    table = launch_parameters.PARAMETERS[name]
    assert set(inspect.signature(function).parameters) - {"fn"} == set(table)
    assert all(kind in (SEMANTIC, INSTRUMENTATION, HINT) for kind, _ in table.values())


def test_every_keyword_of_a_launch_has_a_class() -> None:
    assert {*LAUNCH_ONLY, "grid", "sanitize"} == set(launch_parameters.PARAMETERS["launch"])
