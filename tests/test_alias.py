"""`import triton`, answered by this package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def python(*arguments: str, **kwargs) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, **kwargs)


SCRIPT = """
import sys
import triton
import triton.runtime.jit
assert triton.runtime.jit.JITFunction and callable(triton.jit)  # the module, and the decorator
import triton.runtime.driver
import triton.testing as testing
from triton import Config, cdiv, jit
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompiledKernel
from triton.compiler.compiler import make_backend, triton_key
from triton.runtime import driver
from triton.runtime.autotuner import Autotuner, OutOfResources
from triton.runtime._async_compile import active_mode
from triton.runtime.cache import KernelCache
from triton.runtime.errors import InterpreterError
from triton.runtime.jit import type_canonicalisation_dict
from triton.tools.mxfp import MXFP4Tensor, MXScaleTensor
from triton._C.libtriton import llvm
from triton.runtime.jit import JITFunction, KernelInterface
from triton.tools.tensor_descriptor import TensorDescriptor
import tritium

assert triton.__version__ == "3.9.0" and tritium.__version__ != "3.9.0"
assert InterpreterError is triton.InterpreterError and issubclass(InterpreterError, triton.TritonError)
assert type_canonicalisation_dict["float16"] == "fp16" and type_canonicalisation_dict["i1"] == "u1"
assert llvm.get_cpu_features() and all(name[0] not in "+-" for name in llvm.get_cpu_features())
assert triton.jit is tritium.jit is jit and testing is tritium.testing
assert triton.runtime.driver.active is driver.active is tritium.driver.active
assert driver.active.get_current_target().backend == "cpu"
assert JITFunction is tritium.JITFunction and triton.knobs is tritium.knobs
assert tritium.__spec__.name == "tritium" and tritium.runtime.__spec__.name == "tritium.runtime"
assert tritium.runtime.__name__ == "tritium.runtime"
import importlib.util
import triton.backends
assert importlib.util.find_spec("triton") is not None
assert "cpu" in triton.backends.backends and len(triton.backends.backends) >= 1
assert triton.backends.backends["cpu"].driver.is_active()
try:
    import triton.nonsense
except ModuleNotFoundError as error:
    assert "triton.nonsense" in str(error)
else:
    raise SystemExit("triton.nonsense was found")
try:
    triton.nonsense
except AttributeError as error:
    assert "provided by tritium" in str(error)
print(__name__, sys.argv[1:], sys.path[0])
"""


def test_run(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = python("-m", "tritium", "run", str(script), "--size", "3", "-m", "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"__main__ ['--size', '3', '-m', '--help'] {tmp_path}"


def test_run_propagates_exit_status_of_scripts(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys, triton; sys.exit(7)")
    assert python("-m", "tritium", "run", str(script)).returncode == 7
    script.write_text("def f():\n    raise ValueError('mine')\nf()")
    done = python("-m", "tritium", "run", str(script))
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("ValueError: mine") and "line 2, in f" in done.stderr


FAILING = """
import numpy as np
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"N": 4}), triton.Config({"N": 8})], key=[])
@triton.jit
def kernel(out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), missing)

def main():
    kernel[(1,)](np.zeros(8, np.float32))

if __name__ == "__main__":
    main()
"""


def test_errors_of_scripts_show_their_own_lines_only(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(FAILING)
    for arguments, env in (([str(script)], None), (["-m", "script"], {"PYTHONPATH": f"{ROOT}:{tmp_path}", "PATH": ""})):
        done = python("-m", "tritium", "run", *arguments, env=env)
        frames = [line.split(", ")[1:] for line in done.stderr.splitlines() if line.startswith("  File ")]
        assert frames == [["line 15", "in <module>"], ["line 12", "in main"]], done.stderr
        assert "NameError: missing is not defined" in done.stderr and done.returncode == 1
    script.write_text("import runpy\nrunpy.run_path(__file__ + '2')")
    (tmp_path / "script.py2").write_text("1 / 0")
    shown = python("-m", "tritium", "run", str(script)).stderr
    assert shown.count("script.py") == 2 and "run_path" in shown and "cli.py" not in shown
    script.write_text("def f(:")
    shown = python("-m", "tritium", "run", str(script)).stderr
    assert shown.startswith("  File ") and shown.rstrip().endswith("SyntaxError: invalid syntax")


def test_run_a_module(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text("import sys, triton; print(triton.__version__, sys.argv[1:])")
    env = {"PYTHONPATH": f"{ROOT}:{tmp_path}", "PATH": ""}
    done = python("-m", "tritium", "run", "-m", "package", "x", env=env)
    assert done.stdout.strip() == "3.9.0 ['x']", done.stderr


def test_run_without_a_script() -> None:
    done = python("-m", "tritium", "run", "/no/such/script.py")
    assert done.returncode == 2 and "there is no script '/no/such/script.py'" in done.stderr


def test_install_refuses_after_import_of_triton() -> None:
    text = (
        "import sys, types; sys.modules['triton'] = types.ModuleType('triton')\n"
        "import tritium\n"
        "try: tritium.install()\n"
        "except tritium.TritiumError as error: print(error)"
    )
    assert "hint: call tritium.install() before anything imports triton" in python("-c", text).stdout


@pytest.mark.shows("tritium.install")
def test_install_and_uninstall() -> None:
    text = (
        "import tritium, sys, importlib.util\n"
        "from tritium.dropin import alias\n"
        "tritium.install(); tritium.install()\n"
        "import triton\n"
        "assert triton.cdiv(5, 2) == 3 and dir(triton)\n"
        "alias.uninstall()\n"
        "assert 'triton' not in sys.modules\n"
        "print('ok')"
    )
    done = python("-c", text)
    assert done.stdout.strip() == "ok", done.stderr


def test_the_version_of_the_package_is_known_while_it_is_answered_for() -> None:
    text = (
        "import tritium, importlib.metadata as m\n"
        "before = {d.name for d in m.distributions()}\n"
        "tritium.install()\n"
        "import triton\n"
        "assert m.version('triton') == triton.__version__ == m.metadata('triton')['Version']\n"
        "assert {d.name for d in m.distributions()} == before | {'triton'}\n"
        "assert m.version('numpy') and not m.distribution('triton').files and m.entry_points() is not None\n"
        "from tritium.dropin import alias\n"
        "alias.uninstall()\n"
        "assert {d.name for d in m.distributions()} == before\n"
        "print('ok')"
    )
    done = python("-c", text)
    assert done.stdout.strip() == "ok", done.stderr


CHILDREN = """
import multiprocessing, os, subprocess, sys
if __name__ == "__main__":
    path = list(sys.path)
    import tritium
    tritium.install()
    import triton
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(eval, ("__import__('triton.language').__version__",)))
    child = "import triton, triton.language; print(triton.__version__, triton.language.__name__)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    print(subprocess.run([sys.executable, "-c", child], env=env, capture_output=True, text=True).stdout.strip())
    from tritium.dropin import alias
    alias.uninstall()
    assert sys.path == path
"""


def test_children_get_it_too(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(CHILDREN)
    done = python(str(tmp_path / "script.py"), env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.stdout.split("\n")[:2] == ["3.9.0", "3.9.0 tritium.language"], done.stderr


def test_importing_needs_neither_torch_nor_numpy_nor_llvm() -> None:
    text = "import sys, tritium; print([m for m in ('torch', 'numpy', 'llvmlite', 'triton') if m in sys.modules])"
    assert python("-c", text).stdout.strip() == "[]"


def test_programs_that_a_script_starts_find_it_too(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text("import triton; print(triton.__version__, triton.jit.__module__)")
    script = tmp_path / "parent.py"
    script.write_text(
        f"import subprocess, sys; subprocess.run([sys.executable, {str(tmp_path / 'child.py')!r}], check=True)"
    )
    done = python("-m", "tritium", "run", str(script), env={"PYTHONPATH": str(ROOT), "PATH": ""})
    assert done.stdout.strip() == "3.9.0 tritium.runtime.jit", done.stderr


REACHED = """
import tritium
from tritium.dropin.names import ADDED, LEFT_OUT, PLACES, REACHED
tritium.install()
import triton
from operator import attrgetter

class Tuner(triton.runtime.Autotuner):
    pass

# Triton has an object where the first would be; the others are to be imported there, too
by_name = {"triton.runtime.driver", "triton._C.libtriton", "triton.tools.link", "triton.tools.tensor_descriptor"}
for module in sorted({*ADDED, *REACHED} - by_name):
    found = attrgetter(module.removeprefix("triton."))(triton)
    missing = [name for name in ADDED.get(module, ()) if not hasattr(found, name)]
    assert not missing, (module, missing)
for name in ("triton.nonsense", "triton.runtime.nonsense", "triton.language.core.nonsense"):
    try:
        attrgetter(name.removeprefix("triton."))(triton)
    except AttributeError as error:
        assert "nonsense" in str(error)
    else:
        raise SystemExit(f"{name} was found")
assert triton.runtime.Config is triton.Config and triton.runtime.autotuner.Autotuner is triton.runtime.Autotuner
assert triton.runtime.InterpreterError is triton.InterpreterError
"""


WITHOUT_INSTALL = """
import sys
import tritium as triton

class Tuner(triton.runtime.Autotuner):
    pass

assert triton.compiler.compiler.CompiledKernel is triton.compiler.CompiledKernel
assert triton.errors.TritonError is triton.TritonError and triton.language.extra.cuda.gdc is triton.language.extra.cuda
assert triton.runtime.autotuner.Autotuner is triton.Autotuner and triton.testing.do_bench and triton.tools.disasm
assert "cpu" in triton.backends.backends and triton.backends.nvidia.compiler and triton.backends.driver.DriverBase
assert triton._C.libtriton.native_specialize_impl
import tritium.compiler.code_generator
import tritium.compiler.compiler as compiler
import tritium.language.extra.cuda.gdc
from tritium.compiler.errors import CompilationError, TritonError
from tritium.runtime._allocation import set_allocator
from tritium.language.semantic import TritonSemantic
assert sys.modules["tritium.compiler.compiler"] is compiler is triton.compiler.compiler
assert tritium.compiler.__spec__.name == "tritium.compiler" and tritium.compiler.__name__ == "tritium.compiler"
for text in ("import tritium.nonsense", "import tritium.compiler.nonsense", "tritium.runtime.nonsense", "tritium.nonsense"):
    try:
        exec(text)
    except (ModuleNotFoundError, AttributeError) as error:
        assert text.rpartition(" ")[2].rpartition(".")[2] in str(error), error
    else:
        raise SystemExit(f"{text} did not fail")
try:
    import tritium.ops
except ModuleNotFoundError as error:
    assert "tritium.ops is not part of tritium: Triton gave it up in 3.1" in str(error), error
assert "triton" not in sys.modules
from operator import attrgetter
from tritium.dropin.names import ADDED, REACHED
by_name = {"triton.runtime.driver", "triton.tools.link", "triton.tools.tensor_descriptor"}  # as in Triton
for module in sorted({*ADDED, *REACHED} - by_name):
    found = attrgetter(module.removeprefix("triton."))(tritium)
    missing = [name for name in ADDED.get(module, ()) if not hasattr(found, name)]
    assert not missing, (module, missing)
"""


def test_import_tritium_as_triton_reaches_modules_without_install(tmp_path: Path) -> None:
    pytest.importorskip("torch")  # some of the modules are about its tensors
    script = tmp_path / "script.py"
    script.write_text(WITHOUT_INSTALL)
    done = python(str(script))
    assert done.returncode == 0, done.stderr


def test_import_does_not_load_tables_of_triton_names() -> None:
    code = (
        "import sys, tritium\n"
        "from tritium import jit, language, runtime, testing\n"
        "assert not hasattr(tritium, '__wrapped__') and not hasattr(runtime, '__no_such_attribute__')\n"
        "print({'tritium.dropin.alias', 'tritium.dropin.names'} & set(sys.modules))"
    )
    assert python("-c", code).stdout.strip() == "set()"


def test_modules_are_attributes_without_an_import_of_each(tmp_path: Path) -> None:
    """`import triton; triton.runtime.Autotuner`, as programs have it that import nothing else."""
    pytest.importorskip("torch")
    script = tmp_path / "script.py"
    script.write_text(REACHED)
    done = python(str(script))
    assert done.returncode == 0, done.stderr
