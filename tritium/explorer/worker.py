"""The warm child process that compiles, evaluates and checks for the server.

    python -m tritium.explorer.worker DESCRIPTOR FOLDER

It reads one request a line from standard input and answers on the descriptor. A request that never ends is stopped by
killing the process.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

from ..backends.errors import BackendError
from ..compiler import ASTSource, GPUTarget, IRSource, compile
from ..compiler.backend import make_backend
from ..compiler.stated_target import choose_target
from ..frontend.errors import triton_errors
from ..runtime import driver
from ..support import TritiumError, settings
from ..tools.check.oracle import check_launch
from ..tools.check.runs import Launch
from ..tools.kernel_file import CommandError
from ..tools.request import Request, entries_of, parse_target, specialized
from . import artifacts
from .arguments import kept_arguments, made_arguments
from .checks import report_as_json
from .json_types import Record
from .kernel_module import kernel_in
from .launch_target import launches_on
from .messages import Channel, end_with_parent
from .results import compare_results
from .rewrite_steps import after_rewrites
from .script_check import check_in_script
from .values import evaluate_program

__all__ = ["main"]

Answer = Record


class Worker:
    """The requests that the process answers: a method each."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def compile(self, asked: Record) -> Answer:
        """Compile a file with a kernel or the text of a stage, and keep the kernel; its key."""
        source, target = self._source(asked)
        backend = make_backend(target)
        known = set(backend.option_names())
        options = {name: value for name, value in asked["options"].items() if name in known or name in asked["strict"]}
        with settings.compilation.scope():
            settings.compilation.trace = asked["trace"]
            settings.compilation.always_compile = True
            kernel = compile(source, target=target, options={**backend.located_options(), **options})
        artifacts.keep_kernel(self.folder, kernel)
        return {"key": kernel.hash}

    def _source(self, asked: Record) -> tuple[ASTSource | IRSource, GPUTarget]:
        path = asked["file"]
        if not path.endswith(".py"):
            source = IRSource(path)
            return source, parse_target(asked["target"]) if asked["target"] else choose_target(source, _default_target)
        return self._python(asked), parse_target(asked["target"]) if asked["target"] else _default_target()

    def _python(self, asked: Record) -> ASTSource:
        """The kernel of a Python file for its signature."""
        path = asked["file"]
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"cannot read {path}: {error}") from None
        fn = kernel_in(path, text, asked.get("kernel") or "", asked.get("folder") or "")
        request = Request(path, "", asked.get("signature") or "", asked.get("constants") or "")
        return specialized(fn, entries_of(request, fn))

    def values(self, asked: Record) -> Answer:
        """Evaluate one program of a text."""
        os.makedirs(asked["folder"], exist_ok=True)
        _, kept = kept_arguments(self.folder, asked.get("key") or "-")
        given, inputs = kept, "the arguments of the first launch"
        wanted = {n: tuple(v) if isinstance(v, list) else v for n, v in (asked.get("arguments") or {}).items()}
        if given is None:
            types = asked["types"] or self._types_in(asked["folder"], asked["record"]["text"])
            given, inputs = made_arguments(types, wanted), "random, seed 0"
        elif wanted:
            _must_be_numbers(wanted, given)
            given = {**given, **wanted}
            inputs += f", with {', '.join(f'{n} = {v}' for n, v in wanted.items())}"
        return evaluate_program(asked["folder"], asked["record"], asked["program"], asked["grid"], given, inputs)

    def _types_in(self, folder: str, text: str) -> dict[str, str]:
        """The types of the arguments of a program of tiles, for passes that were traced outside of a compile."""
        path = os.path.join(folder, "text.ttir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return {name: str(ty) for name, ty in IRSource(path).signature.items()}

    def check(self, asked: Record) -> Answer:
        """Run a launch in every form of the kernel, and compare. A script that launched it is run again for it."""
        if asked["script"]:
            return check_in_script(asked["launch_target"], asked["key"], asked["script"])
        source = self._python(asked)
        target = parse_target(asked["target"])
        options = {n: v for n, v in asked["options"].items() if n in make_backend(target).option_names()}
        _, kept = kept_arguments(self.folder, asked.get("key") or "-")
        types = {name: ty for name, ty in source.signature.items() if ty != "constexpr"}
        given = made_arguments(types, {}) | (kept or {})
        constants = {name: source.constants.get((i,)) for i, name in enumerate(source.signature)}
        values = [given[name] if name in types else constants[name] for name in source.signature]
        with launches_on(asked["target"]):
            return report_as_json(check_launch(Launch(source, target, options, asked["grid"], values)))

    def results(self, asked: Record) -> Answer:
        """Run two programs on the same arguments, and compare what they write."""
        _, kept = kept_arguments(self.folder, asked.get("key") or "-")
        given = made_arguments(asked["types"], {}) if kept is None else kept
        return compare_results(asked["a"], asked["b"], given, asked["grid"])

    def step(self, asked: Record) -> Answer:
        """The IR after the first rewrites of a pass."""
        return {"text": after_rewrites(asked["text"], asked["pass"], asked["count"])}


def _must_be_numbers(wanted: Record, given: Record) -> None:
    for name, value in wanted.items():
        if name not in given:
            raise CommandError(f"the launch has no run-time argument {name!r}; it has: {', '.join(given)}")
        if not isinstance(given[name], (bool, int, float)) or not isinstance(value, (bool, int, float)):
            raise CommandError(f"{name} is the array of the launch: only its numbers can be replaced, by numbers")


def _default_target() -> GPUTarget:
    return driver.active.get_current_target()


def main(arguments: list[str]) -> int:
    """Answer requests until standard input ends."""
    channel = Channel(int(arguments[0]))
    end_with_parent()
    worker = Worker(arguments[1])
    triton_errors.on = False
    warnings.simplefilter("ignore")
    channel.send(type="ready")
    for line in sys.stdin:
        asked = json.loads(line)
        begin = time.perf_counter()
        answer: Answer
        try:
            run: Callable[[Record], Answer] = getattr(worker, asked["kind"])
            with np.errstate(all="ignore"):
                answer = {"state": "done", "answer": run(asked)}
        except KeyboardInterrupt:
            return 1
        except BaseException as error:  # whatever the user's code does, exit() among it
            known = isinstance(error, (TritiumError, BackendError, OSError))
            text = str(error) if known else f"{type(error).__name__}: {error}"
            answer = {"state": "failed", "message": text}
        channel.send(type="answer", job=asked["job"], ms=(time.perf_counter() - begin) * 1000, **answer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
