"""Source locations as LLVM's metadata, read by LLVM itself and written into PTX."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tritium.backends.nvidia.codegen import NVPTXTarget, emit_ptx, optimize
from tritium.conversion.llvm.debug_info import DebugInfo
from tritium.support import UNKNOWN, CallSiteLoc, FileLineColLoc, FusedLoc, Location, NameLoc

CHIP = NVPTXTarget(90, 84)
KERNEL = FileLineColLoc("/src/kernel.py", 10, 1)
AT = FileLineColLoc("/src/kernel.py", 12, 5)
CALL = FileLineColLoc("/src/kernel.py", 14, 9)


def compile_with(debug: DebugInfo, loc: Location, kernel: Location = KERNEL) -> tuple[str, str]:
    """A kernel whose only instruction is at `loc`: LLVM's text and PTX."""
    function = debug.function_at("kernel", kernel)
    at, end = debug.at(loc), debug.at(kernel)
    text = (
        f"define ptx_kernel void @kernel(ptr addrspace(1) %x) nounwind{function} {{\n"
        f"  store i32 1, ptr addrspace(1) %x{at}\n  ret void{end}\n}}\n{debug.text()}\n"
    )
    llir = optimize(text, CHIP)
    return str(llir), emit_ptx(llir, CHIP)


def places(ptx: str) -> list[str]:
    """What `.loc` lines say, with names of files and functions in the place of numbers."""
    files = dict(re.findall(r"\.file\s+(\d+) \"(.*?)\"", ptx))
    return [
        f"{Path(files[f]).name}:{line}:{column}{rest.split(';')[0]}"
        for f, line, column, rest in re.findall(r"\.loc\s+(\d+) (\d+) (\d+)([^\n/]*)", ptx)
    ]


def test_lines_and_columns() -> None:
    _, ptx = compile_with(DebugInfo(), AT)
    found = [p.strip() for p in places(ptx)]
    assert "kernel.py:12:5" in found and '"/src/kernel.py"' in ptx
    assert ".section\t.debug_info" not in ptx and ", debug" not in ptx


@pytest.mark.parametrize("loc", [NameLoc("x", AT), FusedLoc((UNKNOWN, AT, CALL))])
def test_wrapped_locations(loc: Location) -> None:
    assert "kernel.py:12:5" in "\n".join(places(compile_with(DebugInfo(), loc)[1]))


def test_an_inlined_operation_knows_its_function_and_its_caller(tmp_path: Path) -> None:
    source = tmp_path / "lib.py"
    source.write_text("import x\n\n@jit\ndef helper(a):\n    if a:\n        return a + 1\n    return a\n")
    llir, ptx = compile_with(DebugInfo(), CallSiteLoc(FileLineColLoc(str(source), 6, 16), CALL))
    assert re.search(r'DISubprogram\(name: "helper".*line: 4', llir)
    assert re.search(r"DILocation\(line: 14, column: 9", llir) and "inlinedAt" in llir
    # (LLVM 22 does not write the callers into PTX; LLVM 23 does.)
    assert any(line.startswith("lib.py:6:16") for line in places(ptx))


def test_calls_within_calls() -> None:
    inner = CallSiteLoc(FileLineColLoc("/no/a.py", 3, 1), FileLineColLoc("/no/b.py", 5, 2))
    llir, ptx = compile_with(DebugInfo(), CallSiteLoc(inner, CALL))
    assert llir.count("inlinedAt") == 2
    assert any(p.startswith("a.py:3:1") for p in places(ptx))


def test_another_file_without_a_call() -> None:
    llir, ptx = compile_with(DebugInfo(), FileLineColLoc("/src/other.py", 2, 3))
    assert "DILexicalBlockFile" in llir and "other.py:2:3" in "\n".join(places(ptx))


def test_unknown_locations() -> None:
    debug = DebugInfo()
    assert debug.function_at("kernel", UNKNOWN) == debug.at(AT) == debug.text() == ""
    llir, _ = compile_with(DebugInfo(), UNKNOWN)
    assert "!DILocation(line: 0, scope:" in llir


def test_names_are_quoted() -> None:
    _, ptx = compile_with(DebugInfo(), FileLineColLoc("/src/sp ace \\ é.py", 2, 3))
    assert any(":2:3" in line for line in places(ptx))


def test_equal_places_are_one_node() -> None:
    debug = DebugInfo()
    debug.function_at("kernel", KERNEL)
    call = CallSiteLoc(FileLineColLoc("/no/a.py", 3, 1), CALL)
    assert debug.at(call) == debug.at(CallSiteLoc(FileLineColLoc("/no/a.py", 3, 1), CALL))
    lines = debug.text().split("\n")
    nodes = [line.split(" = ", 1)[1] for line in lines if re.match(r"!\d+ = ", line)]
    assert len(nodes) == len(set(nodes))
