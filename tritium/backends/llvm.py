"""LLVM as the backends share it: the library, target machines, reading text, running passes.

What is made of the text is each backend's own (`cpu.llvm`, `nvidia.codegen`). Nothing here is imported before a kernel
is compiled, and llvmlite (50 ms) not before `library()` is called.

LLVM ends the process on internal errors, so text is verified before any pass sees it. Text that nobody vouches for is
compiled in a process of its own: `run_isolated` starts one, and the module it names calls `serve`.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..support import Diagnostic
from ..support.dataclasses import dataclass
from ..support.lazy import LazyModule
from ..support.patterns import pattern
from ..support.settings import compilation
from .compiler import UserText
from .errors import BackendError

__all__ = [
    "Machine",
    "dump",
    "gpu_library",
    "library",
    "load_gpu_library_beside",
    "owning",
    "read",
    "run_function_passes",
    "run_isolated",
    "run_passes",
    "serve",
    "target_machine",
]

# llvmlite serializes every call by one lock although LLVM itself only asks for a context of one's own; these
# entries do all the work and are safe to run in parallel (lowers two concurrent compiles from 3.5 to 1.6 s)
_UNLOCKED = (
    "LLVMPY_ParseAssembly",
    "LLVMPY_VerifyModule",
    "LLVMPY_RunNewModulePassManager",
    "LLVMPY_RunNewFunctionPassManager",
    "LLVMPY_TargetMachineEmitToMemory",
    "LLVMPY_buildPerModuleDefaultPipeline",
    "LLVMPY_buildFunctionSimplificationPipeline",
    "LLVMPY_CreatePassBuilder",
)

# Options of LLVM that only its command line has. They hold for the process. Those with `nvptx`: pointers to shared
# memory of 32 bits, and widening 32-bit multiplications in one instruction, both as in Triton. The third is about a
# pass that only GPUs run (straight-line strength reduction): LLVM 22 has it look, for each address that it derives
# from another, through the code around for a proof that the other is no poison; that took 1.0 s of 1.3 for a kernel
# with 256 addresses a thread. Before 22 it did not look either, and what could be poison there are flags (nsw and the
# like): those of our text always hold, and those that LLVM adds are proven. The last bounds the blocks that GVN
# searches for the store that a load reads (200 by default): in a function of hundreds of loops over scratch buffers
# it took a quarter of LLVM's time.
_FLAGS = (
    "-nvptx-short-ptr",
    "-nvptx-mad-wide-opt",
    "-enable-poison-reuse-guard=0",
    "-memdep-block-number-limit=50",
)

_state = threading.local()
_setup_lock = threading.RLock()
_made: dict[str, Any] = {}
_child = LazyModule("..support.child_environment", __package__)
_calls = LazyModule(".llvm_calls", __package__)


def library() -> Any:
    """llvmlite's binding, imported and initialized at the first compile (about 50 ms)."""
    if "lean" in _state.__dict__:
        _state.lean = _state.lean or _made.get("binding") or gpu_library()
        return _state.lean
    return _made.get("binding") or _start("binding", lambda: importlib.import_module("llvmlite.binding"))


@contextmanager
def lean() -> Iterator[None]:
    """Make host code of level 2 or 3 in this thread by the part of LLVM's calls that code for GPUs needs, unless the
    binding is loaded. Objects of the two do not mix: machines for hosts are forgotten at the end."""
    _state.lean = None
    try:
        yield
    finally:
        if _state.__dict__.pop("lean") is not None:
            machines = _state.__dict__.get("machines", {})
            _state.machines = {key: made for key, made in machines.items() if _is_gpu(key)}


def gpu_library() -> Any:
    """The part of it that code for GPUs needs (about 10 ms; see `llvm_calls`)."""
    return _made.get("calls") or _start("calls", _calls.load)


def load_gpu_library_beside() -> None:
    """Begin loading it in a thread, in which Python waits for the dynamic linker, if it is not there yet.

    `gpu_library` waits for the thread, and repeats what went wrong there. So does who forks meanwhile: a child would
    have the thread's locks and not the thread.
    """
    if "calls" not in _made:
        loading = threading.Thread(target=_load_quietly, name="tritium-llvm", daemon=True)
        loading.start()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=loading.join)


def _load_quietly() -> None:
    with contextlib.suppress(Exception):
        gpu_library()


def _start(kind: str, load: Callable[[], Any]) -> Any:
    with _setup_lock:
        if kind not in _made:
            binding = load()
            binding.initialize_all_targets()
            binding.initialize_all_asmprinters()
            if not _made:  # LLVM ends the process if an option is set twice
                for flag in _FLAGS:
                    binding.set_option("", flag)
            _unlock(binding)
            _made[kind] = binding
        return _made[kind]


def _library_for(machine: Machine) -> Any:
    return gpu_library() if _is_gpu(machine) else library()


def _is_gpu(machine: Machine) -> bool:
    """Whether the machine's code is made by `gpu_library`."""
    return machine.triple.startswith(("nvptx", "amdgcn"))


def _unlock(binding: Any) -> None:
    try:
        entries = binding.ffi.lib
        table = entries._fntab
        for name in _UNLOCKED:
            getattr(entries, name)
            table[name] = table[name]._cfn
    except AttributeError:
        pass  # another llvmlite: compiles of several threads take turns, nothing else changes


@dataclass(frozen=True)
class Machine:
    """The parameters of an LLVM target machine; `level` is that of instruction selection (0 to 3)."""

    triple: str
    cpu: str
    features: str = ""
    level: int = 3


def target_machine(machine: Machine) -> Any:
    """The target machine for this thread (LLVM's may not be shared between threads); BackendError if there is none."""
    if not 0 <= machine.level <= 3:
        raise BackendError(f"optimization level must be 0..3, got {machine.level}")
    machines = _state.__dict__.setdefault("machines", {})
    if machine not in machines:
        try:
            machines[machine] = (
                _library_for(machine)
                .Target.from_triple(machine.triple)
                .create_target_machine(
                    cpu=machine.cpu, features=machine.features, opt=machine.level, reloc="pic", codemodel="default"
                )
            )
        except RuntimeError as error:
            raise BackendError(f"LLVM knows no target {machine.triple!r}: {error}") from None
    return machines[machine]


def owning(module: Any) -> Any:
    """A module, which from now on frees the context that it alone is in.

    Where an exception that somebody keeps holds both, garbage collection ends their lives in any order; LLVM does not
    survive a module that is freed after its context.
    """
    context = module._context
    context._owned = True  # by the module: llvmlite then leaves it alone
    module._dispose = partial(_free, context._capi, module._ptr, context._ptr)
    return module


def _free(capi: Any, module: Any, context: Any) -> None:
    capi.LLVMPY_DisposeModule(module)
    capi.LLVMPY_ContextDispose(context)


def read(text: str, machine: Machine) -> Any:
    """The verified module of LLVM `text`, in a context of its own; BackendError with LLVM's message."""
    llvm, made = _library_for(machine), target_machine(machine)
    try:
        module = owning(llvm.parse_assembly(text, llvm.create_context()))
        module.triple = machine.triple
        module.data_layout = str(made.target_data)
        module.verify()
    except RuntimeError as error:
        raise BackendError(str(error).strip()) from None
    return module


def run_passes(manager: Any, module: Any, builder: Any) -> None:
    """Run a pass manager over a module, with timing if requested, and free it and its builder."""
    _run(manager, "LLVMPY_DisposeNewModulePassManger", module, builder)


def run_function_passes(module: Any, new_builder: Callable[[], Any]) -> None:
    """Simplify each function that the module has a body of, by a builder of its own: none may serve twice."""
    for function in [function for function in module.functions if not function.is_declaration]:
        builder = new_builder()
        _run(builder.getFunctionPassManager(), "LLVMPY_DisposeNewFunctionPassManger", function, builder)


def _run(manager: Any, freed_by: str, unit: Any, builder: Any) -> None:
    timing = compilation.time_llvm
    try:
        if timing:
            builder.start_pass_timing()
        manager.run(unit, builder)
        if timing:
            print(builder.finish_pass_timing(), file=sys.stderr, flush=True)
    finally:
        # llvmlite's own clean-up never reaches this call (its class inherits an empty one first): 65 KB a compile
        getattr(manager._capi, freed_by)(manager)
        manager.detach()
        builder.close()  # llvmlite 0.50 leaks its callbacks (PassInstrumentationCallbacks), 1,488 bytes a run


def dump(when: str, module: Any) -> None:
    """Print the module to stderr, if requested."""
    if compilation.dump_llvm:
        print(f"; -----// LLVM IR Dump {when} its passes //----- //\n{module}", file=sys.stderr, flush=True)


def run_isolated(worker: str, request: Mapping[str, Any], text: str, timeout: float) -> bytes:
    """What the module `worker`, run in a process of its own, answers; LLVM ending that process is a BackendError here.

    The worker reads one line of JSON, `request`, and `text` behind it. Costs about 0.2 s; BackendError also after
    `timeout` seconds.
    """
    import subprocess  # 3 ms that a process with cached kernels does not pay

    command = [sys.executable, "-m", worker]
    data = f"{json.dumps(request)}\n{text}".encode()
    try:
        environment = _child.child_environment()
        done = subprocess.run(command, input=data, capture_output=True, timeout=timeout, env=environment)
    except subprocess.TimeoutExpired:
        raise BackendError(f"LLVM took more than {timeout} s") from None
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip()
        failed = f"LLVM failed (exit status {done.returncode}): {message[-2000:]}"
        raise BackendError(_located(message, text) or failed if isinstance(text, UserText) else failed)
    return done.stdout


_BROKEN = "LLVM ERROR: Broken module found"  # how LLVM ends the process over text with debug information
_PARSING = pattern(r"^<string>:(\d+):(\d+): error: (.*)$", re.M)
_ATTACHED = pattern(r", !\w+ !\d+")


def _located(message: str, text: UserText) -> str:
    """LLVM's message at its place in a person's text: the parser says it, the verifier quotes instructions.

    Nothing where the message is about no place.
    """
    lines = text.split("\n")
    found = _PARSING.search(message)
    if found is not None:
        return Diagnostic(found[3], text.name, int(found[1]), int(found[2]), lines).render()
    told = [line.strip() for line in message.partition(_BROKEN)[0].split("\n") if line.strip()]
    quoted = {_ATTACHED.sub("", line) for line in told[1:]}
    places = [n for n, line in enumerate(lines, 1) if _ATTACHED.sub("", line.strip()) in quoted]
    if not places:
        return ""
    line = lines[places[0] - 1]
    column = len(line) - len(line.lstrip()) + 1
    notes = [Diagnostic("and here", text.name, n, column, lines, severity="note", context=0) for n in places[1:3]]
    return Diagnostic(told[0], text.name, places[0], column, lines, notes=notes, length=len(line.strip())).render()


def serve(answer: Callable[[dict[str, Any], str], bytes]) -> int:
    """The other end of `run_isolated`: the exit status is 1 with the message on stderr if LLVM refuses the text."""
    header, _, text = sys.stdin.buffer.read().decode().partition("\n")
    try:
        result = answer(json.loads(header), text)
    except BackendError as error:
        print(error, file=sys.stderr)
        return 1
    sys.stdout.buffer.write(result)
    return 0
