"""An operation, a function of the language or a target that is added must be entered in several tables: each is named
here, with what is missing from it. The pages docs/add-an-operation, add-a-function and add-a-target say what for."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import tritium.backends
import tritium.dialects.all
import tritium.interpreter  # noqa: F401  (fills the table of meanings)
import tritium.language as tl
from scripts.docs.dialects import undocumented
from scripts.works.names import all_names
from tritium.compiler.backend import backends
from tritium.conversion.ttg_to_llvm.context import LOWERINGS
from tritium.dialects import arith
from tritium.frontend import language
from tritium.interpreter.meanings import OPERATIONS
from tritium.ir import OPS, Op
from tritium.ir.traits import ELEMENTWISE, PURE
from tritium.tools.check import noise
from tritium.transforms.ttgir.layout.cost import SLOW

ROOT = Path(__file__).resolve().parents[1]
VALUES = ("arith", "math", "tt")  # dialects of what a kernel computes

#: Elementwise operations that cost one or a few instructions: all that are not in `SLOW`.
FAST = set(
    """
    arith.addf arith.addi arith.addui_extended arith.andi arith.bitcast arith.ceildivsi arith.ceildivui arith.cmpf
    arith.cmpi arith.convertf arith.divsi arith.divui arith.extf arith.extsi arith.extui arith.floordivsi
    arith.flush_denormals arith.fptosi arith.fptoui arith.index_cast arith.index_castui arith.maximumf arith.maxnumf
    arith.maxsi arith.maxui arith.minimumf arith.minnumf arith.minsi arith.minui arith.mulf arith.muli
    arith.mulsi_extended arith.mului_extended arith.negf arith.ori arith.remf arith.remsi arith.remui
    arith.scaling_extf arith.scaling_truncf arith.select arith.shli arith.shrsi arith.shrui arith.sitofp arith.subf
    arith.subi arith.subui_extended arith.truncf arith.trunci arith.uitofp arith.xori
    math.absf math.absi math.ceil math.clampf math.copysign math.floor math.fma math.fpowi math.ipowi math.isfinite
    math.isinf math.isnan math.isnormal math.round math.roundeven math.sincos math.trunc
    tt.addptr tt.approx_divf tt.bitcast tt.clampf tt.elementwise_inline_asm tt.extern_elementwise tt.fp_to_fp
    tt.int_to_ptr tt.mulhiui tt.precise_divf tt.precise_sqrt tt.ptr_to_int
    """.split()
)
#: What MLIR's own tools write, and the frontend never makes: it is read, verified and printed.
ONLY_READ = set(
    """
    arith.convertf arith.flush_denormals arith.scaling_extf arith.scaling_truncf arith.subui_extended math.clampf
    math.fpowi math.ipowi math.isfinite math.isinf math.isnan math.isnormal math.sincos
    """.split()
)
#: No value: the evaluator enters a function, it does not execute it.
NO_MEANING = {"tt.func"}
#: Passes before the lowering rewrite these.
REWRITTEN = set(
    """
    tt.advance tt.descriptor_gather tt.descriptor_load tt.descriptor_reduce tt.descriptor_scatter tt.descriptor_store
    tt.dot_scaled tt.func tt.make_tensor_descriptor tt.make_tensor_ptr
    """.split()
)
#: Elementwise operations of `tt` whose floats are exact, or whose results are no floats.
NOT_ROUNDED = {"tt.addptr", "tt.bitcast", "tt.elementwise_inline_asm", "tt.int_to_ptr", "tt.mulhiui", "tt.ptr_to_int"}


def missing_entries(name: str, cls: type[Op], lowered: set[str], shown: set[str]) -> list[str]:
    """The tables that have no entry for an operation."""
    dialect, found = name.partition(".")[0], []
    if name not in shown:
        found.append(f"tests/dialects/examples/{dialect}.mlir")
    if dialect not in VALUES:
        return found
    elementwise = bool(cls.traits & ELEMENTWISE)
    if name not in OPERATIONS and name not in ONLY_READ | NO_MEANING:
        found.append("tritium/interpreter: a function with @meaning")
    if name not in lowered and name not in ONLY_READ | REWRITTEN:
        found.append("tritium/conversion/ttg_to_llvm: a lowering, and its row in files.py")
    if elementwise and name not in SLOW | FAST:
        found.append("SLOW in tritium/transforms/ttgir/layout/cost.py, or FAST in tests/test_additions.py")
    known = name in noise._SIZES or name in noise._EXACT or name.startswith(("arith.", "math.", "tt.fp_to_fp"))
    if elementwise and not known and name not in NOT_ROUNDED:
        found.append("_SIZES or _EXACT in tritium/tools/check/noise.py, or NOT_ROUNDED in tests/test_additions.py")
    return found


@pytest.fixture(scope="module")
def lowered() -> set[str]:
    LOWERINGS.import_all()
    return {cls.name for cls in LOWERINGS}


def test_every_operation_is_in_the_tables(lowered: set[str]) -> None:
    shown = OPS.keys() - undocumented()
    ours = {name: cls for name, cls in OPS.items() if cls.__module__.startswith("tritium.")}
    missing = {name: tables for name, cls in ours.items() if (tables := missing_entries(name, cls, lowered, shown))}
    assert not missing, "\n".join(f"{name} is missing from\n  " + "\n  ".join(t) for name, t in missing.items())


def test_tables_name_operations_that_exist() -> None:
    for table in (FAST, ONLY_READ, REWRITTEN, NOT_ROUNDED, SLOW, set(noise._SIZES), noise._EXACT):
        assert not table - OPS.keys()
    assert not FAST & SLOW


def test_a_new_operation_is_told_every_table(lowered: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Fresh(arith.AddF, name="tt.fresh_for_this_test", traits=PURE | ELEMENTWISE):
        """result = fresh(lhs, rhs)"""

    Fresh.__module__ = "tritium.dialects.tt"
    try:
        tables = " ".join(missing_entries(Fresh.name, Fresh, lowered, set()))
    finally:
        OPS.pop(Fresh.name)
    for table in ("examples/tt.mlir", "@meaning", "files.py", "cost.py", "noise.py"):
        assert table in tables, table


#: The files of tritium/frontend/language whose functions are those of `tl`.
PUBLIC = ("creation", "hints", "iterators", "mathematics", "memory", "operators", "random", "reductions", "standard")
NOT_PUBLIC = {"N_ROUNDS_DEFAULT", "promote_bfloat16", "reduce_with_indices"}
#: Files of functions below `tl.extra` and `tl.math`, and of what functions of the language are made of.
OTHERS = {
    "bessel", "builtin", "core", "device", "directed_rounding", "libdevice", "libdevice_fallbacks",
    "libdevice_symbols", "library_support", "parameters", "special",
}  # fmt: skip


def test_every_function_of_the_language_is_in_the_tables() -> None:
    wrong = []
    for file in PUBLIC:
        module = importlib.import_module(f"{language.__name__}.{file}")
        for name in sorted({*module.__all__} - NOT_PUBLIC):
            if name not in tl.__all__:
                wrong.append(f"{file}.{name} is missing from `__all__` in tritium/language/__init__.py")
            if f"tl.{name}" not in all_names():
                wrong.append(f"tl.{name} is missing from scripts/works/names.py, which the page of features shows")
    assert not wrong, "\n".join(wrong)


def test_every_file_of_functions_is_classified() -> None:
    files = {module.name for module in pkgutil.iter_modules(language.__path__)}
    assert files == {*PUBLIC} | OTHERS, (
        "enter a new file in PUBLIC, or in OTHERS where its functions are not those of tl"
    )


def test_every_target_is_in_the_tables() -> None:
    """A folder in tritium/backends is a target: a backend, a layer of the import contract, and a test folder."""
    contract = (ROOT / "pyproject.toml").read_text()
    homes = {backend.__module__.split(".")[2] for backend in backends().values() if backend.__module__[:7] == "tritium"}
    for module in pkgutil.iter_modules(tritium.backends.__path__):
        if module.ispkg:
            where = f"tritium/backends/{module.name} is missing from"
            assert module.name in homes, f"{where} _OWN in tritium/compiler/backend.py"
            assert re.search(rf"tritium\.backends\.{module.name}\b", contract), f"{where} the layers in pyproject.toml"
            assert (ROOT / "tests" / "backends" / module.name).is_dir(), f"{where} tests/backends"
