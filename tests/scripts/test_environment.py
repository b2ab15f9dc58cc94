"""The script behind the make targets: what it says where it cannot work, and that it does nothing twice."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "environment.py"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("VENV", str(tmp_path / "venv"))
    spec = importlib.util.spec_from_file_location("environment", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_unknown_target_is_refused() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "everything"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "usage" in done.stderr


def test_an_old_python_says_what_to_do(environment, monkeypatch, capsys) -> None:
    monkeypatch.setattr(environment.sys, "version_info", (3, 8, 10))
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    assert environment.new_enough() is False
    assert "needs Python 3.10 or newer" in capsys.readouterr().err


def test_an_up_to_date_environment_is_left_alone(environment, monkeypatch) -> None:
    monkeypatch.setattr(environment.sys, "argv", ["environment.py", "test"])
    calls = []
    monkeypatch.setattr(environment, "create", lambda: calls.append("create") or make_python(environment))
    monkeypatch.setattr(environment, "install", lambda profile: calls.append(profile) or True)
    assert environment.main() == 0
    assert environment.main() == 0
    assert calls == ["create", "test"]
    monkeypatch.setattr(environment, "fingerprint", lambda: "pyproject.toml has changed")
    assert environment.main() == 0
    assert calls == ["create", "test", "test"]


def test_a_failed_installation_is_tried_again(environment, monkeypatch) -> None:
    monkeypatch.setattr(environment.sys, "argv", ["environment.py", "test"])
    monkeypatch.setattr(environment, "create", lambda: make_python(environment))
    results = iter([False, True])
    monkeypatch.setattr(environment, "install", lambda profile: next(results))
    assert environment.main() == 1
    assert environment.main() == 0


def test_torch_is_optional(environment, monkeypatch, capsys) -> None:
    monkeypatch.setattr(environment.subprocess, "call", lambda *a, **k: 1)
    monkeypatch.setattr(environment, "pip", lambda *a, **k: (False, "no such wheel"))
    environment.install_torch()
    assert "skipped" in capsys.readouterr().err


def test_the_assembler_and_the_browser_are_optional_and_the_tests_alone_ask_for_them(
    environment, monkeypatch, capsys
) -> None:
    asked = []
    monkeypatch.setattr(environment.platform, "system", lambda: "Linux")
    monkeypatch.setattr(environment, "install_torch", lambda: None)
    monkeypatch.setattr(environment, "pip", lambda *a, **k: (asked.append(a[-1]) or "nvidia" not in a[-1], ""))
    assert environment.install("demo") and asked == ["."]
    assert environment.install("test")
    assert asked[1:] == [".[test,browser,nvidia]", ".[test]", ".[browser]", ".[nvidia]"]
    assert "skipped" in capsys.readouterr().err
    monkeypatch.setattr(environment.platform, "system", lambda: "Darwin")
    assert environment.install("test") and asked[5:] == [".[test]"]


def test_linux_asks_for_the_cpu_build_only(environment, monkeypatch) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("the +cpu builds are Linux's")
    asked = []
    monkeypatch.setattr(environment.subprocess, "call", lambda *a, **k: 1)
    monkeypatch.setattr(environment, "pip", lambda *a, **k: asked.append(a) or (False, ""))
    environment.install_torch()
    assert asked and all("torch==2.13.0+cpu" in arguments for arguments in asked)


def make_python(environment) -> None:
    path = Path(environment.PYTHON)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
