"""The options of `tritium opt`, and the pipeline of its arguments."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.passes.registry import PASSES
from ..support.dataclasses import dataclass, field
from .arguments import UsageError, described, option, read_arguments

__all__ = ["OptOptions", "read_options"]

_READ, _RUN, _PRINT, _WATCH, _FAIL, _ABOUT = (
    "Reading", "Passes", "Writing", "Watching passes", "When something goes wrong", "About",
)  # fmt: skip


@dataclass
class OptOptions:
    """The options of `tritium opt`; alternative spellings are those of mlir-opt and triton-opt."""

    file: str = "-"
    pipelines: list[tuple[str, str]] = field(default_factory=list)  # how the argument is called, the text of passes
    passes: list[str] = option(
        "Run these passes in order: cse,canonicalize or builtin.module(cse,tt.func(dce)); the name of a pass "
        "is an option too: -cse -canonicalize", "pass-pipeline", "p", kind="list", value="PASSES", group=_RUN,
    )  # fmt: skip
    load: list[str] = option(
        "Load a Python file or module with your own passes and operations",
        "load-plugin", "load-pass-plugin", "load-dialect-plugin",
        kind="list", value="FILE.py", group=_RUN,
    )  # fmt: skip
    run_reproducer: bool = option("Run the pipeline that the file states at its end", group=_RUN)
    fuel: str | None = option(
        "Run the first N passes only; N:M lets the last of them rewrite M times",
        kind="value",
        value="N[:M]",
        group=_RUN,
    )
    dump_pass_pipeline: bool = option("Print the pipeline to stderr before it runs", group=_RUN)
    allow_unregistered_dialect: bool = option("Keep operations of unknown dialects, in generic form", group=_READ)
    split_input_file: str | None = option(
        "Split the input at lines '// -----' and process each part",
        kind="value",
        value="MARKER",
        bare="// -----",
        group=_READ,
    )
    verify_diagnostics: str | None = option(
        "Check that errors are those that comments expect: // expected-error@+1 {{text}}", kind="value",
        value="all|only-expected", bare="all", group=_READ,
    )  # fmt: skip
    output: str | None = option(
        "Write the output to this file (-: stdout)", "o", kind="value", value="FILE", group=_PRINT
    )
    generic: bool = option("Print all operations in generic form", "mlir-print-op-generic", group=_PRINT)
    locations: bool = option("Print locations", "mlir-print-debuginfo", group=_PRINT)
    name_locations: bool = option("Name values by their name locations", "mlir-use-nameloc-as-prefix", group=_PRINT)
    emit: str = option(
        "Print the IR (text, generic), the number of operations by name (counts), or nothing", kind="value",
        value="text|generic|counts|nothing", default="text", group=_PRINT,
    )  # fmt: skip
    no_aliases: bool = option(
        "Print attributes and locations inline, without aliases", "mlir-print-local-scope", group=_PRINT
    )
    no_output: bool = option("Print nothing: only read, run, verify", group=_PRINT)
    verify_each: bool = option(
        "Verify after every pass (the default), or with =false once at the end", default=True, group=_FAIL
    )
    no_verify: bool = option("Do not verify at all", group=_FAIL)
    verify_roundtrip: bool = option("Check that the printed text parses and prints to the same text", group=_FAIL)
    timing: bool = option("Show the times of every pass, of parsing and of printing", "mlir-timing", group=_WATCH)
    statistics: bool = option("Show the statistics of passes", "mlir-pass-statistics", group=_WATCH)
    print_before: list[str] = option(
        "Print the IR before these passes", "mlir-print-ir-before", kind="list", value="PASS,...", group=_WATCH
    )
    print_after: list[str] = option(
        "Print the IR after these passes", "mlir-print-ir-after", kind="list", value="PASS,...", group=_WATCH
    )
    print_after_change: list[str] = option(
        "Print the IR after those of these passes that changed it", "mlir-print-ir-after-change", kind="list",
        value="PASS,...", bare="all", group=_WATCH,
    )  # fmt: skip
    print_before_all: bool = option("Print the IR before every pass", "mlir-print-ir-before-all", group=_WATCH)
    print_after_all: bool = option("Print the IR after every pass", "mlir-print-ir-after-all", group=_WATCH)
    print_after_failure: bool = option(
        "Print the IR after a pass that fails", "mlir-print-ir-after-failure", group=_WATCH
    )
    print_module: bool = option("Print the whole module each time", "mlir-print-ir-module-scope", group=_WATCH)
    print_function: list[str] = option("Print these functions only", kind="list", value="NAME,...", group=_WATCH)
    print_to: str | None = option(
        "Print the IR to files in this folder instead of stderr", "mlir-print-ir-tree-dir", kind="value",
        value="FOLDER", group=_WATCH,
    )  # fmt: skip
    diff: bool = option("Show changes as a diff", group=_WATCH)
    compare: bool = option("Show the changes of each pass instead of the output", group=_WATCH)
    trace: str | None = option(
        "Record passes and rewrites in this file, for `tritium trace show`", kind="value", value="FILE",
        group=_WATCH,
    )  # fmt: skip
    bisect: str | None = option(
        "Find the first pass, and rewrite, for whose output the command fails ({}: the file)", kind="value",
        value="COMMAND", group=_FAIL,
    )  # fmt: skip
    reproducer: str | None = option(
        "Write the IR and the pipeline to this file when a pass fails", "mlir-pass-pipeline-crash-reproducer",
        kind="value", value="FILE", group=_FAIL,
    )  # fmt: skip
    traceback: bool = option("Show the compiler's traceback of an error", group=_FAIL)
    list_passes: bool = option("List the names of all passes", group=_ABOUT)
    show_dialects: bool = option("List the registered dialects", group=_ABOUT)
    version: bool = option("Print the version", group=_ABOUT)
    help: bool = option("Show this help", "h", "help-list", "help-hidden", group=_ABOUT)


_IGNORED = {  # options of mlir-opt about things that are not there, or are always so
    "mlir-disable-threading",
    "mlir-pass-pipeline-local-reproducer",
    "mlir-pass-statistics-display",
    "mlir-timing-display",
    "emit-bytecode-version",
    "mlir-print-stacktrace-on-diagnostic",
    "mlir-print-op-on-diagnostic",
    "no-implicit-module",
}
_NAMES = {d.name for d in described(OptOptions)}


def _is_known(name: str) -> bool:
    return name in _IGNORED or name in PASSES.pipelines or PASSES.find(name) is not None


def read_options(arguments: Sequence[str]) -> OptOptions:
    """Parse the arguments of `tritium opt`; `UsageError` where they are invalid."""
    options, files, came = read_arguments(OptOptions, arguments, _is_known, PASSES.known_names)
    if len(files) > 1:
        raise UsageError(f"one file at a time, not {len(files)}: {' '.join(files)}")
    if options.emit not in ("text", "generic", "counts", "nothing"):
        raise UsageError(f"option '--emit' is text, generic, counts or nothing, not '{options.emit}'")
    options.generic |= options.emit == "generic"
    options.no_output |= options.compare and options.output is None
    options.no_output |= options.emit == "nothing"
    options.file = files[0] if files else "-"
    options.pipelines = [(f"--{name}", text) for name, value in came if (text := _pipeline(name, value))]
    return options


def _pipeline(name: str, value: str | None) -> str:
    """What an argument adds to the pipeline: nothing, or text."""
    if name == "passes":
        return value or ""
    if name in _IGNORED or name in _NAMES:
        return ""
    given = (value or "").strip()
    inner = given[1:-1] if given[:1] == "{" and given[-1:] == "}" else given
    return f"{name}{{{inner}}}" if inner else name
