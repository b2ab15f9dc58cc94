"""A Pygments lexer for MLIR text.

    module attributes {ttg.target = "cuda:90"} {
      tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) { … }

Values, symbols, block labels, attribute and type aliases, operations, numbers and shapes get tokens of their own.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pygments.lexers
from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

__all__ = ["MLIRLexer"]  # Pygments reads it: lexers only

_KEYWORDS = (
    *("module", "attributes", "public", "private", "nested", "dense", "dense_resource", "array", "affine_map", "loc"),
    *("callsite", "fused", "unknown", "iter_args", "step", "to", "at", "else", "do", "true", "false", "unit"),
)
_TYPES = ("tensor", "vector", "memref", "memdesc", "tuple", "complex", "index", "none", "bf16", "tf32")


class MLIRLexer(RegexLexer):
    """MLIR's textual form, pretty and generic."""

    name = "MLIR"
    aliases: ClassVar[list[str]] = ["mlir"]
    filenames: ClassVar[list[str]] = ["*.mlir", "*.ttir", "*.ttgir", "*.ttcir"]
    url = "https://mlir.llvm.org/docs/LangRef/"

    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            (r"\s+", Text.Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r'"(?:[^"\\\n]|\\.)*"', String),
            (r"[%][\w$.-]+'*(?:[:#]\d+)?", Name.Variable),
            (r'@(?:[\w$.-]+|"(?:[^"\\\n]|\\.)*")', Name.Function),
            (r"\^[\w$.-]+", Name.Label),
            (r"![\w.$]+", Keyword.Type),
            (r"\{-#|#-\}", Punctuation),
            (r"#[A-Za-z_][\w.$]*", Name.Constant),
            (r"0x[0-9A-Fa-f]+\b", Number.Hex),
            (r"(\d+|\?)(x)(?=[\d?]|[a-z!])", bygroups(Number.Integer, Operator)),
            (r"-?\d+\.\d*(?:[eE][-+]?\d+)?", Number.Float),
            (r"-?\d+", Number.Integer),
            (r"[su]?i\d+\b|f\d+(?:E\d+M\d+\w*)?\b", Keyword.Type),
            (words(_TYPES, prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (r"[A-Za-z_][\w$]*(?:\.[\w$]+)+(?=\s*=[^=])", Name.Attribute),
            (r"[A-Za-z_][\w$]*(?:\.[\w$]+)+", Keyword),
            (words(_KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword.Reserved),
            (r"[A-Za-z_][\w$]*(?=\s*=[^=])", Name.Attribute),
            (r"[A-Za-z_][\w$]*", Name),
            (r"->|==|[-+*/=|&~]", Operator),
            (r"[:;,.<>(){}\[\]…?'!#@^%]", Punctuation),
        ]
    }


def register() -> None:
    """Make the lexer known to Pygments by its name."""
    described = (__name__, MLIRLexer.name, tuple(MLIRLexer.aliases), tuple(MLIRLexer.filenames), ())
    pygments.lexers.LEXERS.setdefault("MLIRLexer", described)
