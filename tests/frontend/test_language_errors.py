"""Every wrong argument is refused with a message that names it."""

import pytest
from place import Place

import tritium.language as tl
from tritium.frontend.errors import LanguageError

F32 = tl.block_type(tl.float32, [16])
I32 = tl.block_type(tl.int32, [16])
I1 = tl.block_type(tl.int1, [16])
P32 = tl.pointer_type(tl.float32)
PTRS = tl.block_type(P32, [16])
MATRIX = tl.block_type(tl.float32, [16, 32])
CONST = tl.pointer_type(tl.float32, 1, True)
DESC = object()

CASES = [
    ("axis", lambda s: tl.program_id(3, _semantic=s), [], "program_id axis must be 0, 1, or 2 but got 3"),
    ("axis-run-time", lambda s, x: tl.num_programs(x, _semantic=s), [tl.int32], "num_programs axis must be 0, 1, or 2"),
    ("range-empty", lambda s: tl.arange(4, 4, _semantic=s), [], "must be greater than the start"),
    ("range-run-time", lambda s, n: tl.arange(0, n, _semantic=s), [tl.int32], "must be of type tl.constexpr"),
    ("range-wide", lambda s: tl.arange(0, 2**33, _semantic=s), [], "arange must fit in int32"),
    ("full-shape", lambda s: tl.full([0], 0, tl.int32, _semantic=s), [], "Shape element 0 must be positive, got 0"),
    ("full-huge", lambda s: tl.full([2**21], 0, tl.int32, _semantic=s), [], "exceeds the maximum number of elements"),
    ("full-dtype", lambda s: tl.full([2], 0, "fp32", _semantic=s), [], "dtype must be a dtype such as tl.float32"),
    ("full-block", lambda s, x: tl.full([2], x, tl.float32, _semantic=s), [F32], "takes a scalar value"),
    ("full-nan", lambda s: tl.full([2], float("nan"), tl.int32, _semantic=s), [], "nan has no value of type int32"),
    ("reshape", lambda s, x: tl.reshape(x, [8], _semantic=s), [F32], "cannot change total number of elements"),
    (
        "reshape-run-time",
        lambda s, x, n: tl.reshape(x, [n], _semantic=s),
        [F32, tl.int32],
        "shape element 0 must be an",
    ),
    ("expand", lambda s, x: tl.expand_dims(x, 5, _semantic=s), [F32], "invalid axis 5. Expected -2 <= axis < 2"),
    ("expand-twice", lambda s, x: tl.expand_dims(x, [0, 0], _semantic=s), [F32], "duplicate axes"),
    ("trans-1d", lambda s, x: tl.trans(x, _semantic=s), [F32], "invoked with a 1-D tensor"),
    ("permute", lambda s, x: tl.permute(x, 0, 0, _semantic=s), [MATRIX], "must be a permutation of 0, 1"),
    ("permute-rank", lambda s, x: tl.permute(x, 0, _semantic=s), [MATRIX], "same length as input shape"),
    ("broadcast", lambda s, x: tl.broadcast_to(x, [8], _semantic=s), [F32], r"expanded size of the tensor \(8\)"),
    ("broadcast-rank", lambda s, x: tl.broadcast_to(x, [8, 16], _semantic=s), [F32], "rank mismatch"),
    ("index", lambda s, x: x.__getitem__([0.5], _semantic=s), [F32], "unsupported tensor index: 0.5"),
    ("index-bool", lambda s, x: x.__getitem__([True], _semantic=s), [F32], "unsupported tensor index: True"),
    ("index-outside", lambda s, x: x.__getitem__([16], _semantic=s), [F32], "IndexError: index 16 is out of bounds"),
    ("index-below", lambda s, x: x.__getitem__([-17], _semantic=s), [F32], "index -17 is out of bounds"),
    ("index-empty", lambda s, x: x.__getitem__([slice(4, 4)], _semantic=s), [F32], "the slice is empty"),
    ("index-step", lambda s, x: x.__getitem__([slice(None, None, 0)], _semantic=s), [F32], "step cannot be zero"),
    ("index-bound", lambda s, x: x.__getitem__([slice(0.5)], _semantic=s), [F32], "slice indices must be integers"),
    ("index-float", lambda s, x: x.__getitem__([x], _semantic=s), [F32], "unsupported tensor index: a value of type"),
    ("index-twice", lambda s, x: x.__getitem__([..., ...], _semantic=s), [MATRIX], "single `...`"),
    ("index-two", lambda s, x, i: x.__getitem__([i, i], _semantic=s), [MATRIX, I32], "together with other integers"),
    ("index-many", lambda s, x: x.__getitem__([slice(None)] * 2, _semantic=s), [F32], "too many indices"),
    ("split", lambda s, x: tl.split(x, _semantic=s), [F32], "last dimension is 2"),
    ("join", lambda s, x, y: tl.join(x, y, _semantic=s), [F32, I32], "two values of one dtype"),
    ("cat", lambda s, x, y: tl.cat(x, y, _semantic=s), [F32, I32], "two blocks of one type"),
    ("squeeze", lambda s, x: tl.squeeze(x, 0, _semantic=s), [F32], "is not of size 1"),
    ("gather-dtype", lambda s, x, i: tl.gather(x, i, 0, _semantic=s), [F32, F32], "takes integer indices"),
    ("gather-axis", lambda s, x, i: tl.gather(x, i, 1, _semantic=s), [F32, I32], "gather axis 1 must be < source rank"),
    ("gather-shape", lambda s, x, i: tl.gather(x, i, 0, _semantic=s), [MATRIX, I32], "the same rank"),
    ("load-value", lambda s, x: tl.load(x, _semantic=s), [I32], "Unsupported ptr type .* in `tl.load`"),
    ("load-number", lambda s: tl.load(3, _semantic=s), [], "tl.load takes a pointer, got int"),
    (
        "load-other",
        lambda s, p: tl.load(p, other=0.0, _semantic=s),
        [PTRS],
        "`other` cannot be provided without `mask`",
    ),
    ("load-mask", lambda s, p, m: tl.load(p, m, _semantic=s), [PTRS, I32], "Mask must have boolean scalar type"),
    ("load-scalar-mask", lambda s, p, m: tl.load(p, m, _semantic=s), [P32, I1], "Mask argument cannot be block type"),
    (
        "load-cache",
        lambda s, p: tl.load(p, cache_modifier=".xy", _semantic=s),
        [P32],
        "Cache modifier '.xy' not supported",
    ),
    (
        "load-evict",
        lambda s, p: tl.load(p, eviction_policy="x", _semantic=s),
        [P32],
        "Eviction policy 'x' not supported",
    ),
    (
        "load-check",
        lambda s, p: tl.load(p, boundary_check=(0,), _semantic=s),
        [PTRS],
        "`boundary_check` argument is not",
    ),
    ("store-const", lambda s, p: tl.store(p, 1.0, _semantic=s), [CONST], "Cannot store to a constant pointer"),
    ("store-block", lambda s, p, x: tl.store(p, x, _semantic=s), [P32, F32], "Value argument cannot be block type"),
    ("store-shape", lambda s, p, x: tl.store(p, x, _semantic=s), [PTRS, MATRIX], "incompatible dimensions at index 1"),
    (
        "store-grows",
        lambda s, p, x: tl.store(p, x, _semantic=s),
        [PTRS, tl.block_type(tl.float32, [4, 16])],
        r"Expected pointer argument to have shape \[4, 16\]",
    ),
    ("store-dtype", lambda s, p, x: tl.store(p, x, _semantic=s), [P32, P32], "cannot cast pointer<fp32> to fp32"),
    ("advance", lambda s, p: tl.advance(p, (1,), _semantic=s), [P32], "takes a block pointer"),
    (
        "block-base",
        lambda s, x: tl.make_block_ptr(x, (8,), (1,), (0,), (8,), (0,), _semantic=s),
        [tl.int32],
        "Expected `base` to be a pointer",
    ),
    (
        "block-order",
        lambda s, x: tl.make_block_ptr(x, (8, 8), (8, 1), (0, 0), (8, 8), (0, 0), _semantic=s),
        [P32],
        "permutation of",
    ),
    (
        "block-length",
        lambda s, x: tl.make_block_ptr(x, (8, 8), (8, 1), (0,), (8, 8), (1, 0), _semantic=s),
        [P32],
        "to have the same length",
    ),
    (
        "descriptor-row",
        lambda s, x: tl.make_tensor_descriptor(x, (8, 8), (8, 1), (8, 2), _semantic=s),
        [P32],
        "at least 16 bytes in the last dimension, but got 2 . 4 = 8 bytes",
    ),
    (
        "descriptor-rank",
        lambda s, x: tl.make_tensor_descriptor(x, [8] * 6, [1] * 6, [1, 1, 1, 1, 1, 8], _semantic=s),
        [P32],
        "Expected 1 <= ndim <= 5 but got 6 dimensions",
    ),
    (
        "descriptor-element",
        lambda s, x: tl.make_tensor_descriptor(x, (8, 8), (8, 1), (8, 128), _semantic=s),
        [tl.pointer_type(tl.int1)],
        "elements of 8 to 64 bits, got int1",
    ),
    (
        "descriptor-stride",
        lambda s, x: tl.make_tensor_descriptor(x, (8, 8), (1, 8), (8, 8), _semantic=s),
        [P32],
        "last dim must be 1 but got 8",
    ),
    (
        "atomic-small",
        lambda s, p: tl.atomic_add(p, 1, _semantic=s),
        [tl.pointer_type(tl.int8)],
        "does not support int8",
    ),
    ("atomic-half", lambda s, p: tl.atomic_max(p, 1, _semantic=s), [tl.pointer_type(tl.float16)], "not support fp16"),
    (
        "atomic-and",
        lambda s, p: tl.atomic_and(p, 1.0, _semantic=s),
        [tl.block_type(tl.pointer_type(tl.float16), [16])],
        "atomic_and does not support fp16",
    ),
    (
        "atomic-cas-of-a-block",
        lambda s, p, x: tl.atomic_cas(p, x, 1, _semantic=s),
        [tl.pointer_type(tl.int32), I32],
        "atomic_cas through one pointer takes scalar values",
    ),
    (
        "atomic-sem",
        lambda s, p: tl.atomic_add(p, 1.0, sem="x", _semantic=s),
        [P32],
        "Memory semantic 'x' not supported",
    ),
    ("cas-width", lambda s, p: tl.atomic_cas(p, 0, 1, _semantic=s), [tl.pointer_type(tl.int8)], "width {16, 32, 64}"),
    (
        "dot-scalar",
        lambda s, x, y: tl.dot(x, y, _semantic=s),
        [tl.float32, MATRIX],
        "tl.dot takes blocks, the lhs is fp32",
    ),
    ("dot-shape", lambda s, x, y: tl.dot(x, y, _semantic=s), [MATRIX, MATRIX], "are not compatible for matmul"),
    (
        "dot-dtype",
        lambda s, x, y: tl.dot(x, y, _semantic=s),
        [MATRIX, tl.block_type(tl.float16, [32, 16])],
        "Both operands must be same dtype. Got fp32 and fp16",
    ),
    (
        "dot-int16",
        lambda s, x, y: tl.dot(x, y, _semantic=s),
        [tl.block_type(tl.int16, [16, 16])] * 2,
        "Unsupported lhs dtype int16",
    ),
    (
        "dot-bf16",
        lambda s, x, y: tl.dot(x, y, out_dtype=tl.bfloat16, _semantic=s),
        [tl.block_type(tl.bfloat16, [16, 16])] * 2,
        "out_dtype=bfloat16 is unsupported",
    ),
    (
        "dot-acc",
        lambda s, x, y, z: tl.dot(x, y, z, _semantic=s),
        [tl.block_type(tl.float16, [16, 16])] * 2 + [MATRIX],
        "the accumulator of tl.dot is",
    ),
    (
        "dot-precision",
        lambda s, x, y: tl.dot(x, y, input_precision="fp19", _semantic=s),
        [tl.block_type(tl.float32, [16, 16])] * 2,
        "input_precision must be one of",
    ),
    (
        "dot-scaled",
        lambda s, x: tl.dot_scaled(x, x, "e2m1", x, x, "e2m1", _semantic=s),
        [MATRIX],
        "e2m1 format must be packed as uint8. Got fp32 for lhs",
    ),
    (
        "exp-half",
        lambda s, x: tl.exp(x, _semantic=s),
        [tl.block_type(tl.float16, [4])],
        "exp expects dtype .* got fp16",
    ),
    ("umulhi", lambda s, x: tl.umulhi(x, x, _semantic=s), [F32], "umulhi expects dtype"),
    (
        "fdiv-both",
        lambda s, x: tl.fdiv(x, x, ieee_rounding=True, approx=True, _semantic=s),
        [I32],
        "cannot both be True",
    ),
    ("fdiv-int", lambda s, x: tl.fdiv(x, x, _semantic=s), [I32], "both operands of fdiv must have floating"),
    ("maximum-nan", lambda s, x: tl.maximum(x, x, 7, _semantic=s), [F32], "Unexpected propagate_nan 7"),
    ("invert-float", lambda s, x: s.invert(x), [F32], "wrong type argument to unary invert"),
    ("negate-pointer", lambda s, x: s.neg(x), [P32], "wrong type argument to unary minus"),
    ("shift", lambda s, x: s.lshift(x, 32), [I32], "a shift by 32 bits is out of range for int32"),
    ("histogram", lambda s, x: tl.histogram(x, 16, _semantic=s), [F32], "only supports 32-bit integer input"),
    ("histogram-bins", lambda s, x: tl.histogram(x, 0, _semantic=s), [I32], "num_bins must be a positive number"),
    ("multiple-of", lambda s, x: tl.multiple_of(x, [8, 8], _semantic=s), [I32], "does not match the length of values"),
    ("multiple-of-x", lambda s, x: tl.multiple_of(x, [x], _semantic=s), [I32], "must be compile-time integers"),
    (
        "print-prefix",
        lambda s, x: tl.device_print(x, _semantic=s),
        [I32],
        "first argument of tl.device_print must be a string",
    ),
    ("static-assert", lambda s: tl.static_assert(False, "why", _semantic=s), [], "static assertion failed: why"),
    ("cast-ptr", lambda s, x: tl.cast(x, tl.int32, _semantic=s), [P32], "cannot cast pointer<fp32> to int32"),
    (
        "libdevice",
        lambda s, x: tl.libdevice.tanh(x, _semantic=s),
        [I32],
        "libdevice.tanh takes fp32 or fp64, got int32",
    ),
    ("not-yet", lambda s, x: tl.inline_asm(x, _semantic=s), [P32], "tl.inline_asm is not supported yet"),
    ("condition", lambda s, x: s.to_condition(x), [I1], "ambiguous"),
]


@pytest.mark.parametrize(("call", "types", "message"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_message(call, types, message):
    place = Place(*types)
    with pytest.raises((LanguageError, ValueError, TypeError), match=message):
        call(place.sem, *place.args)


def test_language_functions_raise_outside_kernels():
    with pytest.raises(ValueError, match="arange can only be called inside a kernel"):
        tl.arange(0, 8)


def test_unknown_types():
    with pytest.raises(LanguageError, match="unknown type 'fp31' in a signature"):
        tl.str_to_ty("fp31")
    with pytest.raises(LanguageError, match="unknown dtype 'float'"):
        tl.dtype("float")
    with pytest.raises(LanguageError, match="no integer dtype of 24 bits"):
        tl.core.get_int_dtype(24, True)
