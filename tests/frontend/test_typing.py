"""The dtype every operator gives for every pair of dtypes, against tables written down by hand."""

import itertools

import pytest
from place import Place

from tritium.dialects import arith
from tritium.frontend.dtypes import block_type, dtype, int1, pointer_type
from tritium.frontend.errors import LanguageError
from tritium.ir import TensorType

NAMES = ["int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NAMES += ["fp8e5", "fp8e4nv", "fp16", "bf16", "fp32", "fp64"]
SHORT = dict(zip(["b", "1", "2", "4", "8", "u1", "u2", "u4", "u8", "e5", "e4", "h", "B", "f", "d"], NAMES))

# lhs down, rhs across, in the order of NAMES: C's rules for integers (the wider; unsigned of two equally wide), the
# widest float else; `.` marks pairs that must be refused
ARITHMETIC = """
     b  1  2  4  8  u1 u2 u4 u8 e5 e4 h  B  f  d
b    b  1  2  4  8  u1 u2 u4 u8 .  .  h  f  f  d
1    1  1  2  4  8  u1 u2 u4 u8 .  .  h  f  f  d
2    2  2  2  4  8  2  u2 u4 u8 .  .  h  f  f  d
4    4  4  4  4  8  4  4  u4 u8 .  .  h  f  f  d
8    8  8  8  8  8  8  8  8  u8 .  .  h  f  f  d
u1   u1 u1 2  4  8  u1 u2 u4 u8 .  .  h  f  f  d
u2   u2 u2 u2 4  8  u2 u2 u4 u8 .  .  h  f  f  d
u4   u4 u4 u4 u4 8  u4 u4 u4 u8 .  .  h  f  f  d
u8   u8 u8 u8 u8 u8 u8 u8 u8 u8 .  .  h  f  f  d
e5   .  .  .  .  .  .  .  .  .  e5 h  h  f  f  d
e4   .  .  .  .  .  .  .  .  .  h  e4 h  f  f  d
h    h  h  h  h  h  h  h  h  h  h  h  h  h  f  d
B    f  f  f  f  f  f  f  f  f  f  f  h  B  f  d
f    f  f  f  f  f  f  f  f  f  f  f  f  f  f  d
d    d  d  d  d  d  d  d  d  d  d  d  d  d  d  d
"""


def read(table):
    head, *rows = [line.split() for line in table.strip().splitlines()]
    return {
        (SHORT[row[0]], SHORT[column]): None if cell == "." else SHORT[cell]
        for row in rows
        for column, cell in zip(head, row[1:])
    }


TABLE = read(ARITHMETIC)


def result_type(operator, a, b):
    """The dtype of `operator` on two blocks of dtypes `a` and `b`, or None where it is refused."""
    place = Place(block_type(dtype(a), [16]), block_type(dtype(b), [16]))
    try:
        result = place.sem.binary(operator, *place.args)
    except (TypeError, ValueError, LanguageError):
        return None
    assert result.handle.type is result.type.to_ir(), "the IR type and the type of the language agree"
    place.check()
    return result.dtype.name


PAIRS = list(itertools.product(NAMES, NAMES))


@pytest.mark.parametrize("operator", ["add", "sub", "mul", "minimum", "maximum"])
def test_arithmetic(operator):
    for a, b in PAIRS:
        assert result_type(operator, a, b) == TABLE[a, b], f"{operator} {a} {b}"


@pytest.mark.parametrize("operator", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparison(operator):
    for a, b in PAIRS:
        assert result_type(operator, a, b) == (None if TABLE[a, b] is None else "int1"), f"{operator} {a} {b}"


def signed(name):
    return name in ("int8", "int16", "int32", "int64")


def is_int(name):
    return "int" in name


def divided(a, b):
    """Division and remainder: mixed signedness is refused, floats are computed in fp32 at least."""
    if is_int(a) and is_int(b):
        return TABLE[a, b] if signed(a) == signed(b) else None
    return TABLE[a, b] if "fp64" in (a, b) else "fp32"


@pytest.mark.parametrize("operator", ["truediv", "floordiv", "mod"])
def test_division(operator):
    for a, b in PAIRS:
        expected = divided(a, b)
        if operator == "truediv" and expected is not None and is_int(expected):
            expected = "fp32"
        if operator == "floordiv" and expected is not None and not is_int(expected):
            expected = None
        assert result_type(operator, a, b) == expected, f"{operator} {a} {b}"


@pytest.mark.parametrize("operator", ["and_", "or_", "xor_", "lshift", "rshift"])
def test_bitwise(operator):
    for a, b in PAIRS:
        expected = TABLE[a, b] if is_int(a) and is_int(b) else None
        assert result_type(operator, a, b) == expected, f"{operator} {a} {b}"


OPCODES = {
    ("floordiv", True): "arith.divsi",
    ("floordiv", False): "arith.divui",
    ("mod", True): "arith.remsi",
    ("mod", False): "arith.remui",
    ("rshift", True): "arith.shrsi",
    ("rshift", False): "arith.shrui",
    ("minimum", True): "arith.minsi",
    ("minimum", False): "arith.minui",
    ("maximum", True): "arith.maxsi",
    ("maximum", False): "arith.maxui",
}


@pytest.mark.parametrize("operator", ["floordiv", "mod", "rshift", "minimum", "maximum"])
def test_signedness_picks_the_operation(operator):
    for name in filter(is_int, NAMES):
        place = Place(dtype(name), dtype(name))
        place.sem.binary(operator, *place.args)
        assert place.ops() == [OPCODES[operator, signed(name)]], name


@pytest.mark.parametrize("operator", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_comparison_predicates(operator):
    for name in NAMES:
        place = Place(dtype(name), dtype(name))
        place.sem.binary(operator, *place.args)
        *casts, op = place.block
        assert [c.name for c in casts] == (["tt.fp_to_fp"] * 2 if name.startswith("fp8") else [])
        if not is_int(name):
            expected = "une" if operator == "ne" else f"o{operator}"
        elif operator in ("eq", "ne"):
            expected = operator
        else:
            expected = f"{'s' if signed(name) else 'u'}{operator}"
        assert op.predicate.name == expected, name


# A Python number of no higher kind takes the block's dtype; a higher one has its own: int32, fp32, by size more.
NUMBERS = [
    (True, {name: name for name in NAMES}),
    (3, {**{name: name for name in NAMES}, "int1": "int32"}),
    (1.5, {**dict.fromkeys(filter(is_int, NAMES), "fp32"), **{n: n for n in NAMES if not is_int(n)}}),
    (1e300, {**dict.fromkeys(filter(is_int, NAMES), "fp64"), **{n: n for n in NAMES if not is_int(n)}}),
]


@pytest.mark.parametrize(("number", "expected"), NUMBERS, ids=["bool", "int", "float", "double"])
def test_numbers_get_the_type_of_the_other_operand(number, expected):
    for name in NAMES:
        for flipped in (False, True):
            place = Place(block_type(dtype(name), [16]))
            (x,) = place.args
            result = place.sem.add(number, x) if flipped else place.sem.add(x, number)
            assert result.dtype.name == expected[name], (name, number)
            place.check()


@pytest.mark.parametrize(
    ("number", "name"),
    [(1, "int32"), (-(2**31), "int32"), (2**31, "uint32"), (2**32, "int64"), (-(2**31) - 1, "int64"), (2**63, "uint64")]
    + [(True, "int1"), (0.0, "fp32"), (1e-40, "fp64"), (3e38, "fp32"), (1e39, "fp64"), (float("inf"), "fp32")],
)
def test_types_of_numbers(number, name):
    place = Place()
    value = place.sem.to_tensor(number)
    assert value.type.name == name
    (constant,) = place.block
    stored = constant.splat_value()
    assert stored == number or stored == number - 2**value.dtype.primitive_bitwidth or name == "fp32"


def test_division_of_halves_by_a_number():
    for name in ("fp16", "bf16", "fp8e5"):
        place = Place(block_type(dtype(name), [16]))
        assert place.sem.truediv(place.args[0], 2).dtype.name == "fp32"
        assert place.sem.mul(place.args[0], 2).dtype.name == name


@pytest.mark.parametrize(
    ("name", "number", "message"),
    [
        ("int8", 300, "Scalar 300 is out of range for type int8"),
        ("uint8", -1, "unsigned tensor and a negative scalar"),
        ("int32", 2**40, "Scalar 1099511627776 is out of range for type int32"),
        ("uint64", 2**64, "Nonrepresentable integer 18446744073709551616"),
    ],
)
def test_numbers_out_of_range_are_refused(name, number, message):
    place = Place(block_type(dtype(name), [16]))
    with pytest.raises(LanguageError, match=message):
        place.sem.add(place.args[0], number)


# -- pointers -----------------------------------------------------------------------------------------------------


def test_pointer_arithmetic():
    for name in filter(is_int, NAMES):
        pointer = pointer_type(dtype("fp32"))
        place = Place(pointer, block_type(dtype(name), [16]))
        ptr, offset = place.args
        for result in (place.sem.add(ptr, offset), place.sem.add(offset, ptr)):
            assert result.type is block_type(pointer, [16])
        place.check()
        unsigned = not signed(name) and name != "uint64"
        assert ("arith.extui" in place.ops()) is unsigned, "narrow unsigned offsets must not become negative"


def test_pointer_minus_integer():
    place = Place(pointer_type(dtype("fp32")), dtype("int32"))
    assert place.sem.sub(*place.args).type is place.args[0].type
    assert place.ops() == ["arith.constant", "arith.subi", "tt.addptr"]
    place.check()


@pytest.mark.parametrize(
    ("operator", "other", "message"),
    [
        ("add", pointer_type(dtype("fp32")), "cannot add pointers together"),
        ("add", dtype("fp32"), "invalid operands"),
        ("add", pointer_type(dtype("fp16")), "invalid operands"),
        ("mul", dtype("int32"), "invalid operands"),
        ("lt", pointer_type(dtype("fp32")), "invalid operands"),
        ("floordiv", dtype("int32"), "invalid operands"),
    ],
)
def test_pointer_errors(operator, other, message):
    place = Place(pointer_type(dtype("fp32")), other)
    with pytest.raises(LanguageError, match=message):
        place.sem.binary(operator, *place.args)


# -- broadcasting -------------------------------------------------------------------------------------------------

SHAPES = [((), ()), ((), (8,)), ((8,), (8,)), ((8,), (4, 8)), ((4, 1), (8,)), ((1, 8), (4, 1)), ((2, 1, 4), (8, 1))]


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_broadcast_as_numpy(a, b):
    numpy = pytest.importorskip("numpy")
    expected = numpy.broadcast_shapes(a, b)
    for left, right in ((a, b), (b, a)):
        f32 = dtype("fp32")
        place = Place(*(block_type(f32, s) if s else f32 for s in (left, right)))
        result = place.sem.add(*place.args)
        assert result.type.shape == expected
        place.check()


def test_incompatible_shapes_are_refused():
    f32 = dtype("fp32")
    place = Place(block_type(f32, [8]), block_type(f32, [16]))
    with pytest.raises(LanguageError, match="incompatible dimensions at index 0: 8 and 16"):
        place.sem.add(*place.args)


# -- casts --------------------------------------------------------------------------------------------------------


def cast_ops(a, b):
    """The operations a cast makes, by the kinds of both types."""
    x, y = dtype(a), dtype(b)
    if a == b:
        return []
    if b == "int1":
        widen = {True: ["tt.fp_to_fp", "arith.extf"]}.get(x.is_fp8(), ["arith.extf"] * (a in ("fp16", "bf16")))
        return [*widen, "arith.constant", "tt.splat", "arith.cmpi" if is_int(a) else "arith.cmpf"]
    if is_int(a) and is_int(b):
        if x.primitive_bitwidth == y.primitive_bitwidth:
            return []
        narrows = x.primitive_bitwidth > y.primitive_bitwidth
        return ["arith.trunci" if narrows else "arith.extsi" if signed(a) else "arith.extui"]
    if is_int(a):
        return ["arith.sitofp" if signed(a) else "arith.uitofp", *(["tt.fp_to_fp"] if y.is_fp8() else [])]
    to_int = "arith.fptosi" if signed(b) else "arith.fptoui"
    if is_int(b):
        return {8: ["tt.fp_to_fp", "arith.extf", to_int], 16: ["arith.extf", to_int]}.get(
            x.primitive_bitwidth, [to_int]
        )
    if x.is_fp8() or y.is_fp8():
        return ["tt.fp_to_fp"]
    if x.primitive_bitwidth == 16 and b != "fp32":
        return ["arith.extf", "arith.extf" if b == "fp64" else "arith.truncf"]
    return ["arith.extf" if x.primitive_bitwidth < y.primitive_bitwidth else "arith.truncf"]


def test_casts():
    for a, b in PAIRS:
        place = Place(block_type(dtype(a), [16]))
        result = place.sem.cast(place.args[0], dtype(b))
        assert result.type is block_type(dtype(b), [16])
        assert result.handle.type is result.type.to_ir()
        assert place.ops() == cast_ops(a, b), f"{a} to {b}"
        place.check()


def test_targets_without_a_float8_type():
    class Options:
        supported_fp8_dtypes = ("fp8e5",)

    place = Place(block_type(dtype("fp32"), [16]), options=Options())
    assert place.sem.cast(place.args[0], dtype("fp8e5")).dtype.name == "fp8e5"
    with pytest.raises(LanguageError, match="type fp8e4nv not supported in this architecture"):
        place.sem.cast(place.args[0], dtype("fp8e4nv"))


def test_bitcasts():
    for a, b in PAIRS:
        x, y = dtype(a), dtype(b)
        place = Place(block_type(x, [16]))
        if x.primitive_bitwidth != y.primitive_bitwidth:
            with pytest.raises(LanguageError, match="Cannot bitcast data-type of size"):
                place.sem.bitcast(place.args[0], y)
            continue
        assert place.sem.bitcast(place.args[0], y).type is block_type(y, [16])
        assert place.ops() == ([] if x.to_ir() is y.to_ir() else ["tt.bitcast"])


def test_rounding_only_where_bits_are_lost():
    place = Place(block_type(dtype("fp32"), [16]))
    (x,) = place.args
    place.sem.cast(x, dtype("fp16"), "rtz")
    assert place.ops() == ["tt.fp_to_fp"]
    with pytest.raises(LanguageError, match="only for truncating fp conversions"):
        place.sem.cast(x, dtype("fp64"), "rtz")
    with pytest.raises(LanguageError, match="Invalid rounding mode: up"):
        place.sem.cast(x, dtype("fp16"), "up")


# -- conditions and truth -----------------------------------------------------------------------------------------


def test_conditions():
    for name in NAMES:
        place = Place(dtype(name))
        condition = place.sem.to_condition(place.args[0])
        assert condition.type is int1
        last = [] if name == "int1" else ["arith.cmpi" if is_int(name) else "arith.cmpf"]
        assert place.ops()[-1:] == last, name
        place.check()
    place = Place(block_type(int1, [16]))
    with pytest.raises(LanguageError, match="more than one value is ambiguous"):
        place.sem.to_condition(place.args[0])


def test_logical_operators_use_truth_values():
    place = Place(block_type(dtype("int32"), [16]), block_type(dtype("fp32"), [16]))
    result = place.sem.logical_and(*place.args)
    assert result.type is block_type(int1, [16])
    assert place.ops().count("arith.andi") == 1
    assert isinstance(result.handle.type, TensorType)
    assert not any(isinstance(op, arith.Bitcast) for op in place.block)


def test_overflow_is_checked_when_debugging():
    class Options:
        debug = True
        sanitize_overflow = True

    place = Place(dtype("int32"), dtype("int32"), options=Options())
    place.sem.add(*place.args)
    assert "tt.assert" in place.ops()
    place.check()
    quiet = Place(dtype("int32"), dtype("int32"), options=Options())
    quiet.sem.add(*quiet.args, False)
    assert quiet.ops() == ["arith.addi"]
