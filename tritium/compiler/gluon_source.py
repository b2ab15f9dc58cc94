"""The source of a compile of a Gluon kernel."""

from __future__ import annotations

from typing import Any

from ..backends.compiler import Language
from ..support.lazy import LazyModule
from .source import ASTSource

__all__ = ["GluonASTSource"]

_entry = LazyModule("..frontend.gluon.entry", __package__)


class GluonASTSource(ASTSource):
    """A kernel function in Gluon, specialized; arguments as of ASTSource."""

    language = Language.GLUON

    def _hash(self) -> str:
        """Not that of the same function in the Triton language."""
        return f"gluon {super()._hash()}"

    def prepare(self) -> None:
        """Import the modules that `make_ir` needs."""
        _ = _entry.gluon_to_ttgir

    def make_ir(
        self, target: Any, options: Any, codegen_fns: object = None, module_map: object = None, context: object = None
    ) -> Any:
        """The module of the kernel, with layouts; CompilationError for code that the frontend rejects."""
        key = getattr(getattr(options, "target", None), "key", None) or f"{target.backend}:{target.arch}"
        return _entry.gluon_to_ttgir(self.fn, self.signature, self.constants, self.attrs, options, self.name, key)
