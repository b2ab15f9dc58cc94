"""Settings: the environment, assignment, scopes, hook chains, generations."""

from __future__ import annotations

import os

import pytest

from tritium import knobs
from tritium.support import settings


@pytest.mark.parametrize(
    "text, value", [("1", True), ("TRUE", True), ("on", True), ("Y", True), ("0", False), ("x", False)]
)
def test_flags_are_read_on_access(monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", text)
    assert knobs.compilation.always_compile is value


def test_assignment_wins_and_reaches_child_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_DEBUG", "0")
    with knobs.runtime.scope():
        knobs.runtime.debug = True
        assert knobs.runtime.debug is True
        assert os.environ["TRITON_DEBUG"] == "1"
    assert knobs.runtime.debug is False
    assert os.environ["TRITON_DEBUG"] == "0"


def test_own_variable_before_tritons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITIUM_CACHE_DIR", raising=False)
    monkeypatch.setenv("TRITON_CACHE_DIR", "/theirs")
    assert knobs.cache.dir == "/theirs"
    monkeypatch.setenv("TRITIUM_CACHE_DIR", "/ours")
    assert knobs.cache.dir == "/ours"


def test_a_bad_integer_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "many")
    with pytest.raises(ValueError, match="TRITIUM_NUM_THREADS must be an integer, not 'many'"):
        _ = knobs.runtime.num_threads


def test_hook_chains() -> None:
    seen: list[str] = []
    first, second = (lambda x: seen.append(f"first {x}")), (lambda x: seen.append(f"second {x}"))
    with knobs.runtime.scope():
        assert not knobs.runtime.launch_exit_hook
        knobs.runtime.launch_exit_hook.add(first)
        knobs.runtime.launch_exit_hook.add(second)
        knobs.runtime.launch_exit_hook.add(second)
        knobs.runtime.launch_exit_hook("a")
        assert seen == ["second a", "first a"]  # exit hooks run backwards
        knobs.runtime.launch_exit_hook.remove(second)
        knobs.runtime.launch_exit_hook("b")
        assert seen[2:] == ["first b"]
        knobs.runtime.launch_enter_hook = first
        assert knobs.runtime.launch_enter_hook.calls == [first]
        knobs.runtime.launch_enter_hook = None
        assert not knobs.runtime.launch_enter_hook
    assert not knobs.runtime.launch_exit_hook


def test_every_change_is_a_generation() -> None:
    before = settings.generation.value
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook.add(print)
        assert settings.generation.value > before
        before = settings.generation.value
        knobs.runtime.debug = True
        assert settings.generation.value > before
        before = settings.generation.value
    assert settings.generation.value > before


def test_settings_that_affect_code_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("TRITON_DEBUG", "TRITIUM_SANITIZE", "MLIR_ENABLE_DUMP"):
        monkeypatch.delenv(variable, raising=False)
    assert "runtime.debug" not in settings.invalidating_environment()
    monkeypatch.setenv("TRITON_DEBUG", "1")
    assert settings.invalidating_environment()["runtime.debug"] is True
