"""Every rewrite rule has a function in a file here that is named after it, and on which it applies."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections import defaultdict
from pathlib import Path

import pytest

import tritium.transforms
from tests.filetests.runner import _OUTPUT, _RUN, output_of
from tritium.ir import Operation, Rule

HERE = Path(__file__).parent


@functools.cache
def all_rules() -> dict[str, Rule]:
    """The rules of all modules of `tritium.transforms`, whether a table lists them or not."""
    found: dict[str, Rule] = {}
    for info in pkgutil.walk_packages(tritium.transforms.__path__, "tritium.transforms."):
        for value in vars(importlib.import_module(info.name)).values():
            if isinstance(value, Rule):
                assert found.setdefault(value.name, value) is value, f"two rules are called {value.name}"
    return found


def function_of(op: Operation) -> str:
    """The name of the function around an operation."""
    scope: Operation | None = op
    while scope is not None and "sym_name" not in scope.attributes:
        scope = scope.parent_op
    return "" if scope is None else scope.attributes["sym_name"].value  # type: ignore[attr-defined]


def watch(rule: Rule, fired: dict[str, set[str]], monkeypatch) -> None:
    """Enter into `fired` in which functions a rule applies."""
    fn = rule.fn

    def watched(op):
        where = function_of(op)
        out = fn(op)
        if out is not None:
            fired[rule.name].add(where)
        return out

    monkeypatch.setattr(rule, "fn", watched)


def fired_in_files(monkeypatch, folder: Path = HERE) -> dict[str, set[str]]:
    """Rule -> the functions of the files below `folder` in which it applied."""
    fired: dict[str, set[str]] = defaultdict(set)
    for rule in all_rules().values():
        watch(rule, fired, monkeypatch)
    for path in sorted(folder.rglob("*.mlir")):
        text = path.read_text()
        steps = [step.strip() for step in _RUN.match(text)[1].split(",")]
        if "error:" not in text:
            output_of(text.partition(_OUTPUT)[0], str(path), steps)
    return fired


def test_every_rule_has_its_function(monkeypatch):
    fired = fired_in_files(monkeypatch)
    missing = [name for name in all_rules() if name not in fired[name]]
    assert not missing, f"no function @<rule> in tests/filetests on which these rules apply: {', '.join(missing)}"


def test_every_function_of_the_rules_folder_is_a_rule(monkeypatch):
    """A rule that was renamed takes its function along."""
    fired = fired_in_files(monkeypatch, HERE / "rules")
    applied_to = set().union(*fired.values())
    assert applied_to and applied_to <= all_rules().keys()


def test_a_rule_without_a_function_is_found(monkeypatch, tmp_path):
    assert not fired_in_files(monkeypatch, tmp_path)


@pytest.mark.parametrize("name", sorted(all_rules()))
def test_rules_say_what_they_do(name):
    """The docstring is the equation: it has an equals sign, or says in words what becomes what."""
    equation = all_rules()[name].equation
    assert equation and ("=" in equation or " is " in equation), equation
