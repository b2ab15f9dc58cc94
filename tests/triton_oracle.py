"""Triton itself as an oracle: real MLIR reads, verifies, transforms and compiles what we print.

It lives in a process of its own, started once a test session with an interpreter that has Triton 3.9 (no GPU and no
torch are needed), and is asked over pipes: a question costs milliseconds. Which interpreter:

- the environment variable `TRITIUM_TEST_TRITON` names one; or
- the running one, where the `triton` distribution is installed. Our own `import triton` alias is never meant.

Tests take the fixture `triton_oracle`, and are skipped with a reason where there is none:

    def test_text(triton_oracle):
        assert triton_oracle.read(text) == text
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["TritonError", "TritonOracle", "find_interpreter", "triton_oracle"]

VARIABLE = "TRITIUM_TEST_TRITON"
WANTED = "3.9"
WORKER = Path(__file__).with_name("triton_worker.py")
ABSENT = f"Triton {WANTED} is not installed here, and {VARIABLE} names no interpreter that has it"


class TritonError(Exception):
    """Triton refused, or died; `log` is what it wrote to standard error."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(f"{message}\n{log}".strip())
        self.log = log


def find_interpreter() -> str | None:
    """The Python interpreter that has Triton, or None."""
    named = os.environ.get(VARIABLE)
    if named:
        return shutil.which(named) or pytest.fail(f"{VARIABLE}={named} is no program")
    try:
        found = importlib.metadata.distribution("triton")
    except importlib.metadata.PackageNotFoundError:
        return None
    installed = isinstance(found, importlib.metadata.PathDistribution)  # and is not our own answer for `import triton`
    return sys.executable if installed and found.version.startswith(WANTED) else None


class TritonOracle:
    """One process with Triton in it, restarted after a crash; every method raises TritonError where Triton does."""

    def __init__(self, interpreter: str) -> None:
        self.interpreter = interpreter
        self.version = ""
        self.process: subprocess.Popen[str] | None = None
        self.log = ""
        self.resources: dict[str, Any] = {}
        """Of the kernel compiled last: bytes of `shared` memory; for CUDA `registers`, `stack`, `tensor_memory` too."""

    def start(self) -> subprocess.Popen[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TRITON", "MLIR"))}
        environment["TRITON_HOME"] = tempfile.gettempdir()
        self.process = subprocess.Popen(
            [self.interpreter, "-P", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tempfile.gettempdir(),
            env=environment,
        )
        hello = json.loads(self.process.stdout.readline() or "{}")  # type: ignore[union-attr]
        if not hello.get("version", "").startswith(WANTED):
            self.close()
            raise TritonError(f"{self.interpreter} has Triton {hello.get('version', 'missing')}, not {WANTED}")
        self.version, self.log = hello["version"], hello["log"]
        return self.process

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
            shutil.rmtree(os.path.dirname(self.log), ignore_errors=True)

    def ask(self, do: str, timeout: float = 120.0, **request: Any) -> dict[str, Any]:
        """The worker's answer to one request; after `timeout` seconds or a crash its process is given up."""
        process = self.process if self.process is not None and self.process.poll() is None else self.start()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps({"do": do, **request}) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], timeout)
        line = process.stdout.readline() if ready else ""
        if not line:
            log = Path(self.log).read_text(errors="replace")
            self.close()
            raise TritonError("Triton crashed" if ready else f"Triton did not answer within {timeout} s", log[-4000:])
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise TritonError(answer["error"], answer["log"])
        return answer

    def read(self, text: str, locations: bool = False) -> str:
        """`text` (pretty or generic) read, verified and printed back, without or with locations."""
        return self.ask("read", text=text, locations=locations)["text"]  # type: ignore[no-any-return]

    def layout(self, description: list[Any], shape: list[int]) -> dict[str, list[list[int]]]:
        """The bases of a layout of Gluon, `["BlockedLayout", [2], [32], [4], [0]]`, for a tensor of `shape`."""
        return self.ask("layout", description=description, shape=shape)["bases"]  # type: ignore[no-any-return]

    def run_passes(self, text: str, names: list[Any], locations: bool = False) -> str:
        """`text` after the passes `add_<name>` of Triton's bindings; `[name, argument…]` where one takes arguments."""
        return self.ask("run_passes", text=text, names=names, locations=locations)["text"]  # type: ignore[no-any-return]

    def compile_text(self, text: str, target: str, kind: str = "ttir", **options: Any) -> dict[str, str]:
        """All later stages of a `ttir` or `ttgir` text for `cuda:90`, `hip:gfx942`, …; of a binary its size."""
        answer = self.ask("compile_text", text=text, target=target, kind=kind, options=options)
        self.resources = answer["resources"]
        return answer["stages"]  # type: ignore[no-any-return]

    def assemble_amd(self, text: str, arch: str) -> bytes:
        """The object that Triton assembles of AMDGCN assembly."""
        return bytes.fromhex(self.ask("assemble_amd", text=text, arch=arch)["object"])

    def link_amd(self, code: bytes) -> bytes:
        """The code object that Triton (LLD) links of an object."""
        return bytes.fromhex(self.ask("link_amd", code=code.hex())["linked"])

    def compile_kernel(
        self,
        path: str | Path,
        name: str,
        signature: dict[str, str],
        constants: dict[str, Any],
        target: str,
        divisible: dict[str, int] | None = None,
        **options: Any,
    ) -> dict[str, str]:
        """All stages of the kernel `name` of a Python file, as Triton compiles it.

        `signature` gives the types of the arguments that are not in `constants`, `divisible` their known divisors.
        """
        answer = self.ask(
            "compile_kernel",
            path=str(path),
            name=name,
            signature=signature,
            constants=constants,
            target=target,
            attributes=divisible or {},
            options=options,
        )
        self.resources = answer["resources"]
        return answer["stages"]  # type: ignore[no-any-return]

    def first_module(self, path: str | Path, name: str, signature: dict[str, str], constants: dict[str, Any]) -> str:
        """The kernel `name` of a Python file as it leaves Triton's frontend."""
        words = {"path": str(path), "name": name, "signature": signature, "constants": constants}
        return self.ask("first_module", **words)["text"]  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def triton_oracle() -> Iterator[TritonOracle]:
    """The session's oracle; skips where there is no Triton."""
    interpreter = find_interpreter()
    if interpreter is None:
        pytest.skip(ABSENT)
    oracle = TritonOracle(interpreter)
    yield oracle
    oracle.close()
