"""NVIDIA's programs and libraries on this machine: where they are, and which versions.

Each is looked for in this order:

1. the setting (`TRITON_PTXAS_PATH` and the like), which must be right where it is set;
2. NVIDIA's wheels (`pip install tritium[nvidia]`);
3. PATH;
4. the toolkit's usual folder, /usr/local/cuda, or where CUDA_HOME says;
5. an installed Triton, whose wheel brings them along.

Nothing of NVIDIA's is imported. Versions are asked of the programs, and remembered on disk for as long as the file
stays as it is: starting one costs 3 ms.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from functools import lru_cache

from ...support import OptionError, settings
from ...support.dataclasses import dataclass
from ...support.folders import read_record, write_record
from ...support.hashing import sha256
from ..errors import PTXASError, ToolMissing
from .process import OverdueError, Process

__all__ = [
    "Tool",
    "find_tool",
    "header_folders",
    "highest_ptx",
    "parse_release",
    "require_tool",
    "tool_release",
    "tool_version",
]

#: What there is to find: where in a toolkit or wheel it stands, and the wheel that has it.
_PLACES = {
    "ptxas": (("bin/ptxas",), "nvidia-cuda-nvcc"),
    "nvdisasm": (("bin/nvdisasm",), "nvidia-cuda-nvdisasm"),
    "cuobjdump": (("bin/cuobjdump",), "nvidia-cuda-cuobjdump"),
    "libdevice": (("nvvm/libdevice/libdevice.10.bc",), "nvidia-nvvm"),
}

#: The folders of NVIDIA's wheels below `site-packages/nvidia`: all of CUDA 13 in one, those of CUDA 12 each their own.
_WHEELS = ("cu[0-9].*", "cuda_nvcc", "cuda_nvdisasm", "cuda_cuobjdump", "cuda_nvvm", "nvvm")

_SETTINGS = {"ptxas": "ptxas", "nvdisasm": "nvdisasm", "cuobjdump": "cuobjdump", "libdevice": "libdevice_path"}


@dataclass(frozen=True)
class Tool:
    """A file of NVIDIA's, and how it was found: "setting", "wheel", "path", "toolkit", "triton"."""

    name: str
    path: str
    origin: str


def find_tool(name: str) -> Tool | None:
    """The program (or file) `name`, or None. PTXASError where a setting names a file that is not there."""
    said = getattr(settings.nvidia, _SETTINGS[name])
    if said:
        if not os.path.isfile(said):
            variable = getattr(type(settings.nvidia), _SETTINGS[name]).env[-1]
            raise PTXASError(f"{variable} says that {name} is {said!r}, and there is no such file")
        return Tool(name, said, "setting")
    return _search(name, os.environ.get("PATH", ""), os.environ.get("CUDA_HOME", ""))


def require_tool(name: str, purpose: str) -> Tool:
    """`find_tool`; ToolMissing saying what `purpose` it has and how to install it."""
    found = find_tool(name)
    if found is None:
        variable = getattr(type(settings.nvidia), _SETTINGS[name]).env[-1]
        raise ToolMissing(
            f"{purpose} needs NVIDIA's {name}, which is not found: install it with "
            f"`pip install tritium[nvidia]` (or {_PLACES[name][1]}), or the CUDA toolkit, or let {variable} name it."
        )
    return found


@lru_cache(maxsize=32)
def _search(name: str, path: str, home: str) -> Tool | None:
    for origin, candidate in _candidates(name, path, home):
        if os.path.isfile(candidate) and (name == "libdevice" or os.access(candidate, os.X_OK)):
            return Tool(name, str(candidate), origin)
    return None


def _candidates(name: str, path: str, home: str) -> Iterator[tuple[str, str]]:
    places = _PLACES[name][0]
    for folder in _package_folders("nvidia"):
        yield from (("wheel", os.path.join(wheel, place)) for wheel in _wheels(folder) for place in places)
    yield from (("path", os.path.join(folder, name)) for folder in path.split(os.pathsep) if folder)
    for toolkit in (home, "/usr/local/cuda", "/opt/cuda"):
        yield from (("toolkit", os.path.join(toolkit, place)) for place in places if toolkit)
    for folder in _package_folders("triton"):
        own = "lib/libdevice.10.bc" if name == "libdevice" else f"bin/{name}"
        yield "triton", os.path.join(folder, "backends", "nvidia", own)


def header_folders() -> list[str]:
    """The folders that have `cuda.h`, in the order in which programs are looked for."""
    folders = [os.path.join(wheel, "include") for base in _package_folders("nvidia") for wheel in _wheels(base)]
    homes = (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", "/opt/cuda")
    folders += [os.path.join(home, "include") for home in homes if home]
    folders += [os.path.join(base, "backends", "nvidia", "include") for base in _package_folders("triton")]
    return [folder for folder in folders if os.path.isfile(os.path.join(folder, "cuda.h"))]


def _wheels(folder: str) -> list[str]:
    """The folders of wheels below that of the package, the latest release first."""
    try:
        there = os.listdir(folder)
    except OSError:
        return []
    found = [(i, n) for n in there for i, pattern in enumerate(_WHEELS) if re.fullmatch(pattern, n)]
    return [os.path.join(folder, n) for _, n in sorted(found, key=lambda w: (-_release(w[1]), w[0]))]


def _release(name: str) -> int:
    """13 of "cu13"; the folders of CUDA 12 have no number."""
    number = re.search(r"\d+$", name)
    return int(number[0]) if number else 12


def _package_folders(package: str) -> list[str]:
    """The path of an installed package, without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):  # something else has put a module of that name into the process
        return []
    return list(spec.submodule_search_locations or ()) if spec else []


def tool_version(tool: Tool) -> tuple[int, int]:
    """The release of CUDA that a program is of, (13, 0); PTXASError if it does not say."""
    major, minor = tool_release(tool).split(".")[:2]
    return int(major), int(minor)


@lru_cache(maxsize=32)
def tool_release(tool: Tool) -> str:
    """The same with the number of the build, "13.0.88"."""
    status = os.stat(tool.path)
    identity = f"{tool.path}|{status.st_size}|{status.st_mtime_ns}"
    name = "release-" + sha256(identity.encode()).hexdigest()[:24]
    stored = read_record(name)
    if stored is not None and re.fullmatch(rb"\d+\.\d+(\.\d+)*", stored):
        return stored.decode()
    release = _ask_version(tool)
    if not settings.cache.disable:
        write_record(name, release.encode())
    return release


def _ask_version(tool: Tool) -> str:
    try:
        process = Process([tool.path, "--version"])
        try:
            output = process.finish(b"", 60.0).decode(errors="replace")
        finally:
            process.kill()
    except OverdueError:
        output = "nothing within a minute"
    except OSError as error:
        output = str(error)
    found = re.search(r"release (\d+\.\d+)(?:, V(\1[\d.]*))?", output)
    if found is None:
        raise PTXASError(f"{tool.path} ({tool.origin}) does not tell its version; it answers: {output.strip()[:200]}")
    return found[2] or found[1]


def parse_release(text: str) -> tuple[int, int]:
    """(12, 4) of "12.4", the release of CUDA that TRITON_MOCK_PTX_VERSION names; OptionError for other text."""
    found = re.fullmatch(r"(\d+)\.(\d+)", text.strip())
    if found is None:
        raise OptionError(f"TRITON_MOCK_PTX_VERSION must be a release of CUDA such as 12.4, got {text!r}")
    return int(found[1]), int(found[2])


def highest_ptx(cuda: tuple[int, int]) -> int:
    """The version of PTX times ten that a release of CUDA reads (the table of release notes in the PTX ISA).

    >>> highest_ptx((12, 4)), highest_ptx((12, 8)), highest_ptx((13, 0)), highest_ptx((13, 1))
    (84, 87, 90, 91)
    """
    major, minor = cuda
    if major >= 13:
        return 90 + 10 * (major - 13) + minor
    if major == 12:
        return 80 + minor - (minor >= 6)
    return 70 + minor if major == 11 else 63 + minor
