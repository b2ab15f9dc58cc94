"""Every public name of Triton 3.9's modules is there with `import triton`, or left out by name with a reason."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import tomllib

from tests.triton_oracle import ABSENT, find_interpreter
from tritium.dropin_names import ADDED, LEFT_OUT

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NAMED = tomllib.loads((HERE / "left_out.toml").read_text())

OURS = """
import importlib, json, sys
import tritium
tritium.install()
wanted, found = json.load(sys.stdin), {}
for module, names in wanted.items():
    try:
        ours = importlib.import_module(module)
    except ModuleNotFoundError as error:
        found[module] = str(error)
        continue
    found[module] = [name for name in names if not hasattr(ours, name)]
print(json.dumps(found))
"""


def run(program: list[str], text: str = "") -> str:
    done = subprocess.run(program, input=text, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def compared() -> dict[str, list[str] | str]:
    """Module of Triton's -> names that ours lacks, or why it cannot be imported."""
    pytest.importorskip("torch")  # some of the modules are about its tensors
    interpreter = find_interpreter()
    if interpreter is None:
        pytest.skip(ABSENT)
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(
            [interpreter, "-P", str(HERE / "triton_names.py")],
            capture_output=True,
            text=True,
            cwd=elsewhere,
            check=False,
            env={"PATH": "", "TRITON_HOME": elsewhere},
        )
    assert done.returncode == 0, done.stderr
    return json.loads(run([sys.executable, "-c", OURS], done.stdout))


def left_out(module: str) -> dict[str, str]:
    """Name -> reason."""
    return {name: entry["why"] for entry in NAMED.get(module, []) for name in entry["names"]}


def test_no_name_is_missing_without_a_reason(compared) -> None:
    missing = {
        module: sorted(set(names) - set(left_out(module)))
        for module, names in compared.items()
        if not isinstance(names, str)
    }
    assert {module: names for module, names in missing.items() if names} == {}
    unknown = {module for module, names in compared.items() if isinstance(names, str)} - set(LEFT_OUT)
    assert unknown == set()


def test_what_is_there_is_not_said_to_be_left_out(compared) -> None:
    """The list does not outlive what it lists."""
    lacking = {module: set(names) for module, names in compared.items() if not isinstance(names, str)}
    assert {
        f"{module}.{name}" for module in NAMED for name in left_out(module) if name not in lacking.get(module, ())
    } == set()


def test_a_module_that_is_left_out_says_why(compared) -> None:
    for module, why in compared.items():
        if isinstance(why, str):
            assert module in why and LEFT_OUT[module] in why


def test_every_reason_is_said() -> None:
    assert all(len(entry["why"]) > 10 for entries in NAMED.values() for entry in entries)


def test_what_is_added_is_where_the_table_says() -> None:
    for names in ADDED.values():
        for place in names.values():
            module, _, name = place.partition(":")
            assert not name or hasattr(importlib.import_module(module), name), place
