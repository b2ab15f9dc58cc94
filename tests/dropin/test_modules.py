"""Modules that are there for scripts written for Triton: they do what Triton's do."""

from __future__ import annotations

import importlib
import shutil
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import _utils as utilities
from tritium.backends.driver import DriverBase, decompose_descriptor, expand_signature, wrap_handle_tensordesc_impl
from tritium.dropin.names import base32, get_full_name, max_shared_mem
from tritium.frontend.errors import triton_errors
from tritium.runtime import build, driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.runtime.interpreter import InterpretedFunction, InterpreterError
from tritium.runtime.jit import get_device_key, mangle_type
from tritium.runtime.jit_parts import native_specialize_impl
from tritium.tools import LinearLayout

# ---- triton._utils --------------------------------------------------------------------------------------------------


def test_paths_into_nested_tuples() -> None:
    nested = (1, [2, (3, 4)], 5)
    leaves = []
    utilities.apply_with_path(nested, lambda path, leaf: leaves.append((path, leaf)))
    assert leaves == [((0,), 1), ((1, 0), 2), ((1, 1, 0), 3), ((1, 1, 1), 4), ((2,), 5)]
    assert utilities.find_paths_if(nested, lambda _, leaf: leaf % 2 == 0) == [(1, 0), (1, 1, 1)]
    assert utilities.get_iterable_path(nested, (1, 1, 0)) == 3
    assert utilities.find_paths_if(7, lambda _, leaf: True) == [()]


def test_shapes_of_blocks() -> None:
    assert utilities.validate_block_shape([4, 8]) == 32
    for shape, kind in (([3], ValueError), (["4"], TypeError), ([1 << 11, 1 << 10], ValueError), ([0], ValueError)):
        with pytest.raises(kind):
            utilities.validate_block_shape(shape)


def test_element_types() -> None:
    assert [utilities.canonicalize_dtype(d) for d in ("torch.float16", "bool", "float8_e5m2")] == [
        "fp16",
        "u1",
        "fp8e5",
    ]
    assert utilities.canonicalize_ptr_dtype("torch.int64", True) == "*ki64"
    widths = {"bf16": 16, "fp8e4nv": 8, "i1": 1, "float64": 64, "void": 0, "bfloat16": 16, "u32": 32, "int1": 1}
    assert {name: utilities.get_primitive_bitwidth(name) for name in widths} == widths


# ---- modules that Triton's modules import ---------------------------------------------------------------------------


def test_modules_are_reached_through_the_modules_that_import_them() -> None:
    for name, attribute, module in (
        ("testing", "runtime", tritium.runtime),
        ("testing", "tl", tl),
        ("runtime.jit", "knobs", tritium.knobs),
        ("language.math", "core", tl.core),
        ("language.extra.cuda.libdevice", "core", tl.core),
        ("compiler.code_generator", "language", tl),
        ("compiler.compiler", "ir", tritium._C.libtriton.ir),
    ):
        assert getattr(importlib.import_module(f"tritium.{name}"), attribute) is module, (name, attribute)


# ---- triton.runtime.jit, .driver, .interpreter ----------------------------------------------------------------------


def test_types_of_arguments() -> None:
    values = [1, 1 << 40, 1 << 63, 2.0, True, np.zeros(4, np.float32), np.zeros(4, np.int8)]
    assert [mangle_type(v) for v in values] == ["i32", "i64", "u64", "fp32", "u1", "*fp32", "*i8"]
    assert [mangle_type(v, True) for v in (1, None, 2)] == ["constexpr", "constexpr", "i32"]


def test_specializations_as_triton_names_them() -> None:
    expected = {1: ("constexpr", 1), 16: ("i32", "D"), 17: ("i32", ""), 2.5: ("fp32", None), None: ("constexpr", None)}
    assert {v: native_specialize_impl(None, v, False, True, True) for v in expected} == expected
    assert native_specialize_impl(None, True, False, True, True) == ("u1", None)
    assert native_specialize_impl(None, 16, False, True, False) == ("i32", "")
    assert native_specialize_impl(None, 1, False, False, True) == ("i32", None)
    array = np.zeros(64, np.float32)
    array = array[(-array.ctypes.data // 4) % 4 :]
    assert native_specialize_impl(None, array, True, True, True) == ("*kfp32", "D")
    assert native_specialize_impl(None, array[1:], False, True, True) == ("*fp32", "")


def test_drivers_are_drivers() -> None:
    assert isinstance(driver.cpu, DriverBase) and isinstance(EmulatedCUDADriver(90), DriverBase)
    assert max_shared_mem(0) > 0 and get_full_name(textwrap.dedent) == "textwrap.dedent"
    assert base32("00" * 5) == "AAAAAAAA"


@tritium.jit
def counts(out, STEP: tl.constexpr):
    tl.store(out + tl.program_id(0), tl.program_id(0) * STEP)


def test_kernels_of_the_active_device_are_found_by_its_key() -> None:
    out = np.zeros(2, np.int32)
    counts[(2,)](out, STEP=5)
    assert out.tolist() == [0, 5] and len(counts.device_caches[get_device_key()][0]) == 1


def test_a_function_that_is_always_interpreted(capsys) -> None:
    def shows(out, N: tl.constexpr):
        for i in range(N):
            print("at", i)
        tl.store(out, N)

    out = np.zeros(1, np.int32)
    InterpretedFunction(shows)[(2,)](out, N=3)
    assert capsys.readouterr().out.split() == [w for i in (0, 1, 2, 0, 1, 2) for w in ("at", str(i))] and out[0] == 3
    with pytest.raises(InterpreterError):
        InterpretedFunction(counts.fn)[(4,)](out, STEP=1)


# ---- triton.backends.driver -----------------------------------------------------------------------------------------


def test_descriptors_in_signatures() -> None:
    types = ("i32", ("tensordesc<fp16[16,32]>", "i64"), "tensordesc_im2col<fp32[1,16],input_rank=4,'layout'>")
    first, inner, *last = expand_signature(types, [], "map")
    assert first == "i32"
    assert inner == ("*fp16", *["i64"] * 4, "i1", "i1", "i32", "i32", "i64", "i64", "i64")
    assert last == ["*fp32", *["i64"] * 8, "i1", "i1", *["i32"] * 4, *["i64"] * 4]
    assert expand_signature(types[2:], [{}], "map") == ["map", *["i32"] * 4, *["i64"] * 4]
    with pytest.raises(ValueError, match="no type of a tensor descriptor"):
        expand_signature(["tensordesc<fp16>"], [], "map")


def test_descriptors_in_arguments() -> None:
    array = np.zeros((16, 16), np.float32)
    descriptor = tritium.runtime.TensorDescriptor.from_tensor(array, [8, 8])
    assert decompose_descriptor(descriptor)[1:] == [16, 16, 16, 1, False, False, 16, 16, 16, 1]
    calls = []
    signature = {"a": ("tensordesc<fp32[8,8]>", "i32"), "b": "i64", "c": "tensordesc<fp32[8,8]>"}
    launch = wrap_handle_tensordesc_impl(
        lambda *args: calls.append(args), signature, [None, "meta"], lambda d, meta, base: [d, meta, base]
    )
    launch("grid", (("A", 7), 9, "C"))
    assert calls == [("grid", [("A", None, ("grid",), 7), 9, "C", "meta", ("grid",)])]
    assert wrap_handle_tensordesc_impl(calls.append, {"a": "i32", "b": ("i64",)}, None, print) == calls.append


# ---- triton.runtime.build -------------------------------------------------------------------------------------------

C = """
#include <Python.h>
static PyObject* answer(PyObject* self, PyObject* args) { return PyLong_FromLong(ANSWER); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "made", NULL, -1, methods};
PyMODINIT_FUNC PyInit_made(void) { return PyModule_Create(&module); }
"""


@pytest.mark.skipif(not (shutil.which("gcc") or shutil.which("clang")), reason="there is no C compiler")
def test_modules_in_c(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    made = build.compile_module_from_src(C, "made", ccflags=["-DANSWER=42"])
    assert made.answer() == 42
    again = build.compile_module_from_src(C, "made", ccflags=["-DANSWER=42"])
    assert again.__file__ == made.__file__ and again.__file__.startswith(str(tmp_path))
    file = tmp_path / "made.c"
    file.write_text(C)
    other = build.compile_module_from_file(str(file), "made", ccflags=["-DANSWER=43"])
    assert other.answer() == 43 and other.__file__ != made.__file__
    path = build.compile_so_from_src(C, "made", ccflags=["-DANSWER=44"])
    Path(path).write_text("no library")
    with pytest.warns(UserWarning, match="compiled anew"):
        assert build.compile_module_from_src(C, "made", ccflags=["-DANSWER=44"]).answer() == 44
    with pytest.raises(RuntimeError, match="ANSWER"):
        build.compile_so_from_src(C, "made")
    with pytest.raises(RuntimeError, match="is not a C or C.. source file"):
        build.compile_so_from_file(str(tmp_path / "made.f"), "made")


def test_no_compiler(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(RuntimeError, match="hint: name one with CC"):
        build.compile_so_from_src("int x;", "made")


# ---- triton.tools.LinearLayout --------------------------------------------------------------------------------------


def test_layouts() -> None:
    layout = LinearLayout.from_bases([("a", [[0, 1], [0, 2]]), ("b", [[1, 0]])], ["x", "y"])
    assert layout.apply({"a": 3, "b": 1}) == {"x": 1, "y": 3}
    assert layout.bases == [("a", [[0, 1], [0, 2]]), ("b", [[1, 0]])] and layout.out_dims == [("x", 2), ("y", 4)]
    assert str(layout).split("\n") == [
        "",
        " - a=1 -> (0, 1)",
        "   a=2 -> (0, 2)",
        " - b=1 -> (1, 0)",
        "where out dims are: [x (size 2), y (size 4)]",
    ]
    assert layout.get_matrix_view() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    back = layout.invert()
    for a in range(4):
        for b in range(2):
            assert back.apply(layout.apply({"a": a, "b": b})) == {"a": a, "b": b}
    with pytest.raises(ValueError, match="never reached"):
        LinearLayout.from_bases([("a", [[2]])], ["x"], [4])
    assert LinearLayout.identity_1d(4, "i", "o") * LinearLayout.identity_1d(2, "i", "o") == LinearLayout.identity_1d(
        8, "i", "o"
    )


# ---- what else scripts look at --------------------------------------------------------------------------------------


@tritium.constexpr_function
def doubled(x):
    return 2 * x


def test_the_source_of_a_constexpr_function() -> None:
    assert "return 2 * x" in doubled.src


@tritium.jit
def wrong_axis(out):
    tl.store(out, tl.program_id(7))


def test_the_cause_of_an_error_where_scripts_are_triton_s(monkeypatch) -> None:
    out = np.zeros(1, np.int32)
    monkeypatch.setattr(triton_errors, "on", False)
    with pytest.raises(tritium.CompilationError) as found:
        wrong_axis[(1,)](out)
    assert found.value.__cause__ is None
    monkeypatch.setattr(triton_errors, "on", True)
    with pytest.raises(tritium.CompilationError) as found:
        wrong_axis[(1,)](out)
    assert type(found.value.__cause__) is ValueError and "axis must be 0, 1" in str(found.value.__cause__)


def test_a_constexpr_parameter_cannot_be_left_unspecialized() -> None:
    @tritium.jit(do_not_specialize=["N"])
    def kernel(N: tl.constexpr):
        pass

    with pytest.raises(tritium.CompilationError, match="N marked as constexpr and listed in do_not_specialize"):
        kernel[(1,)](5)


# ---- identities of functions ----------------------------------------------------------------------------------------

CHAIN = """
import tritium, tritium.language as tl
@tritium.jit
def last(x): return x + {number}
@tritium.jit
def middle(x): return last(x)
@tritium.jit
def even(x, n: tl.constexpr):
    return x if n == 0 else odd(x, n - 1)
@tritium.jit
def odd(x, n: tl.constexpr):
    return x + {number} if n == 0 else even(x, n - 1)
"""


def functions(tmp_path: Path, number: int):
    file = tmp_path / f"chain{number}.py"
    file.write_text(CHAIN.format(number=number))
    scope = {"__name__": "chain", "__file__": str(file)}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    return scope


def test_threads_that_compute_an_identity_at_once_get_the_same(tmp_path: Path) -> None:
    expected = functions(tmp_path, 1)["middle"].meaning_key
    for _ in range(20):
        scope, found = functions(tmp_path, 1), []
        start = threading.Barrier(8)

        def ask(name, scope=scope, found=found, start=start):
            start.wait()
            key = scope[name].meaning_key
            if name == "middle":
                found.append(key)

        threads = [threading.Thread(target=ask, args=(name,)) for name in ("middle", "last") * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(found) == {expected}


@pytest.mark.parametrize("first", ["even", "odd"])
def test_every_function_of_a_cycle_depends_on_the_text_of_all(tmp_path: Path, first: str) -> None:
    scopes = [functions(tmp_path, number) for number in (1, 2)]
    for scope in scopes:
        _ = scope[first].meaning_key
    for name in ("even", "odd"):
        assert scopes[0][name].meaning_key != scopes[1][name].meaning_key


# ---- names that other modules of ours have --------------------------------------------------------------------------


def test_backends_are_found_by_the_names_of_their_makers() -> None:
    backends = importlib.import_module("tritium.runtime.driver").backends
    assert backends is tritium.backends.backends and {"cpu", "nvidia", "amd"} <= set(backends)
    assert isinstance(backends["nvidia"], tritium.backends.Backend) and hasattr(backends["nvidia"].driver, "is_active")


def test_the_key_of_a_launcher_does_not_tell_pointers_apart() -> None:
    from tritium.dropin.names import make_so_cache_key

    key = make_so_cache_key("1", {"x": "*fp32", "n": "i32"}, {}, (0,), warps=4)
    assert key == make_so_cache_key("1", {"x": "*i8", "n": "i32"}, {}, (0,), warps=4) and key.isalnum()
    assert key != make_so_cache_key("1", {"x": "*fp32", "n": "i64"}, {}, (0,), warps=4)


def test_operands_that_do_not_go_together_are_an_error_of_their_types() -> None:
    @tritium.jit
    def adds(x):
        tl.store(x, x * 2.0)

    with pytest.raises(tritium.CompilationError, match="invalid operands of type pointer<fp32> and fp32"):
        adds[(1,)](np.zeros(1, np.float32))
    error = tritium.language.semantic.IncompatibleTypeErrorImpl("a", "b")
    assert (error.type_a, error.type_b) == ("a", "b") and "invalid operands of type a and b" in str(error)
