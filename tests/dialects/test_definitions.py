"""What holds of every operation of every dialect."""

from __future__ import annotations

import pytest

import tritium.dialects
from tritium.dialects import arith, tt
from tritium.ir import (
    COMMUTATIVE,
    CONSTANT,
    ELEMENTWISE,
    OPS,
    PURE,
    READ,
    SAME_TYPE,
    TERMINATOR,
    WRITE,
    Block,
    TensorType,
    f32,
    i1,
    i32,
    memory_effects,
)
from tritium.ir.assembly import compile_printer, elements
from tritium.ir.assembly_parser import compile_parser

DIALECTS = set(tritium.dialects.__all__) | {"llvm"}
ALL = sorted((name, cls) for name, cls in OPS.items() if name.partition(".")[0] in DIALECTS)
IDS = [name for name, _ in ALL]


@pytest.mark.parametrize("name, cls", ALL, ids=IDS)
def test_definition(name, cls):
    assert cls.__doc__, "the docstring opens with the equation"
    assert all(f.index == i for group in (cls.operand_fields, cls.result_fields) for i, f in enumerate(group))
    assert cls.traits & PURE == 0 or cls.traits & (READ | WRITE) == 0
    assert cls.traits & (PURE | CONSTANT) == 0 or not hasattr(cls, "effects")  # `memory_effects` does not ask
    if cls.traits & (ELEMENTWISE | SAME_TYPE) and not cls.traits & TERMINATOR:
        assert cls.result_fields
    if cls.traits & COMMUTATIVE:
        assert len(cls.operand_fields) >= 2
    if cls.traits & CONSTANT:
        assert "value" in cls.attribute_fields
    if sum(f.arity != "1" for f in cls.operand_fields) > 1:
        assert cls.segmented


@pytest.mark.parametrize("name, cls", [(n, c) for n, c in ALL if c.assembly is not None], ids=str)
def test_format_names_every_operand_and_tells_every_type(name, cls):
    flat = []

    def collect(items):
        for e in items:
            flat.append(e)
            collect(e.children)

    collect(elements(cls))
    named = {e.field.name for e in flat if e.kind == "field"}
    if not any(e.kind == "operands" for e in flat):
        assert {f.name for f in cls.operand_fields} <= named
    compile_printer(cls)
    compile_parser(cls)


@pytest.mark.parametrize("name, cls", [(n, c) for n, c in ALL if hasattr(c, "print_assembly")], ids=str)
def test_own_syntax_is_printed_and_parsed(name, cls):
    assert hasattr(cls, "parse_assembly")


def test_the_dialects_export_what_they_define():
    for dialect in ("arith", "tt", "math", "scf", "cf", "builtin", "ub", "llvm"):
        module = getattr(tritium.dialects, dialect)
        defined = {cls.__name__ for name, cls in ALL if name.partition(".")[0] == dialect}
        exported = set(module.__all__)
        for name in (f"{dialect}_rare", f"{dialect}_ops"):  # operations that are imported when text names them
            exported.update(getattr(getattr(tritium.dialects, name, None), "__all__", ()))
        assert defined <= exported, dialect
        assert all(hasattr(module, name) for name in module.__all__)


def test_effects():
    p, c = Block([tt.PointerType(f32), i1]).args
    assert memory_effects(tt.Load(p)) == READ
    assert memory_effects(tt.Load(p, isVolatile=True)) == READ | WRITE
    assert memory_effects(arith.Select(c, c, c)) == 0
    assert memory_effects(tt.InlineAsm("", [c], "", True, 1, results_=[i1])) == 0
    assert memory_effects(tt.InlineAsm("", [c], "", False, 1, results_=[i1])) == READ | WRITE
    assert memory_effects(tt.ExternElementwise([c], "", "", "f", False, result=i1)) == READ | WRITE


def test_inferred_types():
    x, p = Block([TensorType((8, 2), f32), TensorType((4,), tt.PointerType(f32))]).args
    assert tt.Load(p).result.type is TensorType((4,), f32)
    assert tt.ExpandDims(x, 1).result.type is TensorType((8, 1, 2), f32)
    assert tt.Trans(x, (1, 0)).result.type is TensorType((2, 8), f32)
    assert [r.type for r in tt.Split(x).results] == [TensorType((8,), f32)] * 2
    assert tt.MakeRange(2, 10).result.type is TensorType((8,), i32)
    assert tt.GetProgramId(tt.ProgramDim.y).result.type is i32


def test_constants():
    assert arith.Constant.of(3, TensorType((4,), i32)).splat_value() == 3
    assert arith.Constant.of(0.5, f32).splat_value() == 0.5
