"""Compile C and C++ to Python modules, under Triton's names; kernels need no C compiler.

The compiler is CC (CXX), gcc or clang; `knobs.build.impl` replaces it. Results are kept by the cache manager
under a hash of source, flags and platform.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sysconfig
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ..support import TritiumError, settings
from ..support.files import read_regular
from .cache import get_cache_manager

__all__ = [
    "BuildError",
    "compile_module_from_file",
    "compile_module_from_src",
    "compile_so_from_file",
    "compile_so_from_src",
    "platform_key",
]

_SUFFIXES = {".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++"}
_PROGRAMS = {"c": ("CC", "gcc", "clang"), "c++": ("CXX", "g++", "clang++")}


class BuildError(TritiumError, RuntimeError):
    """There is no compiler, or it failed."""


@functools.lru_cache
def platform_key() -> str:
    """The platform of machine code: machine, system, pointer width."""
    return ",".join((platform.machine(), platform.system(), *platform.architecture()))


def _compiler(language: str) -> str:
    variable, *programs = _PROGRAMS[language]
    found = os.environ.get(variable) or next(filter(None, map(shutil.which, programs)), None)
    if found is None:
        raise BuildError(
            f"there is no compiler for {language.upper()}: neither {' nor '.join(programs)} is on PATH\n"
            f"hint: name one with {variable}, or set knobs.build.impl"
        )
    return found


@dataclass(frozen=True)
class _Build:
    """One library to build."""

    name: str
    language: str
    library_dirs: tuple[str, ...]
    include_dirs: tuple[str, ...]
    libraries: tuple[str, ...]
    flags: tuple[str, ...]

    @property
    def file(self) -> str:
        return f"{self.name}{sysconfig.get_config_var('EXT_SUFFIX')}"

    def key(self, source: bytes) -> str:
        return hashlib.sha256(repr((source, self, platform_key())).encode()).hexdigest()

    def make(self, source: str, folder: str) -> str:
        """Compile the file `source`; the path of the library, in `folder`."""
        if settings.build.impl is not None:
            lists = map(list, (self.library_dirs, self.include_dirs, self.libraries))
            return str(settings.build.impl(self.name, source, folder, *lists))
        scheme = sysconfig.get_default_scheme().replace("posix_local", "posix_prefix")  # Debian's has no headers
        includes = [*self.include_dirs, folder, sysconfig.get_paths(scheme)["include"]]
        target = os.path.join(folder, self.file)
        command = [_compiler(self.language), source, "-O3", "-shared", "-fPIC", "-o", target]
        command += ["-std=c++17"] if self.language == "c++" else []
        command += [f"-l{':' if '.so' in lib or lib.endswith('.a') else ''}{lib}" for lib in self.libraries]
        command += [f"-L{d}" for d in self.library_dirs] + [f"-I{d}" for d in includes] + list(self.flags)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BuildError(f"{' '.join(command)}\nfailed with status {done.returncode}:\n{done.stderr}")
        return target


def _load(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BuildError(f"{path} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _library(source: bytes, path: str, build: _Build, load: bool) -> Any:
    """The path of the library, or with `load` the module in it: from the cache, or built now."""
    cache = get_cache_manager(build.key(source))
    found = cache.get_file(build.file)
    if found is not None:
        if not load:
            return found
        try:
            return _load(build.name, found)
        except (ImportError, BuildError) as error:
            warnings.warn(f"{found} cannot be loaded and is compiled anew: {error}", stacklevel=4)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(build.make(path, folder)).read_bytes()
    found = cache.put(made, build.file, binary=True)
    return _load(build.name, found) if load else found


def _from_source(source: str, name: str, language: str, options: Sequence[Any], load: bool) -> Any:
    if language not in _PROGRAMS:
        raise BuildError(f"there is no language {language!r}: it is 'c' or 'c++'")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.{'c' if language == 'c' else 'cpp'}"
        path.write_text(source, encoding="utf-8")
        return _library(source.encode(), str(path), _build(name, language, options), load)


def _from_file(source: str, name: str, options: Sequence[Any], load: bool) -> Any:
    path = Path(source).resolve()
    language = _SUFFIXES.get(path.suffix)
    if language is None:
        raise BuildError(f"{path.name} is not a C or C++ source file: the suffixes are {', '.join(_SUFFIXES)}")
    return _library(read_regular(path), str(path), _build(name, language, options), load)


def _build(name: str, language: str, options: Sequence[Sequence[str] | None]) -> _Build:
    return _Build(name, language, *(tuple(o or ()) for o in options))


def compile_so_from_file(
    src_path: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
) -> str:
    """The path of the library built from a C or C++ file; BuildError (a RuntimeError) with the compiler's output."""
    return str(_from_file(src_path, name, (library_dirs, include_dirs, libraries, ccflags), False))


def compile_so_from_src(
    src: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
    language: str = "c",
) -> str:
    """The same for source text."""
    return str(_from_source(src, name, language, (library_dirs, include_dirs, libraries, ccflags), False))


def compile_module_from_file(
    src_path: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
) -> ModuleType:
    """The Python module `name` built from a C or C++ file; BuildError (a RuntimeError) with the compiler's output."""
    found: ModuleType = _from_file(src_path, name, (library_dirs, include_dirs, libraries, ccflags), True)
    return found


def compile_module_from_src(
    src: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
    language: str = "c",
) -> ModuleType:
    """The same for source text."""
    found: ModuleType = _from_source(src, name, language, (library_dirs, include_dirs, libraries, ccflags), True)
    return found
