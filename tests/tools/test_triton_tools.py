"""Triton's tools as functions: the parts of its linker and compiler, views of layouts, lines of cuobjdump."""

from __future__ import annotations

import gc
import shutil
import subprocess

import pytest

import tritium
from tests.triton_oracle import ABSENT, find_interpreter
from tritium.dropin import alias
from tritium.runtime import allocation
from tritium.support import TritiumError
from tritium.tools import LinearLayout, link
from tritium.tools.aot.interface import AotError
from tritium.tools.compile import CompileArgs, compile_kernel, desc
from tritium.tools.disasm import parseCtrl, processSassLines

# -- the linker ---------------------------------------------------------------------------------------------------

HEADER = """
// tt-linker-backend: {backend}
// tt-linker: add_1a2b3c4d_0d1d:float* x, int32_t n:64_warps1
// tt-linker: add_5e6f7a8b_01c:float* x, int32_t n:64_warps1
// tt-linker: add_99999999_01:float* x, int32_t n:128_warps1
"""


def parsed(text=HEADER):
    parser = link.HeaderParser()
    parser.extract_linker_meta(text.format(backend="cuda"))
    return parser


def test_directives_of_headers_are_read() -> None:
    parser = parsed()
    assert parser.backend_name == "cuda" and list(parser.kernels) == ["add_64_warps1", "add_128_warps1"]
    first, second = parser.kernels["add_64_warps1"]
    assert (first.orig_kernel_name, first.sig_hash, first.suffix, first.num_specs) == ("add", "1a2b3c4d", "0d1d", 2)
    assert first.arg_names == ["x", "n"] and first.sizes == [16, 16] and second.sizes == [None, 1]
    assert link.gen_signature(second) == "float* x"
    assert link.gen_signature_with_full_args(second) == "float* x, int32_t n"


@pytest.mark.parametrize(
    "line, message",
    [
        ("// tt-linker: add:float* x:1", "add is not a valid kernel name"),
        ("// tt-linker: add_1a_0:floatx:1", "not a valid argument signature"),
        ("// tt-linker: add_1a_0d7:float* x:1", "invalid extra suffix: 7"),
        ("// tt-linker: add_1a_01:int32_t x, int32_t n:64_warps1", "Mismatched signature for kernel add_64_warps1"),
        ("// tt-linker-backend: hip", "headers for cuda and for hip"),
    ],
)
def test_directives_that_do_not_fit_are_refused(line, message) -> None:
    with pytest.raises(AotError, match=message):
        parsed(HEADER + line)


PROGRAM = """
#include <stdint.h>
#include <stdio.h>
typedef int TT_ResultTy; typedef int TT_StreamTy;
#define TT_ERROR_INVALID_VALUE -1
"""
VARIANTS = """
TT_ResultTy add_1a2b3c4d_0d1d(TT_StreamTy s, float* x, int32_t n) { return 10; }
TT_ResultTy add_5e6f7a8b_01c(TT_StreamTy s, float* x) { return 20; }
TT_ResultTy add_99999999_01(TT_StreamTy s, float* x, int32_t n) { return 30; }
static int loads;
void load_add_1a2b3c4d_0d1d() { loads += 1; } void unload_add_1a2b3c4d_0d1d() { loads -= 1; }
void load_add_5e6f7a8b_01c() { loads += 1; } void unload_add_5e6f7a8b_01c() { loads -= 1; }
void load_add_99999999_01() { loads += 1; } void unload_add_99999999_01() { loads -= 1; }
int main() {
  float* x = (float*)64;
  load_add();
  printf("%d ", loads);
  printf("%d %d %d ", add(0, x, 32, 0), add(0, x, 1, 0), add(0, x, 3, 0));
  printf("%d %d %d ", add(0, x, 3, 1), add(0, x, 3, 2), add_default(0, x, 1));
  unload_add();
  printf("%d %d\\n", add_get_num_algos(), loads);
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_generated_dispatchers_choose_by_hints(tmp_path) -> None:
    kernels = parsed().kernels
    meta = kernels["add_64_warps1"][0]
    parts = [link.make_algo_decls(name, metas) for name, metas in kernels.items()]
    parts += [link.make_get_num_algos_decl(meta), "\n", link.make_global_decl(meta)]
    parts += [link.make_kernel_hints_dispatcher(name, metas) for name, metas in kernels.items()]
    parts += [link.make_func_pointers(list(kernels), meta), link.make_get_num_algos_def(meta)]
    parts += [link.make_kernel_meta_const_dispatcher(meta), link.make_kernel_load_def(list(kernels), meta)]
    source = tmp_path / "linked.c"
    source.write_text(PROGRAM + "\n".join([*parts, link.make_default_algo_kernel(meta)]) + VARIANTS)
    subprocess.run(["cc", "-std=gnu11", str(source), "-o", str(tmp_path / "linked")], check=True, capture_output=True)
    done = subprocess.run([str(tmp_path / "linked")], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", "10", "20", "-1", "30", "-1", "20", "2", "0"]


# -- the compiler -------------------------------------------------------------------------------------------------

KERNEL = """
import tritium
import tritium.language as tl

@tritium.jit
def scale(x, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + o, tl.load(x + o, mask=o < n) * 2, mask=o < n)
"""


@pytest.fixture
def no_alias():
    """Files of kernels may import triton, which is answered from then on; not so after the test."""
    yield
    alias.uninstall()


def test_a_kernel_is_compiled_for_c_from_python(tmp_path, no_alias) -> None:
    (tmp_path / "scale.py").write_text(KERNEL)
    arguments = CompileArgs(
        path=str(tmp_path / "scale.py"),
        kernel_name="scale",
        signature="*fp32:16, i32, 64",
        grid="1, 1, 1",
        target="cpu",
        out_name="twice",
        out_path=tmp_path / "made",
    )
    name, files = compile_kernel(arguments)
    assert (
        name.startswith("twice_") and files and all(f.parent == tmp_path and f.name.startswith("made.") for f in files)
    )
    assert any(name in f.read_text(errors="replace") for f in files if f.suffix == ".h")
    assert (CompileArgs().num_warps, CompileArgs().num_stages) == (1, 3) and "--grid" in desc and "headers" not in desc
    with pytest.raises(TritiumError, match="grid is the number of programs"):
        compile_kernel(CompileArgs(path=arguments.path, kernel_name="scale", signature="*fp32, i32, 64"))


# -- layouts ------------------------------------------------------------------------------------------------------

DISTRIBUTED = [
    ([("register", [[0, 1]]), ("lane", [[0, 2], [1, 0]]), ("warp", [[2, 0]]), ("block", [])], [4, 4]),
    ([("register", [[1]]), ("lane", [[2], [0]]), ("warp", []), ("block", [[0]])], [4]),
    ([("register", [[0, 0, 1]]), ("lane", [[0, 1, 0]]), ("warp", [[1, 0, 0]]), ("block", [])], [2, 2, 2]),
]
SHARED = [
    ([("offset", [[0, 1], [0, 2], [1, 0], [2, 1]]), ("block", [])], [4, 4]),
    ([("offset", [[1, 0], [0, 1], [0, 0]]), ("block", [[0, 2]])], [2, 4]),
    ([("offset", [[0, 0, 1], [0, 1, 0], [1, 0, 0]]), ("block", [])], [2, 2, 2]),
]


def views(kind):
    cases = [(b, s, "get_distributed_view") for b, s in DISTRIBUTED] + [(b, s, "get_shared_view") for b, s in SHARED]
    return [
        getattr(kind.from_bases(bases, [f"dim{i}" for i in range(len(sizes))], sizes, True), name)(hardware)
        for bases, sizes, name in cases
        for hardware in (False, True)
    ]


def test_views_of_layouts_are_nested_brackets_or_lines() -> None:
    tensor, hardware = views(LinearLayout)[:2]
    assert tensor.splitlines()[:2] == ["[[T0:0, T0:1, T1:0, T1:1]", "[ T2:0, T2:1, T3:0, T3:1]"]
    assert hardware.splitlines()[:3] == ["Warp0:", "(0,0), (0,2), (1,0), (1,2)", "(0,1), (0,3), (1,1), (1,3)"]
    with pytest.raises(ValueError, match="the inputs must be register, lane, warp and block, and are a"):
        LinearLayout.identity_1d(4, "a", "b").get_distributed_view(False)


def test_views_of_layouts_equal_triton_s() -> None:
    interpreter = find_interpreter()
    if interpreter is None:
        pytest.skip(ABSENT)
    import inspect
    import json

    parts = ["import json\nfrom triton.tools import LinearLayout", f"DISTRIBUTED = {DISTRIBUTED}\nSHARED = {SHARED}"]
    program = "\n".join([*parts, inspect.getsource(views), "print(json.dumps(views(LinearLayout)))"])
    done = subprocess.run([interpreter, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == views(LinearLayout)


# -- the rest -----------------------------------------------------------------------------------------------------


def test_lines_of_cuobjdump_are_read() -> None:
    labels: dict[int, int] = {}
    second = "                                                      /* 0x003fde0003800000 */"
    first = "        /*0050*/                   @P0 BRA 0x50 ;                      /* 0xfffffff000007947 */"
    assert processSassLines(first, second, labels) == (parseCtrl(second), "@P0 BRA 0x50;") and labels == {0x50: 0}
    assert processSassLines(first, second, labels)[1] == "@P0 BRA 0x50;" and labels == {0x50: 0}
    with pytest.raises(ValueError, match="not the second line"):
        parseCtrl(first)


def test_an_allocator_for_profilers_can_be_set() -> None:
    assert not allocation.has_profile_allocator()
    allocation.set_profile_allocator(lambda size, alignment, stream: None)
    assert allocation.has_profile_allocator()
    allocation.set_profile_allocator(None)
    assert not allocation.has_profile_allocator()


def test_graphs_are_captured_without_garbage_collection(monkeypatch) -> None:
    from contextlib import contextmanager

    class Cuda:
        @staticmethod
        @contextmanager
        def graph(graph):
            yield graph, gc.isenabled()

    monkeypatch.setattr("tritium.runtime.benchmark._torch", type("Torch", (), {"cuda": Cuda}))
    with tritium.testing.cuda_graph_without_gc("graph") as inside:
        assert inside == ("graph", False)
    assert gc.isenabled()


def test_cublas_is_made_once_for_each_gpu(monkeypatch) -> None:
    made = []
    cuda = type("Cuda", (), {"current_device": staticmethod(lambda: 99)})
    fake = {"cuda": cuda, "uint8": "u8", "empty": staticmethod(lambda size, device, dtype: (size, device))}
    monkeypatch.setattr(tritium.testing, "_torch", type("Torch", (), fake))
    library = {"CublasLt": staticmethod(lambda workspace: made.append(workspace) or "handle")}
    monkeypatch.setattr(tritium.testing, "_cublas", type("Library", (), library))
    assert tritium.testing.cublas() == tritium.testing.cublas() == "handle" and made == [(32 << 20, "cuda:99")]


def test_callbacks_between_passes_are_refused_with_what_to_use() -> None:
    from tritium import _compile_warmup_state, _instrumentation

    with pytest.raises(TritiumError, match="insert a pass by a plugin"):
        _instrumentation.register_instrumentation(point="ttgir", backend="cuda", callback=print)
    assert _instrumentation.instrument(point="ttgir", backend="cuda") is False
    assert _instrumentation.is_enabled({"instrumentation_mode": "iisan"}, "iisan")
    assert not _compile_warmup_state.is_compile_warmup()
