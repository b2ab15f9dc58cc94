"""`tritium opt`: what it reads, runs and prints, and what it shows of passes."""

from __future__ import annotations

import os
import pty
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.opt_programs import MERGED, PROGRAM, command, headings

# -- passes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["--passes", "cse,dce"],
        ["--passes=cse,dce"],
        ["--passes", "cse", "-dce"],
        ["-p", "cse,dce"],
        ["-cse", "--dce"],
        ["-pass-pipeline=builtin.module(cse,tt.func(dce))"],
        ["--pass-pipeline", "any(cse,dce)"],
        ["-cse", "-canonicalize", "--mlir-disable-threading"],
    ],
)
def test_passes_in_every_spelling(opt, program, arguments):
    assert opt(program, *arguments) == (0, MERGED, "")
    assert opt(*arguments, "--", program) == (0, MERGED, "")


def test_order_is_that_of_the_arguments(opt, program, own):
    def ran(*arguments):
        err = opt(program, "--load", own, *arguments, "--print-before-all")[2]
        return re.findall(r"IR Dump Before \w+: ([\w-]+)", err)

    assert ran("-cse", "--passes", "dce,sums", "-canonicalize") == ["cse", "dce", "sums", "canonicalize"]
    assert ran("--passes=canonicalize", "-sums", "-p", "cse") == ["canonicalize", "sums", "cse"]


def test_standard_input_and_output(program, tmp_path):
    done = command("-cse", "-dce", text=PROGRAM)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, MERGED, b"")
    out = tmp_path / "out.mlir"
    done = command("-", "-cse", "-dce", "-o", str(out), text=PROGRAM)
    assert (done.returncode, done.stdout, out.read_text()) == (0, b"", MERGED)
    assert command(program, "-cse", "-dce", "-o", "-").stdout.decode() == MERGED


def test_a_file_may_be_written_over_itself(opt, program):
    assert opt(program, "-cse", "-dce", "-o", program) == (0, "", "")
    assert Path(program).read_text() == MERGED


def test_the_first_letters_are_not_enough(opt, program):
    status, out, err = opt(program, "--passe", "cse")
    assert (status, out) == (1, "")
    assert err == "tritium opt: error: there is no option '--passe'; did you mean 'passes'?\n"
    assert "did you mean 'canonicalize'?" in opt(program, "-canonicalise")[2]


def test_options_of_passes_and_mistakes_in_them(opt, program):
    status, out, err = opt(program, "--passes", "cse,canonicalise")
    assert (status, out) == (1, "")
    assert err.split("\n") == [
        "--passes:1:5: error: there is no pass 'canonicalise'",
        "    1 | cse,canonicalise",
        "      |     ^^^^^^^^^^^^",
        "hint: did you mean 'canonicalize'?",
        "",
    ]
    assert "there is no option 'x' of 'dce'" in opt(program, "-dce=x=1")[2]
    assert "there is no option 'x' of 'dce'" in opt(program, "-dce={x=1}")[2]


def test_names_for_the_passes_of_a_stage(opt, program):
    err = opt(program, "--passes", "ttir-cpu,cse", "--print-before-all")[2]
    names = re.findall(r"IR Dump Before \w+: ([\w-]+)", err)
    assert names[0] == "inliner" and "canonicalize" in names and names[-2:] == ["dce", "cse"]
    err = opt(program, "-ttir-cuda-90", "--print-before-all")[2]
    assert re.findall(r"IR Dump Before \w+: ([\w-]+)", err)[-1] == "loop-unroll"
    (of_descriptors,) = re.findall(r"rewrite-tensor-descriptor\S*", err)  # only of blocks that TMA cannot read
    assert of_descriptors == "rewrite-tensor-descriptor-to-pointer{uneven=true}"
    assert "did you mean 'ttir-cuda-90'?" in opt(program, "-ttir-cuda90")[2]
    assert "'ttir-cpu' runs on a module, not on tt.func" in opt(program, "-p", "tt.func(ttir-cpu)")[2]


def test_passes_of_the_users_own(opt, program, own):
    status, out, err = opt(program, "--load", own, "-sums", "--statistics")
    assert status == 0
    assert "muli" not in out
    assert err == "sums: functions seen: 1\n"
    assert "sums" in opt("--load=" + own, "--list-passes")[1].split()
    assert "cannot load '/nowhere/p.py'" in opt(program, "--load", "/nowhere/p.py", "-sums")[2]
    assert "cannot load 'no_such_module'" in opt(program, "--load", "no_such_module")[2]
    assert "cannot load './passes': it is no .py file" in opt(program, "--load", "./passes")[2]


def test_files_with_passes_that_are_wrong(opt, program, tmp_path):
    def message(text, *more):
        path = tmp_path / "wrong.py"
        path.write_text(text)
        status, out, err = opt(program, "--load", str(path), *more)
        assert (status, out) == (1, "")
        return err.replace(str(path), "wrong.py")

    assert message("x = 1\ny = z\n") == "tritium opt: error: cannot load 'wrong.py': NameError: name 'z' is not defined (line 2)\n"  # fmt: skip
    assert "cannot load 'wrong.py': SyntaxError: " in message("def f(:\n")
    assert "Traceback" in message("y = z\n", "--traceback")
    text = "from tritium.ir import pass_on\n\n@pass_on('function')\ndef cse(func): ...\n"
    assert "there is a pass 'cse' already, in tritium.transforms.cse" in message(text, "-cse")
    (tmp_path / "wrong.py").write_text(text)
    done = command(program, "--load", str(tmp_path / "wrong.py"), "-cse")  # where nobody has asked for ours before
    assert b"there is a pass 'cse' already, in tritium.transforms.cse" in done.stderr


# -- reading -------------------------------------------------------------------------------------------------------


def test_what_cannot_be_read(opt, tmp_path):
    def message(path):
        status, out, err = opt(str(path))
        assert (status, out) == (1, "")
        return err

    assert (
        message(tmp_path / "missing")
        == f"tritium opt: error: cannot read '{tmp_path}/missing': no such file or directory\n"
    )
    assert message(tmp_path) == f"tritium opt: error: cannot read '{tmp_path}': is a directory\n"
    binary = tmp_path / "binary"
    binary.write_bytes(b"module {\n\x7fELF\0}")
    assert message(binary) == f"tritium opt: error: '{binary}' is no text: byte 0x00 at offset 13, line 2\n"
    binary.write_bytes(b"// \xff\n")
    assert "byte 0xff at offset 3, line 1" in message(binary)
    binary.write_bytes(b"ML\xefR\x01")
    assert "is MLIR bytecode" in message(binary)
    if os.geteuid():
        binary.chmod(0)
        assert message(binary) == f"tritium opt: error: cannot read '{binary}': permission denied\n"


def test_an_empty_file_is_an_empty_module(opt, tmp_path):
    path = tmp_path / "empty.mlir"
    path.write_text("")
    status, out, err = opt(str(path), "-cse")
    assert (status, err) == (0, "")
    assert re.fullmatch(r"module \{\s*\}\n", out)
    path.write_text("// nothing\n\n")
    assert opt(str(path))[1] == out


def test_what_cannot_be_written(opt, program, tmp_path):
    status, out, err = opt(program, "-o", str(tmp_path))
    assert (status, out, err) == (1, "", f"tritium opt: error: cannot write '{tmp_path}': is a directory\n")


def test_a_mistake_in_the_text_is_shown(opt, tmp_path):
    path = tmp_path / "bad.mlir"
    path.write_text(PROGRAM.replace("%a, %b : i32", "%a, %bb : i32"))
    status, out, err = opt(str(path), "-cse")
    assert (status, out) == (1, "")
    assert err.startswith(f"{path}:4:23: error: '%bb' is not defined\n")
    assert "      |                       ^^^" in err
    assert "hint: did you mean '%b'?" in err


def test_ir_that_does_not_verify_is_shown_at_its_line(opt, tmp_path):
    path = tmp_path / "bad.mlir"
    path.write_text("tt.func @f(%x: i32) {\n  tt.call @g(%x) : (i32) -> ()\n  tt.return\n}\n")
    status, out, err = opt(str(path))
    assert (status, out) == (1, "")
    assert f"{path}:2:3: error: V15" in err
    assert opt(str(path), "--no-verify")[0] == 0


def test_lines_of_standard_input_are_shown():
    done = command(text="tt.func @f(%x: i32) {\n  tt.call @g(%x) : (i32) -> ()\n  tt.return\n}\n")
    assert b"<stdin>:2:3: error: V15: there is no symbol @g\n    2 |   tt.call @g(%x)" in done.stderr


def test_pieces_of_a_file(opt, tmp_path):
    path = tmp_path / "many.mlir"
    bad = "tt.func @bad() {\n  tt.return %x : i32\n}\n"
    path.write_text("\n// -----\n".join([PROGRAM, bad, PROGRAM]))
    status, out, err = opt(str(path), "-cse", "-dce", "-split-input-file")
    assert status == 1
    assert out == MERGED + "// -----\n" + MERGED
    assert err.startswith(f"{path}:12:13: error: '%x' is not defined\n")
    assert "   12 |   tt.return %x : i32\n      |             ^^\n" in err
    path.write_text("\n// =====\n".join([PROGRAM, PROGRAM]))
    assert opt(str(path), "-cse", "-dce", "--split-input-file=// =====") == (0, MERGED + "// =====\n" + MERGED, "")
    status, out, err = opt(str(path), "-cse")
    assert (status, out) == (1, "")  # in one piece @f is there twice


def test_dialects_of_others(opt, tmp_path):
    path = tmp_path / "other.mlir"
    path.write_text('"my.op"() {a = 1 : i32} : () -> ()\n')
    status, _, err = opt(str(path))
    assert status == 1
    assert "my.op" in err
    status, out, err = opt(str(path), "-allow-unregistered-dialect", "-cse")
    assert (status, err) == (0, "")
    assert '"my.op"()' in out


# -- printing ------------------------------------------------------------------------------------------------------


def test_forms_of_the_output(opt, program):
    generic = opt(program, "-mlir-print-op-generic")[1]
    assert '"arith.muli"(%x, %x)' in generic
    located = opt(program, "--mlir-print-debuginfo")[1]
    assert f'loc("{program}":2:8)' in located
    assert "loc(#loc" in located
    local = opt(program, "--locations", "--no-aliases")[1]
    assert "#loc" not in local
    assert opt(program, "--no-output") == (0, "", "")
    assert opt(program, "--generic", "--verify-roundtrip")[:2] == (0, generic)


def test_counts(opt, program):
    status, out, err = opt(program, "-cse", "--emit=counts")
    assert (status, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["arith.addi", "2"], ["arith.muli", "1"], ["tt.func", "1"], ["tt.return", "1"], ["tt.store", "1"], ["(all)", "6"],
    ]  # fmt: skip
    assert opt(program, "--emit=nothing") == (0, "", "")
    assert '"arith.muli"(%x, %x)' in opt(program, "--emit", "generic")[1]
    assert "'--emit' is text, generic, counts or nothing, not 'x'" in opt(program, "--emit=x")[2]


def test_values_named_by_their_locations(opt, tmp_path):
    path = tmp_path / "named.mlir"
    path.write_text("""\
#loc = loc("k.py":3:1)
tt.func @f(%0: i32 loc("x"(#loc)), %1: i32) -> i32 {
  %2 = arith.addi %0, %1 : i32 loc(callsite("sum"(#loc) at #loc))
  %3 = arith.muli %2, %1 : i32 loc(fused[#loc, "product"])
  %z = arith.subi %3, %1 : i32 loc(#loc)
  tt.return %z : i32
}
""")
    out = opt(str(path), "--mlir-use-nameloc-as-prefix")[1]
    assert "@f(%x: i32, %arg1: i32)" in out
    for line in ("%sum = arith.addi %x, %arg1", "%product = arith.muli %sum, %arg1", "%z = arith.subi %product, %arg1"):
        assert line in out


def test_help_lists_all_passes_and_options(opt):
    status, out, err = opt("--help")
    assert (status, err) == (0, "")
    for name in ("cse", "canonicalize", "inliner", "symbol-dce"):
        assert re.search(rf"^  {name}\b.* \S+", out, re.MULTILINE), name
    for name in ("--passes", "--split-input-file", "--bisect", "--mlir-print-ir-after-all"):
        assert name in out
    assert "\x1b" not in out
    assert opt("-h")[1] == out


def test_names(opt):
    passes = opt("--list-passes")[1].split()
    assert {"cse", "inline", "inliner", "triton-combine"} <= set(passes)
    assert passes == sorted(passes)
    assert {"arith", "scf", "tt"} <= set(opt("--show-dialects")[1].split())
    assert opt("--version")[1].startswith("tritium ")


# -- watching ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["--print-before=cse"], ["Before CSEPass: cse ('builtin.module' operation)"]),
        (["--mlir-print-ir-before=triton-licm"], ["Before TritonLoopInvariantCodeMotion: triton-licm ('builtin.module' operation)"]),
        (["--print-after=cse,licm"], ["After CSEPass: cse ('builtin.module' operation)", "After TritonLoopInvariantCodeMotion: triton-licm ('builtin.module' operation)"]),
        (["-mlir-print-ir-after-change"], ["After CSEPass: cse ('builtin.module' operation)", "After DeadCodeEliminationPass: dce ('tt.func' operation: @f)"]),
        (["--print-after-change=dce,licm"], ["After DeadCodeEliminationPass: dce ('tt.func' operation: @f)"]),
        (["--print-before=cse", "--print-function=f"], ["Before CSEPass: cse ('builtin.module' operation)"]),
        (["--print-before=cse", "--print-function=g"], []),
    ],
)  # fmt: skip
def test_dumps(opt, program, arguments, expected):
    pipeline = "builtin.module(cse,triton-licm,tt.func(dce))"
    status, out, err = opt(program, "--passes", pipeline, *arguments)
    assert (status, out) == (0, MERGED)
    assert headings(err) == expected


def test_all_dumps(opt, program):
    err = opt(program, "-cse", "-licm", "-mlir-print-ir-before-all", "-mlir-print-ir-after-all")[2]
    assert [h.split(" ")[0] for h in headings(err)] == ["Before", "After"] * 2


def test_a_dump_of_an_unknown_pass(opt, program):
    assert "there is no pass 'cs'; did you mean 'cse'?" in opt(program, "-cse", "--print-after=cs")[2]


def test_what_a_dump_shows(opt, program):
    pipeline = ["--passes", "builtin.module(tt.func(cse))", "--print-after-all"]
    err = opt(program, *pipeline)[2]
    assert err.split("\n")[1].startswith("tt.func public @f(")
    assert opt(program, *pipeline, "--print-module")[2].split("\n")[1] == "module {"
    assert '"arith.muli"' in opt(program, *pipeline, "--generic")[2]


def test_the_environment_counts_here_too(opt, program, monkeypatch, tmp_path):
    def shown(variable, value, *more):
        with monkeypatch.context() as m:
            m.setenv(variable, value)
            status, out, err = opt(program, "-cse", "-dce", *more)
        assert status == 0
        return out, err

    assert [h.split(" ")[0:2] for h in headings(shown("MLIR_ENABLE_DUMP", "1")[1])] == [["Before", "CSEPass:"], ["Before", "DeadCodeEliminationPass:"]]  # fmt: skip
    assert headings(shown("MLIR_ENABLE_DUMP", "g")[1]) == []
    assert headings(shown("MLIR_ENABLE_DUMP", "1", "--print-after=dce")[1]) == ["After DeadCodeEliminationPass: dce ('builtin.module' operation)"]  # fmt: skip
    assert "-    %b = arith.muli" in shown("TRITIUM_PRINT_IR", "diff")[1]
    assert "  Total" in shown("MLIR_ENABLE_TIMING", "1")[1]
    assert shown("TRITIUM_PASS_FUEL", "0")[0].count("arith") == 4
    assert shown("TRITIUM_PASS_FUEL", "0", "--fuel=2")[0] == MERGED
    shown("TRITON_REPRODUCER_PATH", str(tmp_path / "r"))
    assert 'pipeline: "builtin.module(cse,dce)"' in (tmp_path / "r.make_opt.repro.mlir").read_text()


def test_differences(opt, program):
    err = opt(program, "-cse", "-licm", "--diff")[2]
    assert headings(err) == ["After CSEPass: cse ('builtin.module' operation)"]
    assert "-    %b = arith.muli %x, %x : i32\n" in err
    assert "\x1b" not in err


def test_dumps_in_a_folder(opt, program, tmp_path):
    folder = tmp_path / "dumps"
    assert opt(program, "-cse", "-canonicalize", "--print-after-all", "--print-to", str(folder))[2] == ""
    assert sorted(p.name for p in folder.iterdir()) == [
        "001-builtin.module-after-cse.mlir", "002-builtin.module-after-canonicalize.mlir",
    ]  # fmt: skip
    assert opt(str(folder / "001-builtin.module-after-cse.mlir"), "-dce")[1] == MERGED


def test_timing(opt, program):
    err = opt(program, "--passes", "cse,tt.func(dce,licm)", "--timing")[2]
    rows = re.findall(r"^ +(\d+\.\d+) \( *(\d+\.\d)%\)  ( *)(.*)$", err, re.MULTILINE)
    assert [(len(indent) // 2, name) for _, _, indent, name in rows] == [
        (0, "Parser"), (0, "cse"), (0, "'tt.func' Pipeline"), (1, "dce"), (1, "licm"), (0, "(verify)"),
        (0, "Output"), (0, "Total"),
    ]  # fmt: skip
    seconds = {name: float(s) for s, _, _, name in rows}
    top = sum(float(s) for s, _, indent, name in rows[:-1] if not indent)
    assert seconds["Total"] == pytest.approx(top, abs=1e-5)
    assert rows[-1][1] == "100.0"


def test_times_of_pieces_add_up(opt, tmp_path):
    path = tmp_path / "many.mlir"
    path.write_text("\n// -----\n".join([PROGRAM] * 3))
    err = opt(str(path), "-cse", "--timing", "--statistics", "--split-input-file")[2]
    assert err.count("  Total") == 1
    assert "cse: operations merged: 3" in err


def test_the_pipeline_is_shown(opt, program):
    err = opt(program, "-cse", "--passes", "builtin.module(dce)", "--dump-pass-pipeline")[2]
    assert err == "Pass Manager with 1 passes:\ncse\nPass Manager with 1 passes:\nbuiltin.module(dce)\n"


# -- as a program --------------------------------------------------------------------------------------------------


def imported(code: str) -> set[str]:
    """The modules in a process after `code`."""
    code += "\nimport sys\nprint(*sys.modules, file=sys.stderr)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split())


def test_it_imports_no_more_than_it_needs(program):
    modules = imported(f"from tritium.tools.opt import main\nmain([{program!r}, '-cse'])")
    assert "tritium.transforms.cse" in modules
    unwanted = {"typer", "rich", "numpy", "torch", "llvmlite", "difflib", "tritium.compiler", "tritium.runtime",
                "tritium.frontend", "tritium.backends", "tritium.dialects.ttg", "tritium.transforms.sccp"}  # fmt: skip
    assert not modules & unwanted


def test_passes_come_with_what_they_run_on():
    modules = imported("""
import tritium.transforms
from tritium.ir import PassManager, parse_module
module = parse_module("tt.func @f(%x: i32) { tt.return }")
PassManager("cse,dce").run(module)""")
    assert "tritium.dialects.tt" in modules
    imported("""
from tritium.ir import ParseError, parse_module
for text in ("", "module {}", '"tt.return"() : () -> ()'):
    try:
        parse_module(text)
    except ParseError as error:
        assert "hint: no dialect is loaded: `import tritium.dialects`" in str(error)
    else:
        raise AssertionError(text)""")


def test_pipelines_of_tables_need_no_text():
    modules = imported("from tritium.ir import run_pipeline, verify\nimport tritium.transforms.ttir")
    assert "tritium.ir.passes.run" in modules
    assert not modules & {f"tritium.ir.passes.{name}" for name in ("text", "manager", "bisection", "dump", "options")}


def test_a_reader_that_stops_early(program):
    shell = f"{sys.executable} -m tritium opt {program} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "")


def test_ctrl_c_says_which_pass_ran(program, own, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "tritium", "opt", program, "--load", own, "-endless", "--print-before-all",
         f"--reproducer={tmp_path}/endless.mlir"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in what a shell runs in background
    )  # fmt: skip
    assert process.stderr.readline().startswith("// -----// IR Dump Before EndlessPass")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert re.fullmatch("interrupted in pass endless on (@f|builtin.module)", err.rstrip().split("\n")[-2])
    assert 'pipeline: "builtin.module(endless)"' in (tmp_path / "endless.mlir").read_text()


def on_a_terminal(*arguments):
    """What a terminal gets to see."""
    master, slave = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {
        "TERM": "xterm-256color",
        "COLUMNS": "120",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tritium", "opt", *arguments], stdout=slave, stderr=slave, env=environment
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # how a terminal says that all of its users are gone
            break
        if not part:
            break
        shown += part
    os.close(master)
    assert process.wait() == 0
    return shown.decode()


def test_terminals_get_colours(program):
    shown = on_a_terminal("--help")
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert re.search(r"canonicalize .*rewrite rules", plain)
    assert "--split-input-file[=MARKER]" in plain
    assert "-PASS ...] [options]" in plain
    shown = on_a_terminal(program, "-cse", "--diff", "--no-output")
    assert "\x1b[31m-    %b = arith.muli %x, %x : i32\x1b[0m" in shown


def test_the_command_line_names_it():
    done = subprocess.run([sys.executable, "-m", "tritium", "--help"], capture_output=True, text=True)
    assert "opt" in done.stdout
    done = command("--help")
    assert b"canonicalize" in done.stdout


PIECES = ["-cse", "--passes", "cse,", "=", "-", "--", "{", "builtin.module(", ")", "dce", "--fuel", "1:2", "--generic=", "-o",
          "/dev/null", "--print-after", "--load", "--bisect", "true", "--diff", "--timing", "é", "\0", "--help=", "tt.func(cse)",
          "--split-input-file=", "--verify-diagnostics", "--no-output", "--run-reproducer", "--pass-pipeline=any(cse)"]  # fmt: skip


def test_no_arguments_make_it_stumble(opt, program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # `-o` takes whatever comes next for a file's name
    chance = random.Random(20261121)
    statuses = set()
    for _ in range(400):
        arguments = [chance.choice(PIECES) for _ in range(chance.randrange(1, 6))]
        arguments = ["./-" if a == "-" else a for a in arguments]  # standard input would wait
        status, out, err = opt(program, *arguments)
        statuses.add(status)
        assert (status == 0) or (status == 1 and out == "" and "error:" in err), (arguments, err)
        assert "internal error" not in err, (arguments, err)
    assert statuses == {0, 1}


def test_options_that_need_values(opt, program):
    assert "option '--passes' needs a value" in opt(program, "--passes")[2]
    assert "option '--generic' is true or false, not 'perhaps'" in opt(program, "--generic=perhaps")[2]
    assert "one file at a time, not 2" in opt(program, program)[2]
