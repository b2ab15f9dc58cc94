"""C programs around what `tritium compile --grid` writes: compiled by the machine's C compiler, run without Python.

`fake_cuda.c` stands for the driver and says what it was asked.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tritium.tools.compile_command import main
from tritium.tools.request import Request

__all__ = ["CC", "KERNELS", "Made", "build", "compile_c", "fake_driver", "make", "needs_cc", "parameter_sizes", "run"]

CC = shutil.which("gcc") or shutil.which("cc")
needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler is installed")
FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror")
HERE = Path(__file__).resolve().parent
KERNELS = HERE / "kernels.py"


@dataclass
class Made:
    """What one command wrote: the paths, and the name of the launcher."""

    paths: list[Path]
    function: str

    def path(self, ending: str) -> Path:
        """The file with this ending."""
        return next(p for p in self.paths if p.suffix == ending)

    @property
    def header(self) -> str:
        """The header's text."""
        return self.path(".h").read_text()

    @property
    def prototype(self) -> str:
        """The declaration of the launcher."""
        found = re.search(rf"^\w[\w ]* {self.function}\(.*?\);", self.header, re.M | re.S)
        assert found is not None, self.header
        return found[0]


def make(folder: Path, capsys: pytest.CaptureFixture[str], kernel: str, signature: str, **more: object) -> Made:
    """Run the command for a kernel of `kernels.py` and say what it wrote into `folder`."""
    told = {"file": str(KERNELS), "target": "cuda:90", "grid": "1", "output": f"{folder}/", **more}
    options = told.pop("options", ())
    capsys.readouterr()
    status = main(Request(kernel_name=kernel, signature=signature, options=options, **told))  # type: ignore[arg-type]
    out, err = capsys.readouterr()
    assert status == 0, err
    paths = [Path(line) for line in out.split()]
    return Made(paths, paths[0].name.rsplit(".", 1)[0].replace(".", "_"))


def compile_c(sources: Sequence[Path], out: Path, *flags: str) -> Path:
    """Compile and link; every warning is an error."""
    assert CC is not None
    done = subprocess.run([CC, *FLAGS, *map(str, sources), "-o", str(out), *flags], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def fake_driver(folder: Path) -> Path:
    """Put into a folder the driver that writes down what it is asked."""
    library = compile_c([HERE / "fake_cuda.c"], folder / "libcuda.so.1", "-shared", "-fPIC", "-pthread")
    (folder / "libcuda.so").symlink_to(library)
    return folder


def parameter_sizes(ptx: str) -> list[int]:
    """The bytes of each parameter of the first kernel of PTX text."""
    head = ptx[ptx.index(".entry") :].split(")", 1)[0]
    sizes = []
    for line in re.findall(r"\.param\s+([^,]*)", head):
        array = re.search(r"\.b8\s+\w+\[(\d+)\]", line)
        sizes.append(int(array[1]) if array else int(re.search(r"\.[busf](\d+)", line)[1]) // 8)  # type: ignore[index]
    return sizes


def build(folder: Path, made: Sequence[Made], main_text: str, *flags: str, more: Sequence[Path] = ()) -> Path:
    """A program whose `main` is `main_text`, behind the headers and with `stdio.h`."""
    includes = "".join(f'#include "{m.path(".h").name}"\n' for m in made)
    source = folder / "main.c"
    source.write_text(f"#include <stdio.h>\n#include <string.h>\n{includes}\n{main_text}\n")
    sources = [source, *(p for m in made for p in m.paths if p.suffix in (".c", ".o")), *more]
    return compile_c(sources, folder / "program", f"-I{folder}", *flags)


def run(program: Path, *arguments: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it; the caller looks at the status."""
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("FAKE_")}, **environment}
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, env=env, input=given, timeout=120)
