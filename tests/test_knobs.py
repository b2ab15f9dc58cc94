"""`tritium.knobs` where it is more than the settings."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest

from tests.triton_oracle import find_interpreter
from tritium import knobs
from tritium.backends.nvidia.toolchain import find_tool
from tritium.support import settings


@pytest.mark.skipif(find_tool("ptxas") is None, reason="there is no ptxas")
def test_programs_of_nvidia() -> None:
    found = find_tool("ptxas")
    assert found is not None and knobs.nvidia.ptxas.path == found.path
    assert re.fullmatch(r"\d+\.\d+", knobs.nvidia.ptxas.version)
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = knobs.nvidia.ptxas
        assert settings.nvidia.ptxas == found.path
        knobs.nvidia.launch_blocking = True
        assert settings.nvidia.launch_blocking and knobs.nvidia.launch_blocking
    assert settings.nvidia.ptxas is None and not knobs.nvidia.launch_blocking


class Mine(knobs.base_knobs):
    text = knobs.env_str("MINE_TEXT", "default")
    flag = knobs.env_bool("MINE_FLAG", True)
    maybe = knobs.env_opt_str("MINE_MAYBE")
    maybe_flag = knobs.env_opt_bool("MINE_MAYBE_FLAG")
    number = knobs.env_int("MINE_NUMBER", 3)
    folder = knobs.env_str_callable_default("MINE_FOLDER", lambda: "made")
    kind = knobs.env_class("MINE_CLASS", "Base")


class Base:
    pass


class Derived(Base):
    pass


DEFAULTS = {
    "text": "default",
    "flag": True,
    "maybe": None,
    "maybe_flag": None,
    "number": 3,
    "folder": "made",
    "kind": None,
}


def test_groups_of_ones_own(monkeypatch) -> None:
    mine = Mine()
    assert mine.knobs == DEFAULTS and set(mine.knob_descriptors) == set(DEFAULTS)
    values = {"TEXT": "t", "FLAG": "no", "MAYBE": "m", "MAYBE_FLAG": "1", "NUMBER": "7", "FOLDER": "/f"}
    for name, text in values.items():
        monkeypatch.setenv(f"MINE_{name}", text)
    monkeypatch.setenv("MINE_CLASS", f"{__name__}:Derived")
    monkeypatch.setitem(__import__("sys").modules, __name__, __import__("types").SimpleNamespace(Derived=Derived))
    found = {"text": "t", "flag": False, "maybe": "m", "maybe_flag": True, "number": 7, "folder": "/f", "kind": Derived}
    assert mine.knobs == found
    with mine.scope():
        mine.flag, mine.number = True, 9
        twin = mine.copy()
        assert os.environ["MINE_FLAG"] == "1" and os.environ["MINE_NUMBER"] == "9"
        mine.flag = knobs.env
        mine.reset()
        assert (mine.flag, mine.number, twin.number) == (True, 9, 9)  # the environment keeps them
    assert mine.knobs == found


@pytest.mark.parametrize(
    "name, text, error",
    [
        ("MINE_NUMBER", "many", "MINE_NUMBER must be an integer, not 'many'"),
        ("MINE_CLASS", "nocolon", "MINE_CLASS must be MODULE:CLASS, not 'nocolon'"),
        ("MINE_CLASS", "no.such:Thing", "MINE_CLASS names 'no.such:Thing', which cannot be had: No module named 'no'"),
        ("MINE_CLASS", "json:loads", "MINE_CLASS names 'json:loads', which is no Base"),
        ("MINE_CLASS", "json:JSONDecoder", "which is no Base"),
    ],
)
@pytest.mark.parametrize("kind", [ValueError, RuntimeError])
def test_texts_that_no_setting_can_have(monkeypatch, name, text, error, kind) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(kind, match=re.escape(error)):
        _ = Mine().knobs


def test_propagation_to_the_environment_can_be_disabled(monkeypatch) -> None:
    monkeypatch.delenv("TRITON_DEBUG", raising=False)
    knobs.propagate_env = False
    try:
        with knobs.runtime.scope():
            knobs.runtime.debug = True
            knobs.setenv("TRITON_DEBUG", "1")
            assert knobs.runtime.debug and "TRITON_DEBUG" not in os.environ
    finally:
        knobs.propagate_env = True
    assert knobs.propagate_env is True


def test_the_environment_counts_again(monkeypatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", "/other")
    monkeypatch.delenv("TRITIUM_CACHE_DIR", raising=False)
    with knobs.cache.scope():
        knobs.propagate_env = False
        try:
            knobs.cache.dir = "/mine"
            assert knobs.cache.dir == "/mine"
            knobs.cache.dir = knobs.env
            assert knobs.cache.dir == "/other"
        finally:
            knobs.propagate_env = True
        knobs.cache.dir = "/mine"
        assert os.environ["TRITON_CACHE_DIR"] == "/mine" and "TRITIUM_CACHE_DIR" not in os.environ


def test_default_folders(monkeypatch) -> None:
    for name in ("CACHE_DIR", "DUMP_DIR", "OVERRIDE_DIR", "HOME"):
        monkeypatch.delenv(f"TRITON_{name}", raising=False)
        monkeypatch.delenv(f"TRITIUM_{name}", raising=False)
    assert knobs.cache.home_dir == os.path.expanduser("~/")
    assert knobs.cache.dir == os.path.expanduser("~/.tritium/cache")
    monkeypatch.setenv("TRITON_HOME", "/elsewhere")
    assert knobs.cache.dir == "/elsewhere/.tritium/cache" == knobs.cache.get_triton_dir("cache")
    assert knobs.cache.dump_dir == "/elsewhere/.tritium/dump"
    assert str(settings.GROUPS["cache"].dir) == knobs.cache.dir


def test_build_folders(monkeypatch) -> None:
    assert knobs.build.backend_dirs == set()
    monkeypatch.setenv("TRITON_CUDART_PATH", "/cuda/rt")
    assert knobs.build.backend_dirs == {"/cuda/rt"}


def test_texts_for_the_environment() -> None:
    assert [knobs.toenv(v) for v in (None, True, False, "a", 3, 1.5)] == [(None,), ("1",), ("0",), ("a",), ("3",), None]


def test_listeners_can_be_annotated() -> None:
    from tritium.compiler import CompileTimes

    assert knobs.CompileTimes is CompileTimes
    assert {"key", "specialization_data", "is_warmup"} <= set(knobs.JITHookCompileInfo.__annotations__)


NAMES_OF_TRITON = """
import json, triton.knobs as knobs
groups = {n: v for n, v in vars(knobs).items() if isinstance(v, knobs.base_knobs)}
told = {n: {k: getattr(d, "key", None) for k, d in type(g).__dict__.items() if not k.startswith("_")} for n, g in groups.items()}
told[""] = {n: None for n, v in vars(knobs).items() if getattr(v, "__module__", "") == "triton.knobs" and not n.startswith("_")}
print(json.dumps(told))
"""


TYPE_VARIABLES = ("SetType", "GetType", "ClassType", "knobs_type", "F")


def test_every_name_of_triton(triton_oracle) -> None:
    """Triton 3.9's groups, settings, variables, and what else its module has."""
    done = subprocess.run([find_interpreter(), "-c", NAMES_OF_TRITON], capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout)
    for name in theirs.pop(""):
        if name not in TYPE_VARIABLES:
            assert hasattr(knobs, name), name
    for group, names in theirs.items():
        for name, variable in names.items():
            ours = getattr(type(settings.GROUPS[group]), name, None)
            assert ours is not None, f"{group}.{name}"
            if variable is not None:
                assert variable in ours.env, f"{group}.{name}"


@pytest.mark.parametrize(
    "requested, default, forbidden, found",
    [
        (None, True, False, True),
        (None, False, False, False),
        (True, False, False, True),
        (True, True, True, False),
    ],
)
def test_fusion(requested, default, forbidden, found) -> None:
    with knobs.language.scope():
        knobs.language.default_fp_fusion, knobs.language.force_disable_fp_fusion = default, forbidden
        assert knobs.language.fp_fusion_enabled(requested) is found


def test_replaced_settings_group_is_read_by_the_compiler(monkeypatch) -> None:
    monkeypatch.delenv("TRITON_ALWAYS_COMPILE", raising=False)
    monkeypatch.setattr(knobs, "propagate_env", False)
    first = knobs.compilation
    with first.scope():
        first.always_compile = True
        monkeypatch.setattr(knobs, "compilation", first.copy().reset())
        assert knobs.compilation is not first and not settings.compilation.always_compile
        before = settings.generation.value
        knobs.compilation.always_compile = True
        assert settings.compilation.always_compile and settings.generation.value > before
        knobs.compilation = knobs.compilation.copy().reset()  # and another one in the place of that
        assert not settings.compilation.always_compile
        knobs.compilation = first
        assert settings.compilation.always_compile and knobs.compilation is settings.compilation
    assert not settings.compilation.always_compile


def test_settings_tell_their_variable() -> None:
    keys = {name: setting.key for name, setting in knobs.cache.knob_descriptors.items()}
    assert keys["home_dir"] == "TRITON_HOME" and keys["dir"] == "TRITON_CACHE_DIR"
