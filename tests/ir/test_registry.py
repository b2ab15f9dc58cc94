"""Dialects are loaded when text names them."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import tritium.dialects  # noqa: F401  (it notes where the dialects are)
from tritium.ir import load_dialect, registered_dialects
from tritium.support.lazy import LazyModule, loaded


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_dialect_is_loaded_by_an_operation_a_type_and_an_attribute(tmp_path):
    (tmp_path / "later_dialect.py").write_text(
        textwrap.dedent(
            """
            from tritium.ir import DIALECT_TYPES, Op, OpaqueType, Result

            class Now(Op, name="later.now", assembly="attr-dict `:` type($x)"):
                '''A value.'''
                x: Result

            DIALECT_TYPES["later.ty"] = lambda parser: OpaqueType("!later.ty")
            print("loaded", end=" ")
            """
        )
    )
    for text in ("%0 = later.now : i32", '%0 = "later.now"() : () -> i32', "%0 = ub.poison : !later.ty"):
        code = f"""
            import sys
            sys.path.insert(0, {str(tmp_path)!r})
            import tritium.dialects
            from tritium.ir import parse_module, register_dialects
            from tritium.support.lazy import LazyModule
            register_dialects({{"later": LazyModule("later_dialect")}})
            parse_module("%a = arith.constant 1 : i32")
            assert "later_dialect" not in sys.modules
            print(parse_module({text!r}).body.first)
            """
        printed = "%0 = later.now : i32" if "now" in text else text
        assert python(code) == f"loaded {printed}"


def test_an_unknown_dialect_is_no_news():
    assert not load_dialect("nonsense.op")
    assert "nonsense" not in registered_dialects()


def test_the_module_itself():
    assert loaded(LazyModule("math")).__name__ == "math"
