"""Types and attributes of the builtin dialect as MLIR itself prints them.

`mlir_attributes.txt` holds what MLIR made of each text: `text  =>  printed` or `text  =>  ERROR`, behind `##` the
aliases it defined for it. Where Triton is installed, the table is compared with what it says today.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.triton_oracle import TritonError
from tritium.dialects import tt, ttg
from tritium.ir import ParseError, parse_module, print_op

assert tt.PointerType and ttg  # the dialects whose types and attributes the table names
MODULE = "module attributes {tt.x = %s} {\n}\n"
TABLE = [
    line.split("  =>  ")
    for line in Path(__file__).with_name("mlir_attributes.txt").read_text().splitlines()
    if line and not line.startswith("//")
]


def shown(module_text: str) -> str:
    """The attribute in the text of a module, and the aliases above it."""
    above, _, rest = module_text.partition("module")
    text = rest.partition("tt.x")[2].rpartition("} {")[0].removeprefix(" = ").strip()
    return f"{text}  ##  " + above.strip().replace("\n", "\\n") if above.strip() else text


@pytest.mark.parametrize("part", range(8))
def test_printed_as_mlir_does(part):
    for text, expected in TABLE[part::8]:
        try:
            printed = print_op(parse_module(MODULE % text))
        except ParseError as error:
            assert expected == "ERROR", f"{text}: {error}"
            continue
        assert shown(printed) == expected, text
        assert print_op(parse_module(printed)) == printed
        assert shown(print_op(parse_module(print_op(parse_module(printed), generic=True)))) == expected


def test_the_table_is_what_mlir_says(triton_oracle):
    for text, expected in TABLE:
        try:
            printed = shown(triton_oracle.read(MODULE % text))
        except TritonError:
            printed = "ERROR"
        assert printed == expected, text
