"""A backend whose kernels are written in LLVM by hand, so that the runtime is tested without the compiler in front."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import tritium
from tritium.backends.compiler import GPUTarget, Stage
from tritium.backends.cpu import host_target
from tritium.backends.cpu.compiler import CPUBackend
from tritium.backends.cpu.llvm import emit_assembly, emit_object, optimize
from tritium.compiler import register_backend
from tritium.compiler.backend import _registered, make_backend
from tritium.runtime import driver
from tritium.runtime.cpu_driver import CPUDriver


class Target(NamedTuple):
    """The host under another name."""

    backend: str = "fake"
    arch: str = "host"
    warp_size: int = 1


#: kernel name -> function(signature, constants by name) -> LLVM text
KERNELS: dict[str, Any] = {}

#: what was compiled: one (name, signature, constants, attrs) a compile
COMPILED: list[tuple[str, dict[str, Any], dict[Any, Any], dict[Any, Any]]] = []

#: extra metadata by kernel name
METADATA: dict[str, dict[str, Any]] = {}


class FakeBackend(CPUBackend):
    """ttir is a description of the specialization, llir the text in KERNELS."""

    def __init__(self, target: Any) -> None:
        super().__init__(host_target())

    @staticmethod
    def supports_target(target: Any) -> bool:
        return getattr(target, "backend", None) == "fake"

    def add_stages(self, stages: dict[str, Any], options: Any, language: Any = None) -> None:
        def llir(source: Any, metadata: dict[str, Any]) -> str:
            metadata.update(METADATA.get(source.name, {}))
            return optimize(KERNELS[source.name](source.signature, source.constants), self.target)

        stages["ttir"] = Stage(lambda source, metadata: source)
        stages["llir"] = Stage(llir)
        stages["asm"] = Stage(lambda text, metadata: emit_assembly(text, self.target), "llir", True)
        stages["obj"] = Stage(lambda text, metadata: emit_object(text, self.target), "llir")

    def describe(self) -> GPUTarget:
        return GPUTarget("fake", "host", 1)


class Described:
    """Stands for a module."""

    def __init__(self, source: Any) -> None:
        self.name = source.name
        self.signature = dict(source.signature)
        self.constants = {source.fn.arg_names[p[0]]: v for p, v in source.constants.items() if len(p) == 1}
        COMPILED.append((source.name, self.signature, dict(source.constants), dict(source.attrs)))

    def __str__(self) -> str:
        return f"module @{self.name} {self.signature} {self.constants}"


class Driver(CPUDriver):
    def get_current_target(self) -> Target:
        return Target()


@contextmanager
def fake_backend(monkeypatch: Any) -> Iterator[list[Any]]:
    """Kernels are compiled by the fake backend inside; gives the list of compiles."""
    monkeypatch.setattr("tritium.compiler.source.ASTSource.make_ir", lambda self, target, options: Described(self))
    register_backend("fake", FakeBackend)
    driver.set_active(Driver())
    COMPILED.clear()
    try:
        yield COMPILED
    finally:
        driver.reset_active()
        _registered.pop("fake")
        make_backend.cache_clear()


def program(body: str, helpers: str = "", name: str = "kernel") -> str:
    """LLVM text of a kernel whose `body` runs for each program; %pid is its linear id."""
    return f"""
define void @{name}(ptr %args, ptr %ctx, i64 %begin, i64 %end) {{
entry:
  br label %head
head:
  %pid = phi i64 [ %begin, %entry ], [ %next, %tail ]
  %more = icmp slt i64 %pid, %end
  br i1 %more, label %body, label %done
body:
{body}
  br label %tail
tail:
  %next = add i64 %pid, 1
  br label %head
done:
  ret void
}}
{helpers}
"""


def slot(i: int, ty: str) -> str:
    """`%a<i>`: the argument in slot i."""
    return f"  %s{i} = getelementptr i64, ptr %args, i64 {i}\n  %a{i} = load {ty}, ptr %s{i}\n"


def kernel_of(function, text):
    """`function` as a kernel whose machine code is made from `text(signature, constants)`."""
    KERNELS[function.__name__] = text
    return tritium.jit(function)


def record_pid(name: str):
    """A kernel that adds 1 to out[pid]."""
    body = slot(0, "ptr") + (
        "  %p = getelementptr i32, ptr %a0, i64 %pid\n  %v = load i32, ptr %p\n"
        "  %w = add i32 %v, 1\n  store i32 %w, ptr %p\n"
    )
    return lambda signature, constants: program(body, "", name)
