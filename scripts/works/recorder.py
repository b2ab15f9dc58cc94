"""A plugin of pytest that notes which names of the language the kernels of each passing test use, by target.

    pytest -p scripts.works.recorder --record-shown=FILE tests/e2e/cpu

A name counts where a function of the user's names it (not one of ours on his behalf) in a kernel that was compiled,
or interpreted, to its end. `@pytest.mark.shows("tritium.Config", …)` adds names that no kernel says. The file is JSON:
{name: {target: {test: how many names that test shows}}}. Workers of pytest-xdist hand what they found to the process
that started them, which writes the file.
"""

from __future__ import annotations

import ast
import builtins
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MethodType
from typing import Any

import pytest

import tritium.frontend.visitor as frontend
from tritium.compiler import CompiledKernel
from tritium.frontend.callee import BoundCallee, LanguageFunction
from tritium.frontend.constexpr import constexpr
from tritium.frontend.tensor import tensor
from tritium.frontend.visitor.core import HANDLERS, Visitor
from tritium.interpreter.kernels import Launch
from tritium.language import dtype, tensor_descriptor
from tritium.support import settings

from .names import AMD, HOST, all_names, objects

WORKERS_PART = "names_shown"
_BUILTINS = {id(getattr(builtins, name[9:])): [name] for name in all_names() if name.startswith("builtins.")}


class Recorder:
    """`open` are the names of the kernel that is being compiled, `shown` those of the test, by target."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names = all_names()
        self.objects = {**objects(), **_BUILTINS}
        self.open: set[str] = set()
        self.shown: dict[str, set[str]] = {}
        self.found: dict[str, dict[str, dict[str, int]]] = {}
        self.trees: dict[Any, set[str]] = {}
        self.passed = False
        self.lost: list[str] = []

    # -- kernels ----------------------------------------------------------------------------------------------

    def watch(self) -> None:
        """Listen to the frontend, the compiler and the interpreter, for as long as the process lives."""
        for kind in (ast.Name, ast.Attribute):
            HANDLERS[kind] = self._seeing(HANDLERS[kind])
        frontend.ast_to_ttir = self._compiling(frontend.ast_to_ttir)  # type: ignore[assignment]
        CompiledKernel.__init__ = self._compiled(CompiledKernel.__init__)  # type: ignore[method-assign]
        Launch.run = self._interpreting(Launch.run)  # type: ignore[method-assign]
        Visitor.__init__ = self._entering(Visitor.__init__)  # type: ignore[method-assign]

    def _seeing(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        def see(visitor: Any, node: Any) -> Any:
            value = handler(visitor, node)
            if not isinstance(visitor.callee, LanguageFunction):
                self._note(value, node)
            return value

        return see

    def _note(self, value: Any, node: Any) -> None:
        if value.__class__ is constexpr:
            value = value.value
        if value.__class__ is tensor:
            element = getattr(value.dtype, "element_ty", value.dtype)
            self.open.update(self.objects.get(id(element), ()) if isinstance(element, dtype) else ())
            return
        if isinstance(value, BoundCallee):
            value = value.fn
        if isinstance(value, MethodType):
            if isinstance(value.__self__, tensor_descriptor):
                self.open.add(f"descriptor.{node.attr}")
            value = value.__func__
        self.open.update(self.objects.get(id(value), ()))

    def _entering(self, init: Callable[..., Any]) -> Callable[..., Any]:
        def enter(visitor: Any, unit: Any, callee: Any, env: Any) -> None:
            init(visitor, unit, callee, env)
            if not isinstance(callee, LanguageFunction):
                if callee not in self.trees:
                    self.trees[callee] = {f"ast.{type(node).__name__}" for node in ast.walk(callee.parse())}
                self.open |= self.trees[callee]

        return enter

    def _compiling(self, make: Callable[..., Any]) -> Callable[..., Any]:
        def compiling(*args: Any, **kwargs: Any) -> Any:
            self.open.clear()
            return make(*args, **kwargs)

        return compiling

    def _compiled(self, init: Callable[..., Any]) -> Callable[..., Any]:
        def compiled(kernel: Any, *args: Any, **kwargs: Any) -> None:
            init(kernel, *args, **kwargs)
            self._close("cpu" if kernel.metadata.target.backend == "cpu" else kernel.metadata.target.backend)

        return compiled

    def _interpreting(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def interpreting(launch: Any, grid: Any) -> None:
            self.open.clear()
            run(launch, grid)
            self._close("interpreter")

        return interpreting

    def _close(self, target: str) -> None:
        self.shown.setdefault(target, set()).update(self.open & self.names)
        self.open.clear()

    # -- tests ------------------------------------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Keep what a test shows if it passes with all that belongs to it."""
        self.shown, self.passed = {}, True
        with settings.compilation.scope():
            settings.compilation.always_compile = True
            yield
        if self.passed:
            self._keep(item)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test passes if its setup, call and teardown do."""
        self.passed &= report.outcome == "passed" and not hasattr(report, "wasxfail")

    def _keep(self, item: pytest.Item) -> None:
        test = item.nodeid.partition("[")[0]
        device = getattr(item, "callspec", None) and item.callspec.params.get("device")  # type: ignore[attr-defined]
        marked = {name for mark in item.iter_markers("shows") for name in mark.args}
        assert marked <= self.names, f"{test} shows {sorted(marked - self.names)}, which no topic of names.py has"
        if marked:
            own = next(iter(self.shown), HOST) if device is None else "hip" if device in AMD else "cuda"
            self.shown.setdefault(own, set()).update(marked)
            self.shown.setdefault(HOST, set()).update(marked)
        for target, names in self.shown.items():
            where = target
            if target == "hip":
                where = device if device in AMD else "compiled:hip"
            elif target == "cuda":
                where = {None: "compiled", "cuda": "hardware"}.get(device, device)
            for name in names:
                self.found.setdefault(name, {}).setdefault(where, {})[test] = len(names)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        """Take what a worker of pytest-xdist found; one that died took its part with it, which is an error."""
        found = getattr(node, "workeroutput", {}).get(WORKERS_PART)
        if found is None:
            self.lost.append(node.gateway.id)
            return
        for name, targets in found.items():
            for target, tests in targets.items():
                self.found.setdefault(name, {}).setdefault(target, {}).update(tests)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the file; a worker hands its part over instead."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[WORKERS_PART] = self.found
        else:
            self.path.write_text(json.dumps(self.found, indent=1, sort_keys=True))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say which workers' parts are not in the file."""
        for worker in self.lost:
            terminalreporter.write_line(f"{self.path} lacks what tests of worker {worker} showed: it died", red=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--record-shown=FILE`"""
    # a str, not a Path: pytest-xdist sends options to its workers
    parser.addoption("--record-shown", metavar="FILE", help="write which names of the language passing tests use")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to listen."""
    path = config.getoption("--record-shown")
    if path is not None:
        recorder = Recorder(Path(path))
        recorder.watch()
        config.pluginmanager.register(recorder)
