"""Names that authors of kernel libraries use, and the order of arguments that they and older programs pass."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource
from tritium.compiler import compile as compile_kernel
from tritium.frontend.errors import CompilationError, LanguageError
from tritium.interpreter.handle_semantic import interpreter_semantic
from tritium.language import core
from tritium.language.extra import cuda, hip, libdevice
from tritium.language.standard import sort_impl


def run(kernel, *args, **kwargs):
    kernel[(1,)](*args, **kwargs)
    return args[-1]


# -- positions of arguments ---------------------------------------------------------------------------------------


def test_positional_hints_follow_the_mask_as_in_triton_3_9() -> None:
    @tritium.jit
    def copies(x, y):
        o = tl.arange(0, 8)
        v = tl.load(x + o, o < 6, 2.0, ".cg", "evict_last", True)
        tl.store(y + o, v, o < 7, ".wt", "evict_first")

    y = run(copies, np.arange(8, dtype=np.float32), np.zeros(8, np.float32))
    assert y.tolist() == [0, 1, 2, 3, 4, 5, 2, 0]
    text = compile_kernel(ASTSource(copies, {"x": "*fp32", "y": "*fp32"}), GPUTarget("cuda", 90, 32)).asm["ttir"]
    assert "cache_modifier = cg, eviction_policy = evict_last" in text and "isVolatile = true" in text
    assert "cache_modifier = wt, eviction_policy = evict_first" in text


def test_block_pointers_are_checked_by_the_older_positions_too() -> None:
    @tritium.jit
    def copies(x, y, FORM: tl.constexpr):
        p = tl.make_block_ptr(x, (6,), (1,), (0,), (8,), (0,))
        q = tl.make_block_ptr(y, (7,), (1,), (0,), (8,), (0,))
        if FORM == 0:
            tl.store(q, tl.load(p, None, None, (0,), "zero") + 1, None, (0,))
        elif FORM == 1:
            tl.store(
                q, tl.load(p, None, None, [0], "zero", ".cg", "evict_last", True) + 1, None, [0], ".wt", "evict_first"
            )
        elif FORM == 2:
            tl.store(q, tl.load(p, None, None, (0,), padding_option="zero") + 1, None, (0,), cache_modifier=".wt")
        else:
            tl.store(q, tl.load(p, boundary_check=(0,), padding_option="zero") + 1, boundary_check=(0,))

    for form in range(4):
        y = run(copies, np.arange(8, dtype=np.float32), np.zeros(8, np.float32), FORM=form)
        assert y.tolist() == [1, 2, 3, 4, 5, 6, 1, 0], form


def test_an_argument_given_twice_is_an_error() -> None:
    @tritium.jit
    def twice(x):
        p = tl.make_block_ptr(x, (6,), (1,), (0,), (8,), (0,))
        tl.load(p, None, None, (0,), boundary_check=(0,))

    with pytest.raises(CompilationError, match="multiple values for argument 'boundary_check'"):
        run(twice, np.zeros(8, np.float32))


def test_functions_of_libdevice_name_their_arguments() -> None:
    counts = {"byte_perm": 3, "mul24": 2, "brev": 1, "norm4d": 4, "pow": 2, "fma_rz": 3, "llrint": 1, "lround": 1}
    for name, count in counts.items():
        assert list(inspect.signature(getattr(libdevice, name)).parameters) == [f"arg{i}" for i in range(count)], name
    unnamed = [
        n
        for n in dir(libdevice)
        if callable(getattr(libdevice, n)) and "*" in str(inspect.signature(getattr(libdevice, n)))
    ]
    assert [n for n in unnamed if not n.startswith("_")] == []


def test_functions_of_libdevice_take_arguments_by_name() -> None:
    @tritium.jit
    def kernel(x, y):
        o = tl.arange(0, 4)
        v = tl.load(x + o)
        r = libdevice.pow(v, arg1=v) + libdevice.fma(arg0=v, arg1=v, arg2=v) + libdevice.exp(arg0=v)
        tl.store(y + o, r + libdevice.mul24(arg1=3, arg0=v.to(tl.int32)))

    x = np.array([1, 2, 3, 4], np.float32)
    y = run(kernel, x, np.zeros(4, np.float32))
    np.testing.assert_allclose(y, x**x + x * x + x + np.exp(x) + 3 * x, rtol=1e-6)

    @tritium.jit
    def misspelt(x):
        libdevice.exp(arg1=tl.load(x))

    with pytest.raises(CompilationError, match=r"libdevice.exp\(\) got an unexpected argument 'arg1': it takes arg0"):
        run(misspelt, x)


# -- values and types ---------------------------------------------------------------------------------------------


def test_values_of_the_language_are_base_values() -> None:
    five = interpreter_semantic.to_tensor(5)
    assert isinstance(five, core.base_value) and isinstance(tl.tuple([five]), core.base_value)
    assert not isinstance(5, core.base_value) and not isinstance(tl.tensor, core.base_value)

    class Mine(core.base_value):
        pass

    assert isinstance(Mine(), Mine) and not isinstance(five, Mine)
    with pytest.raises(NotImplementedError, match="Mine does not define _flatten_ir"):
        Mine()._flatten_ir([])
    assert isinstance(tl.float32, core.base_type)


def test_slices_of_kernels_are_those_of_python() -> None:
    @tritium.jit
    def kernel(x):
        half = tl.slice(0, 4, 1)
        v = tl.arange(0, 8)
        tl.store(x + tl.arange(0, 4), v[half] + (3, 4, 5)[tl.slice(1, 2)][0])

    assert run(kernel, np.zeros(4, np.int32)).tolist() == [4, 5, 6, 7]
    kind = core.slice_type()
    assert kind == core.slice_type() and kind != tl.int32 and (kind.name, kind.mangle()) == ("slice_type", "slice")


def test_modes_of_instrumentation_are_read_from_options() -> None:
    class Options:
        instrumentation_mode = "consan"

    assert core.is_enabled(Options, "consan") and not core.is_enabled(Options, "iisan")
    assert not core.is_enabled(None, "consan") and not core.is_enabled({}, "consan")


def test_shift_by_the_bit_width_warns() -> None:
    value = interpreter_semantic.to_tensor(5)
    with pytest.warns(UserWarning, match="a shift by 32 of int32, which has 32 bits, is undefined"):
        core.check_bit_width(value, tl.constexpr(32))
    core.check_bit_width(value, tl.constexpr(31))


def test_operands_are_promoted_to_one_type() -> None:
    a, b = core.binary_op_type_legalization(interpreter_semantic.to_tensor(1), 2.5, interpreter_semantic)
    assert a.dtype is b.dtype is tl.float32


def test_external_functions_are_chosen_by_dtype() -> None:
    calls = []
    table = {(tl.int32,): ("of_int", tl.int32), (tl.float32,): ("of_float", tl.float32)}

    def emit(*args):
        calls.append(args)
        return interpreter_semantic.to_tensor(7.0).handle

    value = interpreter_semantic.to_tensor(1.5)
    made = core.dispatch(emit, "lib", "path", [value], table, tl.float32, True, interpreter_semantic)
    assert made.dtype is tl.float32 and calls[0][:4] == ("lib", "path", "of_float", [value.handle]) and calls[0][5]
    with pytest.raises(LanguageError, match="input arg type does not match"):
        core.dispatch(emit, "", "", [interpreter_semantic.to_tensor(True)], table, tl.int32, True, interpreter_semantic)
    with pytest.raises(LanguageError, match="takes 1 argument, got 2"):
        core.dispatch(emit, "", "", [value, value], table, tl.int32, True, interpreter_semantic)
    with pytest.raises(LanguageError, match="is empty"):
        core.dispatch(emit, "", "", [], {}, tl.int32, True, interpreter_semantic)


def test_classes_are_marked_for_type_checkers() -> None:
    made = core.dataclass_transform(eq_default=False)(lambda: None)
    assert made.__dataclass_transform__ == {"eq_default": False}


# -- functions of the library -------------------------------------------------------------------------------------


def test_the_first_elements_in_order_are_those_of_sorted_blocks() -> None:
    @tritium.jit
    def kernel(x, y):
        v = tl.load(x + tl.arange(0, 8))
        tl.store(y + tl.arange(0, 8), sort_impl(v))
        tl.store(y + 8 + tl.arange(0, 2), sort_impl(v, 2, None, True))

    x = np.array([5, 1, 7, 3, 2, 8, 6, 4], np.float32)
    y = run(kernel, x, np.zeros(10, np.float32))
    assert y.tolist() == [*sorted(x.tolist()), 8, 7]


def test_conversions_of_fp8e4b15_are_casts() -> None:
    @tritium.jit
    def kernel(x, y):
        o = tl.arange(0, 4)
        v = tl.load(x + o).to(tl.float16)
        small = cuda.convert_float16_to_fp8e4b15(v, has_minx2=True)
        back = cuda.convert_fp8e4b15_to_float16(small)
        other = cuda.convert_custom_float8(small, tl.float32, None, has_minx2=False)
        tl.store(y + o, tl.where(back.to(tl.float32) == other, other, -1))

    values = np.array([0.5, -1.25, 1.5, 0.0], np.float32)
    assert run(kernel, values, np.zeros(4, np.float32)).tolist() == values.tolist()


@pytest.mark.parametrize(
    "arch, smid, time",
    [
        ("gfx942", "hwreg(4, 8, 8)", "s_memrealtime $0"),
        ("gfx1100", "hwreg(23, 10, 4)", "sendmsg(MSG_RTN_GET_REALTIME)"),
    ],
)
def test_registers_of_amd_gpus_are_read_by_assembly(arch, smid, time) -> None:
    @tritium.jit
    def kernel(x):
        tl.store(x, hip.utils.memrealtime() + hip.utils.smid() + hip.utils.num_threads())

    target = GPUTarget("hip", arch, 64 if arch == "gfx942" else 32)
    text = compile_kernel(ASTSource(kernel, {"x": "*i64"}), target, until="ttir").asm["ttir"]
    assert smid in text and time in text
    with pytest.raises(CompilationError, match="is for AMD GPUs only"):
        run(kernel, np.zeros(1, np.int64))


def test_tuple_constructor_takes_its_type_by_position() -> None:
    ty = core.tuple_type([tl.int32, tl.int32], ["a", "b"])
    values = [interpreter_semantic.to_tensor(1), interpreter_semantic.to_tensor(2)]
    made = tl.tuple(values, ty)
    assert made.type is ty and made.b is values[1] and tl.tuple(values, fields=["x", "y"]).x is values[0]


# -- methods of blocks ----------------------------------------------------------------------------------------------


@core.builtin
def increased(self, _semantic=None):
    return _semantic.add(self, _semantic.to_tensor(1.0), True)


@tritium.jit
def raised(self, n):
    return self + n


def test_functions_become_methods_of_blocks(monkeypatch) -> None:
    monkeypatch.setattr(tl.tensor, "increased", None, raising=False)  # removed afterwards
    monkeypatch.setattr(tl.tensor, "raised", None, raising=False)
    assert core._tensor_member_fn(increased) is increased and core._tensor_member_fn(raised) is raised

    @tritium.jit
    def kernel(x):
        tl.store(x, tl.load(x).increased().raised(3.0) + increased(1.0) + raised(1.0, 2.0))

    assert run(kernel, np.ones(1, np.float32)).tolist() == [10]
