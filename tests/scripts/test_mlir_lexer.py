"""The lexer of MLIR text on the site accepts all IR of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pygments")

from pygments.lexers import get_lexer_by_name
from pygments.token import Keyword, Name, Number, Token

from scripts.site.mlir_lexer import MLIRLexer, register
from tests.docs.pages import DOCS, blocks_of

ROOT = Path(__file__).resolve().parents[2]


def tokens(text: str) -> list[tuple[object, str]]:
    """The tokens of a text, without spaces."""
    return [(kind, part) for kind, part in MLIRLexer().get_tokens(text) if part.strip()]


def errors(text: str) -> list[str]:
    """The parts that no rule matches."""
    return [part for kind, part in MLIRLexer().get_tokens(text) if kind in Token.Error]


def test_no_error_tokens_in_file_tests_and_pages() -> None:
    files = sorted((ROOT / "tests" / "filetests").rglob("*.mlir"))
    texts = {str(path): path.read_text() for path in files}
    for page in DOCS.rglob("*.md"):
        texts |= {f"{page}:{b.line}": b.body for b in blocks_of(page.read_text()) if b.language == "mlir"}
    assert len(texts) > 100
    assert {name: found for name, text in texts.items() if (found := errors(text))} == {}


def test_parts_of_an_operation() -> None:
    found = tokens('%0:2 = tt.load %p, %m {a.b = 1 : i32} : tensor<16x?x!tt.ptr<bf16>, #blocked> loc("k.py":3:7)')
    for expected in (
        (Name.Variable, "%0:2"), (Keyword, "tt.load"), (Name.Attribute, "a.b"), (Keyword.Type, "i32"),
        (Keyword.Type, "tensor"), (Number.Integer, "16"), (Keyword.Type, "!tt.ptr"), (Keyword.Type, "bf16"),
        (Name.Constant, "#blocked"), (Keyword.Reserved, "loc"),
    ):  # fmt: skip
        assert expected in found


def test_registered_by_name() -> None:
    register()
    assert isinstance(get_lexer_by_name("mlir"), MLIRLexer)
