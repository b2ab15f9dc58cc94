"""Calls of LLVM straight to its library do what llvmlite's package does."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys

import llvmlite
import llvmlite.binding
import pytest

from tritium.backends import llvm_calls
from tritium.backends.llvm import library, owning, run_function_passes, run_passes

KNOWN = llvmlite.__version__.startswith(llvm_calls.RELEASES)
pytestmark = pytest.mark.skipif(not KNOWN, reason="a release of llvmlite that is used by its package")

TEXT = """
target triple = "nvptx64-nvidia-cuda"
declare float @other(float)
define float @f(float %x) {
  %y = fadd float %x, 0.0
  %z = call float @other(float %y)
  %w = fmul float %z, %z
  %dead = fmul float %w, %x
  ret float %w
}
define internal void @unused() {
  ret void
}
"""


@pytest.fixture(scope="module")
def libraries():
    """The package, and the calls: both initialized."""
    package = library()
    calls = llvm_calls.LLVM(llvm_calls.ctypes.CDLL(llvmlite.binding.ffi.lib._name))
    return package, calls


def functions_simplified(llvm, options):
    """What passes of functions alone make of the module, in which every function stays."""
    module = owning(llvm.parse_assembly(TEXT, llvm.create_context()))
    run_function_passes(module, lambda: llvm.create_pass_builder(None, options))
    assert "@unused" in str(module) and "%dead" not in str(module)
    return str(module)


def everything(llvm):
    """What is done for GPUs, in one go: the texts that come out."""
    seen = [llvm.llvm_version_info[:2]]
    machine = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(
        cpu="sm_90a", features="+ptx80", opt=3, reloc="pic", codemodel="default"
    )
    seen.append(str(machine.target_data))
    module = owning(llvm.parse_assembly(TEXT, llvm.create_context()))
    module.triple, module.data_layout = "nvptx64-nvidia-cuda", str(machine.target_data)
    module.verify()
    seen += [module.triple, module.data_layout, sorted((f.name, bool(f.is_declaration)) for f in module.functions)]
    other = llvm.parse_bitcode(module.as_bitcode(), module._context)
    other.get_function("f").linkage = "internal"
    other.get_function("other").name  # noqa: B018
    other.close()
    library = llvm.parse_assembly("define float @other(float %x) {\n ret float %x\n}\n", module._context)
    library.triple, library.data_layout = module.triple, module.data_layout
    module.link_in(library)
    module.get_function("other").linkage = "internal"
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.slp_vectorization = options.loop_vectorization = options.loop_interleaving = False
    builder = llvm.create_pass_builder(machine, options)
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    for m in (manager, builder.getModulePassManager()):
        m.run(module, builder)
        m._capi.LLVMPY_DisposeNewModulePassManger(m)
        m.detach()
        seen.append(str(module))
    seen.append(functions_simplified(llvm, options))
    seen.append(machine._emit_to_memory(module, use_object=False))
    return seen


def test_both_give_the_same(libraries):
    package, calls = libraries
    expected, got = everything(package), everything(calls)
    assert got == expected and "@unused" not in got[-3] and b".entry" not in got[-1]


@pytest.mark.parametrize("text", ["define void @f( {", "define void @f() {\n ret i32 %x\n}\n"])
def test_errors_are_the_same(libraries, text):
    messages = []
    for llvm in libraries:
        with pytest.raises(RuntimeError) as error:
            llvm.parse_assembly(text, llvm.create_context())
        messages.append(str(error.value).strip())
        with pytest.raises(RuntimeError):
            llvm.parse_bitcode(b"no bitcode", llvm.create_context())
        with pytest.raises(RuntimeError) as error:
            llvm.Target.from_triple("no-such-target")
        messages.append(str(error.value))
        with pytest.raises(NameError):
            owning(llvm.parse_assembly(TEXT, llvm.create_context())).get_function("nobody")
    assert messages[:2] == messages[2:]


def test_a_module_that_does_not_verify(libraries):
    text = "define i32 @f(i1 %c) {\n br i1 %c, label %a, label %b\na:\n %x = add i32 1, 2\n br label %b\nb:\n ret i32 %x\n}\n"
    for llvm in libraries:
        with pytest.raises(RuntimeError, match="dominate"):
            module = owning(llvm.parse_assembly(text, llvm.create_context()))
            module.verify()


def test_many_modules_come_and_go(libraries):
    for _ in range(200):
        llvm = libraries[1]
        module = owning(llvm.parse_assembly(TEXT, llvm.create_context()))
        assert "fadd" in str(module)
        del module


class Allocated(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def allocated() -> int:
    """Bytes that somebody has from malloc."""
    gc.collect()
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Allocated
    told = mallinfo()
    return told.uordblks + told.hblkhd


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="malloc of another C library tells nothing")
@pytest.mark.parametrize("which", ["package", "calls"])
def test_a_run_of_passes_leaks_only_the_callbacks_of_llvmlite(libraries, which):
    """`LLVMPY_CreatePassBuilder` of llvmlite 0.50 leaks 1,488 bytes a run; there are three runs here."""
    llvm = libraries[which == "calls"]
    options = llvm.create_pipeline_tuning_options(speed_level=1)

    def run() -> None:
        module = owning(llvm.parse_assembly(TEXT, llvm.create_context()))
        builder = llvm.create_pass_builder(None, options)
        run_passes(builder.getModulePassManager(), module, builder)
        run_function_passes(module, lambda: llvm.create_pass_builder(None, options))

    for _ in range(20):
        run()
    kept = []
    for _ in range(3):  # in one of them a table may grow
        before = allocated()
        for _ in range(100):
            run()
        kept.append(allocated() - before)
    assert min(kept) < 100 * (3 * 1488 + 50)


def test_compiling_for_a_gpu_imports_no_package_of_llvm():
    code = """
import sys
from tritium.backends.nvidia import codegen
codegen.gpu_library()
assert "llvmlite.binding" not in sys.modules
from tritium.backends.llvm import library
assert library() is sys.modules["llvmlite.binding"]  # and both together
"""
    subprocess.run([sys.executable, "-c", code], check=True)


FORKS = """
import os
from tritium.backends import llvm
llvm.load_gpu_library_beside()
child = os.fork()
if child == 0:
    os._exit(0 if llvm.gpu_library().llvm_version_info else 1)
assert os.waitpid(child, 0)[1] == 0 and llvm.gpu_library().llvm_version_info
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_that_forks_while_llvm_is_loaded():
    for _ in range(3):
        subprocess.run([sys.executable, "-W", "error", "-c", FORKS], check=True, timeout=120)


def test_what_goes_wrong_beside_is_told_by_who_needs_it():
    code = """
from tritium.backends import llvm, llvm_calls
def missing():
    raise ImportError("no llvmlite here")
llvm_calls.load = missing
llvm.load_gpu_library_beside()
try:
    llvm.gpu_library()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("no llvmlite here\n", "")
