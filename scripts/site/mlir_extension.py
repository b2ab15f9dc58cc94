"""The lexer of MLIR text as an extension of Python-Markdown, which the configuration of the site names."""

from __future__ import annotations

from markdown import Markdown
from markdown.extensions import Extension

from .mlir_lexer import register

__all__ = ["RegisterLexer", "makeExtension"]


class RegisterLexer(Extension):
    """Makes the lexer known to Pygments."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the lexer; the syntax of Markdown stays as it is."""
        register()


def makeExtension(**_: object) -> Extension:
    """The extension, by the name that Markdown looks up."""
    return RegisterLexer()
