"""The compiler: runs the stages of a backend over a source, caches the results, and times every stage.

All inputs of a compile are part of the key of its result; a process that finds the key on disk runs no stage.
"""

from __future__ import annotations

from ..backends.compiler import BaseBackend, GPUTarget
from ..support.lazy import lazy_attributes
from .backend import TargetError, backends, make_backend, register_backend
from .cache import CacheWarning, KernelCache, cache_folder
from .compile import CompileTimes, compile, compile_for, default_target
from .entry import Entry
from .kernel import CompiledKernel, LazyDict, LazyStages
from .key import get_cache_key
from .source import ASTSource, IRSource, SourceError
from .version import package_key

__getattr__ = lazy_attributes(__name__, {"errors": "..frontend.errors:"}, globals())

triton_key = package_key

__all__ = [
    "ASTSource",
    "BaseBackend",
    "CacheWarning",
    "CompileTimes",
    "CompiledKernel",
    "Entry",
    "GPUTarget",
    "IRSource",
    "KernelCache",
    "LazyDict",
    "LazyStages",
    "SourceError",
    "TargetError",
    "backends",
    "cache_folder",
    "compile",
    "compile_for",
    "default_target",
    "get_cache_key",
    "make_backend",
    "package_key",
    "register_backend",
    "triton_key",
]
