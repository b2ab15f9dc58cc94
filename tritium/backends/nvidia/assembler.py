"""PTX -> CUBIN by NVIDIA's assembler, and the resources it reports: registers, spills, stack, shared memory.

The assembler is `ptxas`, a program of its own, found by `toolchain`. It is given the text through a pipe and started
as early as its options are known (`start`): reading its 50 MB takes 5 of the 15 ms of a small kernel, which pass while
LLVM works. (nvJitLink, the same assembler as a library, would save about as much, but compiles as for a later link:
measured 2026-11 with 13.5 it gave other code for 15 of 18 kernels, with up to 26 registers more.)

Errors of the assembler name the line of PTX and, by its `.loc`, the line of the source. Spilled registers and
serialized WGMMAs are reported as a `PerformanceWarning` with the kernel's name.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator

from ...support import Diagnostic
from ...support.collection import collect_young
from ...support.dataclasses import dataclass
from ...support.deferred_warnings import warn
from ...support.files import source_lines
from ...support.idle import run_pending
from ...support.lazy import LazyModule
from ...support.patterns import pattern
from ...support.settings import compilation, nvidia
from ...support.text import unescape_assembly
from ..compiler import UserText
from ..errors import PerformanceWarning, PTXASError
from .process import OverdueError, Process
from .toolchain import Tool, require_tool

__all__ = [
    "Assembler",
    "Resources",
    "assembler_options",
    "errors_of_log",
    "read_log",
    "undated",
    "warn_of",
]

_remarks = LazyModule(".remarks", __package__)

TIMEOUT = 1800.0  # seconds; an assembler that runs longer hangs


@dataclass(frozen=True)
class Resources:
    """Resources of a kernel: registers per thread, bytes of spill stores and loads, bytes of stack, bytes of static
    shared memory, barriers; `remarks` are the performance remarks of the assembler."""

    registers: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    stack: int = 0
    shared: int = 0
    barriers: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def spilled(self) -> int:
        """Spilled registers: words stored, or loaded where it is more."""
        return max(self.spill_stores, self.spill_loads) // 4


def assembler_options(arch: str, fusion: bool = True, extra: str | None = None) -> list[str]:
    """The command line of ptxas without files: settings choose the optimization level and line information."""
    options = ["-v", f"--gpu-name={arch}"]
    if compilation.disable_line_info:
        options += ["-lineinfo", "-suppress-debug-info"]
    else:
        options.append("-g" if nvidia.disable_ptxas_opt else "-lineinfo")
    if not fusion:
        options.append("--fmad=false")
    if nvidia.disable_ptxas_opt:
        options += ["--opt-level", "0"]
    return [*options, *(extra or "").split()]


class Assembler:
    """One run of ptxas: started now, given its text by `finish`, ended by `close` where there is no text to come.

    Raises ToolMissing where there is no ptxas.
    """

    def __init__(self, options: list[str], tool: Tool | None = None) -> None:
        self._process: Process | None = None
        self._output: _Memory | _File | None = None
        self._rest: bytes | None = None  # of the text, when there is one
        self.tool = tool or require_tool("ptxas", "the stage cubin")
        self.options = options
        try:
            self._output = _output()
        except OSError as error:
            raise PTXASError(f"there is no folder for the assembler's output: {error}") from None
        try:
            with self._output.inherited():
                self._process = Process([self.tool.path, *options, "-o", self._output.path, "/dev/stdin"])
        except OSError as error:
            self.close()
            raise PTXASError(f"{self.tool.path} ({self.tool.origin}) cannot be run: {error}") from None

    def __del__(self) -> None:
        if not sys.is_finalizing():  # then the program's input ends by itself
            self.close()

    def close(self) -> None:
        """End the program if it still runs, and remove its files."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
        output, self._output = self._output, None
        if output is not None:
            output.close()

    def begin(self, ptx: str) -> None:
        """Have it work on the text, which `finish` is given, too; meanwhile others can."""
        process = self._process
        assert process is not None and self._rest is None, "an assembler serves once"
        text = undated(ptx).encode()
        try:
            self._rest = text[process.begin(text) :]
        except OSError as error:
            raise PTXASError(f"ptxas cannot be given the text: {error}") from None

    def finish(self, ptx: str, kernel: str) -> tuple[bytes, Resources]:
        """The machine code of the text, and what it needs. PTXASError with the user's line where it is refused.

        Warning of what makes it slow (`warn_of`) is left to who takes the code.
        """
        process, made = self._process, self._output
        assert process is not None and made is not None, "an assembler serves once"
        try:
            if self._rest is None:
                self.begin(ptx)
                collect_young()  # the modules of earlier stages
            run_pending(long=True)
            log = process.finish(self._rest or b"", TIMEOUT).decode(errors="replace")
            if process.returncode != 0:
                raise PTXASError(self._refusal(log, ptx, kernel, process.returncode))
            code = made.read()
        except OverdueError:
            raise PTXASError(f"ptxas took more than {TIMEOUT:.0f} s over {kernel}") from None
        except OSError as error:
            raise PTXASError(f"ptxas made no code of {kernel}: {error}") from None
        finally:
            self.close()
        if nvidia.dump_ptxas_log:
            print(log, end="")
        return code, read_log(log, kernel)

    def finish_if_possible(self, ptx: str, kernel: str) -> tuple[bytes, Resources] | None:
        """The same; None where it is refused, as by an assembler that does not know an option."""
        try:
            return self.finish(ptx, kernel)
        except PTXASError:
            return None

    def _refusal(self, log: str, ptx: str, kernel: str, status: int | None) -> str:
        """The assembler's messages with the lines they are about; how to repeat it, at the end."""
        found = errors_of_log(log, ptx)
        if not found:
            how = f"ended by signal {-status}" if status is not None and status < 0 else f"exit status {status}"
            found = [f"{how}: {log.strip()[-2000:] or 'no message'}"]
        if _TOO_FEW_REGISTERS.search(log):
            most = _MAX_REGISTERS.search(ptx)
            needed = _NEEDED.search(log)
            enough = f" to {needed[1]} or more" if needed else ""
            allowed = f"raise maxnreg{enough} (it is {most[1]}), or use" if most else "use"
            found.append(f"hint: {allowed} smaller tiles, or more warps (num_warps)")
        command = " ".join([self.tool.path, *self.options, "kernel.ptx"])
        return "\n".join([f"ptxas refuses the code of {kernel}", *found, f"the command was: {command}"])


class _Memory:
    """Where the program writes to: a file that is in memory and in no folder."""

    def __init__(self) -> None:
        self._descriptor = os.memfd_create("kernel.cubin")
        if self._descriptor < 3:  # a process without standard streams: the program would have its own there
            os.close(self._descriptor)
            raise OSError("a file in memory stands where a standard stream should")
        self.path = f"/dev/fd/{self._descriptor}"

    @contextlib.contextmanager
    def inherited(self) -> Iterator[None]:
        """A program that is started meanwhile can open it."""
        os.set_inheritable(self._descriptor, True)
        try:
            yield
        finally:
            os.set_inheritable(self._descriptor, False)

    def read(self) -> bytes:
        """The contents."""
        return os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0)

    def close(self) -> None:
        """It is gone."""
        os.close(self._descriptor)


class _File:
    """A file in a new private folder (tempfile does the same, but takes 4 ms to import)."""

    def __init__(self) -> None:
        self._folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"tritium-{os.getpid()}-{os.urandom(8).hex()}")
        os.mkdir(self._folder, 0o700)
        self.path = os.path.join(self._folder, "kernel.cubin")

    def inherited(self) -> contextlib.nullcontext[None]:
        """Any program can open it."""
        return contextlib.nullcontext()

    def read(self) -> bytes:
        """The contents."""
        with open(self.path, "rb") as f:
            return f.read()

    def close(self) -> None:
        """It is gone, and so is the folder."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        with contextlib.suppress(OSError):
            os.rmdir(self._folder)


def _output() -> _Memory | _File:
    """In memory, where the system has that: removing a folder can take 4 ms (ext4, Linux 6) a compile waits for."""
    with contextlib.suppress(AttributeError, OSError):
        return _Memory()
    return _File()


_ERROR = pattern(r"^ptxas \S+, line (\d+); (?:error|fatal)\s*: (.*)$", re.M)
_PLAIN_ERROR = pattern(r"^ptxas (?:error|fatal)\s*: (.*)$", re.M)
_CONTEXT = pattern(r"Compilation aborted|Ptx assembly aborted|see previous errors", re.I)
_TOO_FEW_REGISTERS = pattern(r"Insufficient registers|register allocation failed", re.I)
_NEEDED = pattern(r"register target of (\d+) or higher")
_AT_LINE = pattern(r"\bat line (\d+) in function\b")
_MAX_REGISTERS = pattern(r"^\s*\.maxnreg\s+(\d+)", re.M)
_AT = pattern(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)", re.M)
_FILE = pattern(r"^\s*\.file\s+(\d+)\s+\"([^\"]*)\"", re.M)
_UNDATED_FILE = pattern(r"^(\s*\.file\s+\d+\s+\"[^\"\n]*\")[ \t]*$", re.M)
MAX_ERRORS = 5


def undated(ptx: str) -> str:
    """The text with a time and a size for every file it names (PTX ISA, `.file`).

    Without them, or with 0, 0, ptxas 13.0 looks for the file and puts its own into the line table: machine code would
    depend on when the source was saved.
    """
    return _UNDATED_FILE.sub(r"\1, 1, 1", ptx)


def errors_of_log(log: str, ptx: str) -> list[str]:
    """The errors in a log of ptxas, each with its line of the source or of the user's PTX."""
    return _errors_of_user(log, ptx) if isinstance(ptx, UserText) else _errors(log, ptx)


def _errors(log: str, ptx: str) -> list[str]:
    lines = ptx.split("\n")
    files = {number: unescape_assembly(name) for number, name in _FILE.findall(ptx)}
    out: list[str] = []
    for number, message in _ERROR.findall(log):
        line = int(number)
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        out.append(_located(f"{message} (line {line} of the PTX: {text})", lines[:line], files))
    for message in (m for m in _PLAIN_ERROR.findall(log) if not _CONTEXT.search(m)):
        at = _AT_LINE.search(message)
        out.append(_located(message, lines[: int(at[1])], files) if at else message)
    more = [f"and {len(out) - MAX_ERRORS} more"] if len(out) > MAX_ERRORS else []
    return list(dict.fromkeys(out[:MAX_ERRORS])) + more


def _errors_of_user(log: str, ptx: UserText) -> list[str]:
    """The first message about a person's text at its line there, and how many lines more have one."""
    lines = ptx.split("\n")
    found = [(int(number), message) for number, message in _ERROR.findall(log) if 0 < int(number) <= len(lines)]
    if not found:
        return _errors(log, ptx)
    number, message = found[0]
    column, length = _at_fault(message, lines[number - 1])
    more = len({n for n, _ in found}) - 1
    out = [Diagnostic(message, ptx.name, number, column, lines, length=length).render()]
    return out + [f"and {more} more {'line' if more == 1 else 'lines'}"] * bool(more)


def _at_fault(message: str, line: str) -> tuple[int, int]:
    """Column and length of what the message quotes in a line; where it quotes nothing, of the whole."""
    for quoted in re.findall(r"'([^']+)'", message):
        if quoted in line:
            return line.index(quoted) + 1, len(quoted)
    return len(line) - len(line.lstrip()) + 1, max(1, len(line.strip()))


def _located(message: str, before: list[str], files: dict[str, str]) -> str:
    """The message with the line of the user's source that the last `.loc` names."""
    for text in reversed(before):
        at = _AT.match(text)
        if at:
            file, line, column = files.get(at[1], ""), int(at[2]), int(at[3])
            if file and line:
                return Diagnostic(message, file, line, column, source_lines(file)).render()
            break
    return message


_PROPERTIES = pattern(
    r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\s+"
    r"ptxas info\s*:\s*Used (\d+) registers(?:, used (\d+) barriers)?([^\n]*)"
)
_REMARK = pattern(r"^ptxas (?:warning\s*:|info\s*:\s*(?=\(C7\d\d\d\)))\s*(.*)$", re.M)


def read_log(log: str, kernel: str) -> Resources:
    """The resources that `ptxas -v` reports for a kernel.

    >>> read_log('''ptxas info    : Compiling entry function 'k' for 'sm_90a'
    ... ptxas info    : Function properties for k
    ...     0 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
    ... ptxas info    : Used 26 registers, used 1 barriers, 512 bytes smem''', "k").spilled
    4
    """
    part = re.search(rf"Compiling entry function '{re.escape(kernel)}'.*", log, re.S)
    text = part[0] if part else log
    remarks = tuple(dict.fromkeys(m.strip() for m in _REMARK.findall(log)))
    own = text.find(f"Function properties for {kernel}")
    found = _PROPERTIES.search(text, max(own, 0))
    if found is None:
        return Resources(remarks=remarks)
    stack, stores, loads, registers = (int(found[i]) for i in range(1, 5))
    shared = re.search(r"(\d+) bytes smem", found[6])
    return Resources(registers, stores, loads, stack, int(shared[1]) if shared else 0, int(found[5] or 0), remarks)


_THREADS = pattern(r"^\s*\.reqntid\s+(\d+)", re.M)


def _warps(ptx: str) -> int:
    """The warps of a CTA; 0 where `.reqntid` is absent."""
    found = _THREADS.search(ptx)
    return int(found[1]) // 32 if found else 0


def warn_of(resources: Resources, kernel: str, ptx: str) -> None:
    """Emit PerformanceWarnings for spills and for the remarks of ptxas."""
    if resources.spill_stores or resources.spill_loads:
        registers = f"{resources.spilled} register{'s' * (resources.spilled != 1)}"
        warn(
            f"kernel {kernel}: {registers} per thread spilled to local memory "
            f"({resources.spill_stores} bytes of stores, {resources.spill_loads} of loads): "
            "use smaller tiles or more warps (num_warps)",
            PerformanceWarning,
        )
    for remark in resources.remarks:
        warn(_remarks.explain(remark, _warps(ptx)).message(kernel), PerformanceWarning)
