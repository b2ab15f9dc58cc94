"""Gluon has the names of Triton 3.9: those of every module, asked from the wheel or from a recorded list."""

import importlib
import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = "tritium.experimental.gluon"
RECORDED = Path(__file__).with_name("triton_names.json")
LIST_NAMES = """
import importlib, json, pkgutil, types
def modules(name):
    module = importlib.import_module(name)
    yield name, module
    for found in pkgutil.iter_modules(getattr(module, "__path__", [])):
        yield from modules(f"{name}.{found.name}")
root = "triton.experimental.gluon"
public = {}
for name, module in modules(root):
    said = getattr(module, "__all__", None)
    own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == name and n[0] != "_"]
    short = name.removeprefix(root).lstrip(".")
    names = sorted(set(own if said is None else said))
    if not any(part[:1] == "_" for part in short.split(".")):
        public[short] = names
print(json.dumps(public, indent=1))
"""


def missing(names: dict[str, list[str]]) -> dict[str, list[str]]:
    """The names that modules here do not have."""
    found = {}
    for module, wanted in names.items():
        here = importlib.import_module(f"{ROOT}.{module}".rstrip("."))
        absent = [name for name in wanted if not name.startswith("_") and not hasattr(here, name)]
        if absent:
            found[module] = absent
    return found


def test_every_module_of_gluon_has_the_names_of_triton():
    assert missing(json.loads(RECORDED.read_text())) == {}


def test_the_recorded_names_are_those_of_the_wheel():
    interpreter = os.environ.get("TRITIUM_TEST_TRITON")
    if not interpreter:
        pytest.skip("TRITIUM_TEST_TRITON names no interpreter that has Triton 3.9")
    names = json.loads(subprocess.check_output([interpreter, "-c", LIST_NAMES], text=True))
    assert names == json.loads(RECORDED.read_text())
