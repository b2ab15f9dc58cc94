"""C made of kernels, on a GPU: programs without Python compute what C itself computes."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import pytest

from tests.backends.nvidia.texts import needs_ptxas
from tests.tools.aot.programs import HERE, Made, build, needs_cc, run
from tritium.tools.link import main as link

pytestmark = [pytest.mark.gpu, needs_ptxas, needs_cc]


@pytest.fixture(scope="module")
def target() -> str:
    from tritium.backends.nvidia.device import device

    major, minor = device(0).capability
    return f"cuda:{major}{minor}"


@pytest.fixture(scope="module")
def libcuda() -> str:
    """The path of the driver that this process finds."""
    ctypes.CDLL("libcuda.so.1")
    maps = Path("/proc/self/maps").read_text()
    found = re.search(r"(/\S*libcuda\.so\S*)", maps)
    assert found is not None
    return found[1]


@pytest.fixture
def computes(tmp_path: Path, libcuda: str) -> Any:
    """`computes(made, text)`: a program with this `main` ends well."""

    def program(made: Made | list[Made], text: str, *flags: str, more: list[Path] | None = None) -> None:
        every = made if isinstance(made, list) else [made]
        text = f'#include "{HERE}/gpu_program.h"\n{text}'
        done = run(
            build(tmp_path, every, text, "-DTRITIUM_NO_CUDA_H", *flags, libcuda, "-lm", "-pthread", more=more or [])
        )
        assert done.returncode == 0, done.stderr

    return program


ADD = """
int main(void) {
  enum { N = 100003 };
  static float x[N], y[N], out[N + 1];
  CUstream stream;
  begin();
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 0.25f * i;
  CUdeviceptr px = put(x, sizeof x), py = put(y, sizeof y), pout = put(NULL, sizeof out);
  OK(cuStreamCreate(&stream, 0));
  OK(load_FUNCTION());
  OK(FUNCTION(stream, px, py, pout, N));
  get(out, pout, sizeof out);
  for (int i = 0; i < N; i++) EXPECT(out[i] == x[i] + y[i]);
  EXPECT(out[N] != out[N]); /* behind the end: as it was */
  OK(unload_FUNCTION());
  OK(FUNCTION(NULL, px, px, pout, N)); /* loaded anew */
  get(out, pout, sizeof out);
  EXPECT(out[N - 1] == 2 * x[N - 1]);
  /* another context: the kernel is loaded there too */
  CUcontext_ other;
  OK(cuCtxCreate_v2(&other, 0, 0));
  px = put(x, sizeof x), pout = put(NULL, sizeof out);
  OK(FUNCTION(NULL, px, px, pout, 3));
  get(out, pout, sizeof out);
  EXPECT(out[2] == 4 && out[3] != out[3]);
  EXPECT(FUNCTION(NULL, px, px, pout, 0) == CUDA_SUCCESS);
  return 0;
}
"""


@pytest.mark.parametrize("flags", [(), ("-DTRITIUM_DLOPEN", "-ldl")])
@pytest.mark.parametrize("hint", ["", ":16"])
def test_vector_addition(make: Any, computes: Any, target: str, hint: str, flags: tuple[str, ...]) -> None:
    made = make(
        "add_kernel",
        f"*fp32{hint}, *fp32{hint}, *fp32{hint}, i32, 1024",
        target=target,
        grid="cdiv(n_elements, BLOCK_SIZE)",
    )
    computes(made, ADD.replace("FUNCTION", made.function), *flags)


NUMBERS = """
int main(void) {
  double out[14], expected[] = {1.2998046875, -2.703125, (double)3.1f, 4.1, 1, -8, -1600, -320000, -6400000000.0,
                                200, 60000, 4000000000.0, 9223372036854775808.0};
  begin();
  CUdeviceptr pout = put(NULL, sizeof out);
  OK(FUNCTION(NULL, pout, 1.3f, -2.7f, 3.1f, 4.1, 7, -8, -1600, -320000, -6400000000, 200, 60000, 4000000000u, 1ull << 63));
  get(out, pout, sizeof out);
  for (int i = 0; i < 13; i++) EXPECT(out[i] == expected[i]);
  EXPECT(out[13] != out[13]);
  return 0;
}
"""


def test_every_kind_of_number(make: Any, computes: Any, target: str) -> None:
    made = make("numbers", "*fp64,fp16,bf16,fp32,fp64,i1,i8,i16,i32,i64,u8,u16,u32,u64", target=target)
    computes(made, NUMBERS.replace("FUNCTION", made.function))


PRODUCT = """
static uint16_t half(int small) { /* fp16 of an integer, 0 to 7 */
  static const uint16_t bits[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700};
  return bits[small & 7];
}
int main(void) {
  enum { B = 128, K = 256 };
  static uint16_t a[B * K], b[K * B];
  static float c[B * B];
  begin();
  for (int i = 0; i < B * K; i++) a[i] = half(i * 7 + i / 13), b[i] = half(i * 5 + i / 11);
  CUdeviceptr pa = put(a, sizeof a), pb = put(b, sizeof b), pc = put(NULL, sizeof c);
  OK(FUNCTION(NULL, pa, pb, pc, K));
  get(c, pc, sizeof c);
  for (int i = 0; i < B; i++)
    for (int j = 0; j < B; j++) {
      int sum = 0;
      for (int k = 0; k < K; k++) sum += ((i * K + k) * 7 + (i * K + k) / 13 & 7) * ((k * B + j) * 5 + (k * B + j) / 11 & 7);
      EXPECT(c[i * B + j] == (float)sum);
    }
  return 0;
}
"""


def test_much_shared_memory(make: Any, computes: Any, target: str) -> None:
    made = make(
        "product", "*fp16:16,*fp16:16,*fp32:16,i32:16,128,64", target=target, options=["num_warps=8", "num_stages=4"]
    )
    shared = int(re.search(r"config.shared = (\d+)", made.path(".c").read_text())[1])  # type: ignore[index]
    assert shared > 48 << 10
    computes(made, PRODUCT.replace("FUNCTION", made.function), "-Wno-parentheses")


TILES = """
int main(void) {
  enum { M = 100, N = 72 };
  static float x[M * N], out[M * N];
  begin();
  for (int i = 0; i < M * N; i++) x[i] = (float)(i % 1000);
  CUdeviceptr px = put(x, sizeof x), pout = put(NULL, sizeof out);
  for (int round = 0; round < 3; round++) OK(FUNCTION(NULL, px, pout, M, N));
  get(out, pout, sizeof out);
  for (int i = 0; i < M * N; i++) EXPECT(out[i] == 2 * x[i]);
  return 0;
}
"""


def test_descriptors_of_the_kernel_with_scratch_memory(make: Any, computes: Any, target: str) -> None:
    made = make("double_tiles", "*fp32:16,*fp32:16,i32,i32,32", target=target, grid="cdiv(m, BLOCK), cdiv(n, BLOCK)")
    computes(made, TILES.replace("FUNCTION", made.function))


GRAPH = """
int main(void) {
  enum { M = 100, N = 72 };
  static float x[M * N], out[M * N];
  void *graph, *executable;
  CUstream stream;
  begin();
  OK(cuStreamCreate(&stream, 1));
  CUdeviceptr px = put(x, sizeof x), pout = put(NULL, sizeof out);
  OK(load_FUNCTION());
  OK(cuStreamBeginCapture_v2(stream, 0));
  OK(FUNCTION(stream, px, pout, M, N));
  OK(cuStreamEndCapture(stream, &graph));
  OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  for (int round = 1; round < 4; round++) {
    for (int i = 0; i < M * N; i++) x[i] = (float)(i % 1000 * round);
    OK(cuMemcpyHtoD_v2(px, x, sizeof x));
    OK(cuGraphLaunch(executable, stream));
    get(out, pout, sizeof out);
    for (int i = 0; i < M * N; i++) EXPECT(out[i] == 2 * x[i]);
  }
  return 0;
}
"""


def test_scratch_memory_in_a_graph(make: Any, computes: Any, target: str) -> None:
    made = make("double_tiles", "*fp32:16,*fp32:16,i32,i32,32", target=target, grid="cdiv(m, BLOCK), cdiv(n, BLOCK)")
    computes(made, GRAPH.replace("FUNCTION", made.function))


HOST_TILES = """
int main(void) {
  enum { M = 100, N = 72, W = 80 };
  static float x[M * W], y[M * N], out[M * N];
  begin();
  for (int i = 0; i < M * W; i++) x[i] = (float)(i % 1000);
  for (int i = 0; i < M * N; i++) y[i] = (float)(i % 700);
  TritiumTensor tx = {put(x, sizeof x), {M, N}, {W, 1}, 0}, ty = {put(y, sizeof y), {M, N}, {N, 1}, 0};
  TritiumTensor tout = {put(NULL, sizeof out), {M, N}, {N, 1}, 0};
  OK(FUNCTION(NULL, &tx, &ty, &tout));
  get(out, tout.base, sizeof out);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) EXPECT(out[i * N + j] == x[i * W + j] + y[i * N + j]);
  return 0;
}
"""


def test_descriptors_of_the_host(make: Any, computes: Any, target: str) -> None:
    made = make("add_tiles", ", ".join(["tensordesc<fp32[32,32]>"] * 3) + ", 32", target=target, grid="4, 3")
    computes(made, HOST_TILES.replace("FUNCTION", made.function))


@pytest.mark.parametrize("option", ["num_ctas=2", "launch_cooperative_grid=True", "launch_pdl=True"])
def test_ways_to_launch(make: Any, computes: Any, target: str, option: str) -> None:
    if int(target[5:]) < 90 and option != "launch_cooperative_grid=True":
        pytest.skip("needs a Hopper GPU")
    made = make(
        "add_kernel",
        "*fp32, *fp32, *fp32, i32, 4096",
        target=target,
        grid="cdiv(n_elements, BLOCK_SIZE)",
        options=[option],
    )
    computes(made, ADD.replace("FUNCTION", made.function))


def test_a_kernel_for_another_gpu(make: Any, computes: Any, target: str) -> None:
    other = "cuda:80" if target != "cuda:80" else "cuda:90"
    made = make("add_kernel", "*fp32, *fp32, *fp32, i32, 1024", target=other)
    load, launch = f"load_{made.function}()", f"{made.function}(NULL, 0, 0, 0, 1)"
    computes(made, f"int main(void) {{ begin(); EXPECT({load} != 0); EXPECT({launch} != 0); return 0; }}")


LINKED = """
int main(void) {
  enum { M = 5, N = 96 };
  static float x[M * N * 2], out[M * N];
  begin();
  for (int i = 0; i < M * N * 2; i++) x[i] = (float)i;
  CUdeviceptr px = put(x, sizeof x);
  OK(load_scale());
  for (int algorithm = 0; algorithm < scale_get_num_algos(); algorithm++)
    for (int step = 1; step < 3; step++)
      for (int columns = N - 1; columns <= N; columns++) {
        CUdeviceptr pout = put(NULL, sizeof out);
        OK(scale(NULL, px, pout, M, columns, N * step, step, 3.0f, algorithm));
        get(out, pout, sizeof out);
        for (int i = 0; i < M * columns; i++)
          EXPECT(out[i] == 3 * x[i / columns * N * step + i % columns * step]);
        if (columns < N) EXPECT(out[M * columns] != out[M * columns]);
      }
  OK(scale_default(NULL, px, px, 1, 16, 16, 1, 2.0f));
  EXPECT(scale(NULL, px, px, 1, 16, 16, 1, 2.0f, 2) == CUDA_ERROR_INVALID_VALUE);
  OK(unload_scale());
  return 0;
}
"""


def test_a_dispatcher(make: Any, computes: Any, target: str, tmp_path: Path, capsys: Any) -> None:
    made = [
        make(
            "scale_rows",
            f"*fp32:16,*fp32:16,i32,{hints},fp32,{block}",
            target=target,
            out_name="scale",
            grid="rows, cdiv(columns, BLOCK)",
        )
        for block in (32, 64)
        for hints in ("i32:16,i32:16,i32:1", "i32,i32,i32")
    ]
    assert link([str(m.path(".h")) for m in made], str(tmp_path / "scale")) == 0
    capsys.readouterr()
    text = '#include "scale.h"\n' + LINKED
    computes(made, text, more=[tmp_path / "scale.c"])
