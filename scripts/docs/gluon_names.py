"""The page of Gluon's names: which are supported, by which kernel of the tests, and which are refused."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
from pathlib import Path

from .markdown import NOTE, sections, table

_ROOT = Path(__file__).resolve().parents[2]
_TESTS = _ROOT / "tests" / "gluon"
_PORTABLE = ("test_portable.py",)  # tests whose kernels run on CPUs and interpreted, too
_TYPED = ("cdna4", "cdna5", "rdna4")  # modules of GPUs for which no code is generated
_AMD = ("test_amd.py",)  # tests whose kernels run on emulated AMD GPUs


def gluon_names_page() -> dict[str, str]:
    """The page by its path below docs/."""
    recorded: dict[str, list[str]] = json.loads((_TESTS / "triton_names.json").read_text())
    parts = [_module(module, names) for module, names in recorded.items() if not _is_alias(module)]
    parts = [part for part in parts if part]
    return {"gluon-names.md": sections(NOTE, _introduction(), *parts)}


def _introduction() -> str:
    return inspect.cleandoc(
        """
        # Names of Gluon

        The public names of every module of Triton 3.9's `triton.experimental.gluon`, as `tests/gluon/test_names.py`
        compares them. A supported name has the kernel or test of `tests/gluon` that uses it: those under "NVIDIA" run
        on the [emulated](emulator.md) H100, those under "AMD" on the emulated gfx942 (CDNA3), gfx1100 (RDNA3) or both,
        the ones under "CPU" on CPUs and interpreted as well. "there" says that no test of this folder names it:
        functions of the Triton language are in [supported features](supported-features.md).
        Typed names make IR, but no code is generated for their GPUs. Refused names can be imported, and are an error
        where a kernel uses them.
        """
    )


def _is_alias(module: str) -> bool:
    """Modules with the names of another one."""
    return module.endswith("gfx1250")


def _module(module: str, names: list[str]) -> str:
    found = importlib.import_module(f"tritium.experimental.gluon.{module}".rstrip("."))
    public = [name for name in names if not name.startswith("_") and not inspect.ismodule(getattr(found, name))]
    if not public:
        return ""
    rows = [_row(name, getattr(found, name)) for name in public]
    refused = [f"`{name}`" for name, state, *_ in rows if state.startswith("refused")]
    shown = [(f"`{name}`", *cells) for name, *cells in rows if not cells[0].startswith("refused")]
    title = f"## `gluon.{module}`" if module else "## `gluon`"
    lines = [f"Refused: {', '.join(refused)}."] if refused else []
    if set(module.split(".")) & set(_TYPED) and shown:
        return sections(title, f"Typed: {', '.join(name for name, *_ in shown)}.", *lines).rstrip()
    return sections(title, *([table(("name", "NVIDIA", "AMD", "CPU"), shown)] if shown else []), *lines).rstrip()


def _row(name: str, value: object) -> tuple[str, str, str, str]:
    if (getattr(value, "__doc__", None) or "").startswith("Refused: "):
        return name, "refused", "", ""
    uses = _uses().get(name, {})
    amd, portable = (next((where for where, file in uses.items() if file in files), "") for files in (_AMD, _PORTABLE))
    elsewhere = "" if amd else "there"
    return name, next((where for where, file in uses.items() if file not in _AMD), elsewhere), amd, portable


@functools.cache
def _uses() -> dict[str, dict[str, str]]:
    """For each name the functions of the tests that use it, with their files."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(_TESTS.glob("test_*.py")):
        for function in ast.parse(path.read_text()).body:
            if not isinstance(function, (ast.FunctionDef, ast.ClassDef)):
                continue
            link = f"[{path.stem.removeprefix('test_')}::{function.name}](../tests/gluon/{path.name})"
            for node in ast.walk(function):
                name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
                if name is not None:
                    found.setdefault(name, {})[link] = path.name
    return found
