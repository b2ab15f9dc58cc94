"""Every public name of Triton 3.9's modules is there with `import triton`, or refused with a reason."""

from __future__ import annotations

import importlib
import json
import subprocess
import tempfile
from pathlib import Path

import pytest

import tritium
from tests.dropin.compare_names import NAMES, accepts, all_standing
from tests.triton_oracle import ABSENT, find_interpreter
from tritium.dropin import alias
from tritium.dropin.names import ADDED, LEFT_OUT
from tritium.dropin.refused_names import REFUSED

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def standing() -> dict[str, dict[str, str]]:
    pytest.importorskip("torch")  # some of the modules are about its tensors
    return all_standing()


def missing(module: str, standing) -> set[str]:
    return {name for name, how in standing[module].items() if how == "missing"}


def test_no_name_is_missing_without_a_reason(standing) -> None:
    unexplained = {m: missing(m, standing) - set(REFUSED.get(m, ())) for m in NAMES if m not in LEFT_OUT}
    assert {module: names for module, names in unexplained.items() if names} == {}


def test_refused_names_do_not_exist(standing) -> None:
    """The list does not outlive what it lists."""
    assert {f"{m}.{n}" for m, names in REFUSED.items() for n in names if n not in missing(m, standing)} == set()


def test_error_of_a_refused_name_has_a_reason() -> None:
    for module, name in (("profiler.profile", "getenv"), ("_utils", "k")):
        with pytest.raises(AttributeError, match="is not part of tritium: ") as error:
            getattr(importlib.import_module(f"tritium.{module}"), name)
        assert REFUSED[f"triton.{module}"][name] in str(error.value)
    assert not hasattr(tritium._utils, "v")


def test_import_of_left_out_module_names_the_reason() -> None:
    for module, why in LEFT_OUT.items():
        with pytest.raises(ModuleNotFoundError) as error:
            alias._finder.find_spec(module)
        assert why in str(error.value)


def test_every_reason_is_said() -> None:
    assert all(len(why) > 10 for names in REFUSED.values() for why in names.values())


def test_added_names_are_where_the_table_lists_them() -> None:
    for names in ADDED.values():
        for place in names.values():
            module, _, name = place.partition(":")
            found = importlib.import_module(module)
            assert not name or hasattr(found, name), place


@pytest.mark.parametrize(
    "theirs, ours, wanted",
    [
        (["x", "y="], ["x", "y=", "z="], True),
        (["x", "y="], ["x", "z=", "y="], False),
        (["x", "y="], ["x", "y"], False),
        (["x"], ["x", "z"], False),
        (["x", "*", "y="], ["x", "y="], True),
        (["x", "*", "y="], ["x", "**rest"], True),
        (["x", "*", "y"], ["x", "*", "z"], False),
        (["*args"], ["x", "y="], False),
        (["x", "y"], ["*args"], True),
        (["x", "**rest"], ["x"], False),
    ],
)
def test_wider_signature_accepts_every_call(theirs, ours, wanted) -> None:
    assert accepts(theirs, ours) is wanted


def test_the_recorded_names_are_triton_s() -> None:
    interpreter = find_interpreter()
    if interpreter is None:
        pytest.skip(ABSENT)
    with tempfile.TemporaryDirectory() as elsewhere:
        command = [interpreter, "-P", str(HERE / "triton_names.py")]
        environment = {"PATH": "", "TRITON_HOME": elsewhere}
        done = subprocess.run(command, capture_output=True, text=True, cwd=elsewhere, check=True, env=environment)
    found = {m: names for m, names in json.loads(done.stdout).items() if names}
    read = {m for m, names in found.items() if not any(names.values())}  # their imports are missing there
    assert {m for m, names in found.items() if m not in read and names != NAMES.get(m)} == set()
