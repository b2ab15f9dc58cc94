"""Object files made of kernels for CPUs: C programs call them, without Python in the process."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tools.aot.programs import CC, KERNELS, Made, build, needs_cc, run
from tests.tools.aot.test_cuda_c import ROUNDED, rounded
from tritium.backends.cpu import export_ir
from tritium.backends.cpu.pool import default_threads
from tritium.tools.compile_command import main
from tritium.tools.link import main as link
from tritium.tools.request import Request

CHECK = """
#include <stdlib.h>
#define EXPECT(what) do { if (!(what)) { fprintf(stderr, "line %d: not so: %s\\n", __LINE__, #what); exit(1); } } while (0)
"""


@pytest.fixture
def make_cpu(make: Any) -> Callable[..., Made]:
    return lambda *args, **more: make(*args, **{"target": "cpu", **more})


@pytest.fixture
def computes(tmp_path: Path) -> Callable[..., str]:
    """`computes(made, text)`: a program with this `main` ends well; what it prints."""

    def program(
        made: Made | list[Made], text: str, *flags: str, more: list[Path] | None = None, **environment: str
    ) -> str:
        every = made if isinstance(made, list) else [made]
        text = text if "main(" in text else f"int main(void) {{\n{text}\nreturn 0;\n}}"
        done = run(build(tmp_path, every, CHECK + text, *flags, "-pthread", more=more or []), **environment)
        assert done.returncode == 0, (done.returncode, done.stderr)
        return done.stdout

    return program


pytestmark = [needs_cc, pytest.mark.usefixtures("triton_alias")]

ADD = """
  enum { N = 1000003 };
  static float x[N], y[N], out[N + 1];
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 0.25f * (float)i;
  for (int round = 0; round < 5; round++) {
    memset(out, 0xff, sizeof out);
    EXPECT(FUNCTION(x, y, out, N) == TRITIUM_SUCCESS);
    for (int i = 0; i < N; i++) EXPECT(out[i] == x[i] + y[i]);
    EXPECT(out[N] != out[N]);
  }
"""


@pytest.mark.parametrize("threads", ["", "1", "4", "nonsense"])
@pytest.mark.parametrize("hint", ["", ":16"])
def test_vector_addition(make_cpu: Any, computes: Any, hint: str, threads: str) -> None:
    signature = f"*kfp32{hint},*kfp32{hint},*fp32{hint},i32,1024"
    made = make_cpu("add_kernel", signature, grid="cdiv(n_elements, BLOCK_SIZE)")
    assert "(const float *x_ptr, const float *y_ptr, float *output_ptr, int32_t n_elements);" in made.prototype
    computes(made, ADD.replace("FUNCTION", made.function), **({"TRITIUM_NUM_THREADS": threads} if threads else {}))


def test_names_are_those_of_gpus(make: Any) -> None:
    signature = "*fp32,*fp32,*fp32,i32,64"
    assert make("add_kernel", signature, target="cpu").function == "add_kernel_9969bdda_0123"
    assert [p.suffix for p in make("add_kernel", signature, target="cpu").paths] == [".h", ".o"]


def test_every_kind_of_number(make_cpu: Any, computes: Any) -> None:
    made = make_cpu("numbers", "*fp64,fp16,bf16,fp32,fp64,i1,i8,i16,i32,i64,u8,u16,u32,u64")
    assert (
        "(double *out_ptr, float h, float b, float f, double d, uint8_t yes, int8_t i8, int16_t i16," in made.prototype
    )
    computes(
        made,
        f"""
  double out[14], expected[] = {{1.2998046875, -2.703125, (double)3.1f, 4.1, 1, -8, -1600, -320000, -6400000000.0,
                                200, 60000, 4000000000.0, 9223372036854775808.0}};
  memset(out, 0xff, sizeof out);
  EXPECT(!{made.function}(out, 1.3f, -2.7f, 3.1f, 4.1, 7, -8, -1600, -320000, -6400000000, 200, 60000, 4000000000u, 1ull << 63));
  for (int i = 0; i < 13; i++) EXPECT(out[i] == expected[i]);
  EXPECT(out[13] != out[13]);""",
    )


@pytest.mark.parametrize("ty", ["fp16", "bf16"])
def test_rounding_to_16_bits(make_cpu: Any, computes: Any, tmp_path: Path, ty: str) -> None:
    made = make_cpu("keep", f"*{ty}, {ty}", target="cpu")
    (tmp_path / "values.h").write_text(",".join(f"{p}u" for p in ROUNDED))
    text = f"""
static const unsigned bits[] = {{
#include "values.h"
}};
int main(void) {{
  for (int i = 0; i < {len(ROUNDED)}; i++) {{
    float x;
    uint16_t out = 0x7bad;
    memcpy(&x, bits + i, 4);
    EXPECT(!{made.function}(&out, x));
    printf("%d\\n", out);
  }}
  return 0;
}}"""
    assert list(map(int, computes(made, text).split())) == [rounded(p, ty) for p in ROUNDED]


def test_hints_constants_and_names(make_cpu: Any, computes: Any) -> None:
    made = make_cpu(
        "scale_rows", "*fp32:16,*fp32,i32,i32:16,i32:16,i32:1,fp32,64", grid="rows, cdiv(columns, BLOCK), column_stride"
    )
    assert "column_stride" not in made.prototype
    other = make_cpu("names", "*i32, i32, i32, i32, i32, *i32, 'double'", grid="stream % 2, max(grid - 2, 1)")
    none = make_cpu("names", "*i32, i32, i32, i32, i32, None, ''")
    computes(
        [made, other, none],
        f"""
  static _Alignas(16) float x[3 * 128], out[3 * 96 + 1];
  int32_t value = 7, more = 1000;
  for (int i = 0; i < 3 * 128; i++) x[i] = (float)i;
  memset(out, 0xff, sizeof out);
  EXPECT(!{made.function}(x, out, 3, 96, 128, 0.5f));
  for (int i = 0; i < 3 * 96; i++) EXPECT(out[i] == 0.5f * x[i / 96 * 128 + i % 96]);
  EXPECT(out[3 * 96] != out[3 * 96]);
  EXPECT(!{other.function}(&value, 2, 2, 3, 4, &more)); /* an empty grid */
  EXPECT(value == 7);
  EXPECT(!{other.function}(&value, 1, 2, 3, 4, &more));
  EXPECT(value == 2020);
  EXPECT(!{none.function}(&value, 1, 2, 3, 4));
  EXPECT(value == 10);""",
    )


@pytest.mark.parametrize(
    ("grid", "values"),
    [
        ("n / (n - 4), 1, n % 3 << 1", [(7, 0, (2, 1, 2)), (4, 1, None), (6, 0, None)]),
        ("n * n, 7 // n, 9", [(0, 1, None), (65536, 0, None), (3, 0, (9, 2, 9))]),
        ("cdiv(n, 3), min(n, 2), max(n - 9, 4) >> 1", [(7, 0, (3, 2, 2)), (-3, 1, None), (20, 0, (7, 2, 5))]),
        ("n * n * n", [(2000, 1, None)]),
        ("1 << n, 64 >> n", [(6, 0, (64, 1, 1)), (64, 1, None), (-1, 1, None)]),
    ],
)
def test_grids(make_cpu: Any, computes: Any, tmp_path: Path, grid: str, values: list[Any]) -> None:
    made = make_cpu("count_programs", "*i32, i32", grid=grid)
    lines = []
    for n, status, counts in values:
        x, y, z = counts or (0, 0, 0)
        lines.append(f"memset(out, 0, sizeof out); EXPECT({made.function}(out, {n}) == {status});")
        lines.append(f"EXPECT(out[0] == {x * y * z} && out[1] == {x} && out[2] == {y} && out[3] == {z});")
    computes(made, "static int32_t out[4];\n" + "\n".join(lines))


def test_descriptors(make_cpu: Any, computes: Any) -> None:
    made = make_cpu("add_tiles", ", ".join(["tensordesc<fp32[32,32]>"] * 3) + ", 32", grid="4, 3")
    computes(
        made,
        f"""
  enum {{ M = 100, N = 72, W = 80 }};
  static float x[M * W], y[M * N], out[M * N + 1];
  for (int i = 0; i < M * W; i++) x[i] = (float)(i % 1000);
  for (int i = 0; i < M * N; i++) y[i] = (float)(i % 700);
  memset(out, 0xff, sizeof out);
  TritiumHostTensor tx = {{x, {{M, N}}, {{W, 1}}, 0}}, ty = {{y, {{M, N}}, {{N, 1}}, 0}}, tout = {{out, {{M, N}}, {{N, 1}}, 0}};
  EXPECT(!{made.function}(&tx, &ty, &tout));
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) EXPECT(out[i * N + j] == x[i * W + j] + y[i * N + j]);
  EXPECT(out[M * N] != out[M * N]);""",
    )


def test_names_beyond_ascii(make_cpu: Any, computes: Any, tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text("import triton\nimport triton.language as tl\n@triton.jit\ndef größe(x, ñ):\n    tl.store(x, ñ)\n")
    made = make_cpu("größe", "*i32, i32", file=str(path), grid="ñ", out_name="size")
    assert "(int32_t *x, int32_t _)" in made.prototype
    computes(made, f"int32_t out = 0; EXPECT(!{made.function}(&out, 3) && out == 3);")


def test_a_product(make_cpu: Any, computes: Any) -> None:
    made = make_cpu("product", "*fp32,*fp32,*fp32,i32,64,32")
    computes(
        made,
        f"""
  enum {{ B = 64, K = 96 }};
  static float a[B * K], b[K * B], c[B * B];
  for (int i = 0; i < B * K; i++) a[i] = (float)(i * 7 % 13), b[i] = (float)(i * 5 % 11);
  memset(c, 0xff, sizeof c);
  EXPECT(!{made.function}(a, b, c, K));
  for (int i = 0; i < B; i++)
    for (int j = 0; j < B; j++) {{
      float sum = 0;
      for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * B + j];
      EXPECT(c[i * B + j] == sum);
    }}""",
    )


def test_an_assertion_that_does_not_hold(make_cpu: Any, computes: Any) -> None:
    made = make_cpu(
        "checked", "*i32, i32, 64", grid="cdiv(n, BLOCK)", options=["debug=True", "sanitize_overflow=False"]
    )
    line = KERNELS.read_text()[: KERNELS.read_text().index("tl.device_assert")].count("\n") + 1
    said = computes(
        made,
        f"""
  static int32_t x[1000];
  EXPECT({made.function}(x, 1000) == TRITIUM_SUCCESS);
  x[130] = -1;
  EXPECT({made.function}(x, 1000) == TRITIUM_STOPPED);
  puts(tritium_last_error());
  EXPECT({made.function}(x, 128) == TRITIUM_SUCCESS);""",
    )
    assert said == f"kernels.py:{line}:5: assert: a number is negative, in program (2, 0, 0)\n"


THREADS = """
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
enum { N = 64 * 64 };
static void check(int rounds) {
  int32_t *out = malloc(N * 4);
  EXPECT(LONG(out, rounds, 64) == 0);
  for (int i = 0; i < N; i++) EXPECT(out[i] == rounds + i);
  free(out);
}
static void *several(void *unused) {
  for (int i = 1; i < 40; i++) check(i * 50);
  return unused;
}
static int tasks(void) {
  int count = 0;
  FILE *list = popen("ls /proc/$PPID/task | wc -l", "r");
  EXPECT(fscanf(list, "%d", &count) == 1);
  pclose(list);
  return count;
}
int main(void) {
  pthread_t threads[6];
  tritium_set_num_threads(3);
  for (int i = 0; i < 20; i++) check(100000);
  float x[4] = {1, 2, 3, 4}, out[4];
  EXPECT(ADD(x, x, out, 4) == 0); /* of another object: the same threads */
  EXPECT(out[3] == 8);
  EXPECT(tasks() <= 3);
  for (int i = 0; i < 6; i++) pthread_create(threads + i, 0, several, 0);
  for (int i = 0; i < 6; i++) pthread_join(threads[i], 0);
  pid_t child = fork();
  if (child == 0) {
    check(100000);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  return status;
}
"""


def test_threads_and_forks(make_cpu: Any, computes: Any) -> None:
    made = make_cpu("long_work", "*i32, i32, 64", grid="64")
    other = make_cpu("add_kernel", "*fp32, *fp32, *fp32, i32, 64")
    text = THREADS.replace("LONG(out, rounds, 64)", f"{made.function}(out, rounds)").replace(
        "ADD(", f"{other.function}("
    )
    computes([made, other], text)


COUNTED = """
#include <dirent.h>
int main(void) {
  static int32_t out[4096 * 64];
  int tasks = 0;
  for (int i = 0; i < 50; i++) EXPECT(LONG(out, 3000) == 0);
  DIR *list = opendir("/proc/self/task");
  while (readdir(list)) tasks++;
  printf("%d\\n", tasks - 2); /* without . and .. */
  return 0;
}
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc to count threads in")
def test_as_many_threads_as_from_python(make_cpu: Any, computes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_cpu("long_work", "*i32, i32, 64", grid="4096")
    text = COUNTED.replace("LONG", made.function)
    monkeypatch.delenv("TRITIUM_NUM_THREADS", raising=False)
    assert int(computes(made, text)) == default_threads()
    assert int(computes(made, text, TRITIUM_NUM_THREADS="5")) == 5


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc to count threads in")
@pytest.mark.parametrize(
    ("contents", "threads"),
    [("30000 100000\n", 1), ("max 100000\n", None), ("900000000 100000\n", None), ("1 0\n", None)],
)
def test_a_container_s_share(
    make_cpu: Any, computes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contents: str, threads: int | None
) -> None:
    """What a file in the place of cgroup's says; None: as many as there are processors."""
    limit = tmp_path / "cpu.max"
    limit.write_text(contents)
    place = f'[{len(str(limit)) + 1} x i8] c"{limit}\\00"'
    text = export_ir.COUNT_LINUX.replace('[23 x i8] c"/sys/fs/cgroup/cpu.max\\00"', place)
    assert place in text
    monkeypatch.setattr(export_ir, "COUNT_LINUX", text)
    made = make_cpu("long_work", "*i32, i32, 64", grid="4096")
    expected = threads or len(os.sched_getaffinity(0))
    assert int(computes(made, COUNTED.replace("LONG", made.function))) == expected


def test_in_a_shared_library(make_cpu: Any, computes: Any, tmp_path: Path) -> None:
    """Objects are position-independent."""
    made = [make_cpu("add_kernel", "*fp32,*fp32,*fp32,i32,64"), make_cpu("keep", "*i32, i32")]
    library = tmp_path / "libkernels.so"
    assert CC is not None
    command = [CC, "-shared", "-o", str(library), *(str(m.path(".o")) for m in made), "-pthread", "-Wl,-z,defs"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    text = f"""
#include <dlfcn.h>
int main(int count, char **names) {{
  void *library = dlopen("{library}", RTLD_NOW);
  EXPECT(library && count && names);
  int (*keep)(int32_t *, int32_t) = (int (*)(int32_t *, int32_t))dlsym(library, "{made[1].function}");
  int32_t out = 0;
  EXPECT(keep && keep(&out, 42) == 0 && out == 42);
  return 0;
}}"""
    computes([], "#include <stdint.h>\n" + text, "-ldl")


def test_a_dispatcher(make_cpu: Any, computes: Any, tmp_path: Path, capsys: Any) -> None:
    made = [
        make_cpu(
            "scale_rows",
            f"*fp32:16,*fp32,i32,{hints},fp32,{block}",
            out_name="scale",
            grid="rows, cdiv(columns, BLOCK)",
        )
        for block in (32, 64)
        for hints in ("i32:16,i32:16,i32:1", "i32,i32,i32")
    ]
    assert link([str(m.path(".h")) for m in made], str(tmp_path / "scale")) == 0
    assert "(uintptr_t)x_ptr % 16 == 0 && columns % 16 == 0" in (tmp_path / "scale.c").read_text()
    capsys.readouterr()
    text = """#include "scale.h"
int main(void) {
  static _Alignas(64) float x[3 * 256], out[3 * 128 + 1];
  for (int i = 0; i < 3 * 256; i++) x[i] = (float)i;
  for (int step = 1; step < 3; step++)
    for (int columns = 127; columns < 129; columns++)
      for (int algorithm = 0; algorithm < scale_get_num_algos(); algorithm++) {
        memset(out, 0xff, sizeof out);
        EXPECT(scale(x, out, 3, columns, 128 * step, step, 3.0f, algorithm) == 0);
        for (int i = 0; i < 3 * columns; i++) EXPECT(out[i] == 3 * x[i / columns * 128 * step + i % columns * step]);
        EXPECT(out[3 * columns] != out[3 * columns]);
      }
  EXPECT(scale(x, out, 3, 128, 128, 1, 3.0f, 2) == TRITIUM_INVALID_VALUE);
  EXPECT(scale_default(x + 1, out, 3, 128, 128, 1, 3.0f) == TRITIUM_INVALID_VALUE); /* at no multiple of 16 bytes */
  return 0;
}"""
    computes(made, text, more=[tmp_path / "scale.c"])


@pytest.mark.parametrize(
    ("target", "start"),
    [
        ("cpu:x86-64", b"\x7fELF\x02\x01"),
        ("cpu:aarch64", b"\x7fELF\x02\x01"),
        ("cpu:sapphirerapids", b"\x7fELF\x02\x01"),
        ("cpu:apple-m1", b"\xcf\xfa\xed\xfe"),
    ],
)
def test_objects_for_other_machines(make: Any, target: str, start: bytes) -> None:
    made = make("numbers", "*fp64,fp16,bf16,fp32,fp64,i1,i8,i16,i32,i64,u8,u16,u32,u64", target=target)
    code = made.path(".o").read_bytes()
    assert code.startswith(start)
    assert not target.endswith("aarch64") or int.from_bytes(code[18:20], "little") == 183


def test_the_same_object_every_time(make: Any) -> None:
    first, second = (
        make("add_kernel", "*fp32,*fp32,*fp32,i32,64", target="cpu:x86-64-v3").path(".o").read_bytes() for _ in "ab"
    )
    assert first == second


@pytest.mark.parametrize(
    ("kernel", "signature", "options", "message"),
    [
        ("printed", "*i32", [], "device_print prints through Python"),
        ("keep", "*i32, i32", ["sanitize=True"], "sanitize checks accesses against the bounds of arrays"),
        ("keep", "*i32, fp8e5", [], "C has no numbers of type fp8e5"),
    ],
)
def test_what_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, kernel: str, signature: str, options: list[str], message: str
) -> None:
    request = Request(
        str(KERNELS), "cpu", signature, kernel_name=kernel, grid="1", output=f"{tmp_path}/", options=options
    )
    assert main(request) == 1
    err = capsys.readouterr().err
    assert message in err and "Traceback" not in err and not list(tmp_path.iterdir())
    assert not re.search(r"(?m)^error", err)
