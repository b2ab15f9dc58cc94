"""Record what Triton 3.9 makes of kernels: its `ttir` and `ttgir` texts, with locations.

    <python with Triton 3.9> tests/corpus/record.py --examples
    <python with Triton 3.9> tests/corpus/record.py --tutorials <triton checkout>/python/tutorials --out DIR [--passes]

The first form compiles the kernels of our `examples/` and rewrites `tests/corpus/triton-3.9/`, which tests read. The
second takes the tutorials of a checkout of Triton and writes into a folder of yours; `--passes` adds the text before
each pass that changed something. Neither needs a GPU, nor torch: only the functions that Triton compiles are taken from
a file. `--only TEXT` restricts both to files whose name contains TEXT. The kernels stand in `tests/example_kernels.py`
and `kernels.py`.
"""

from __future__ import annotations

import argparse
import ast
import linecache
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import triton
from kernels import TUTORIALS, Kernel
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton.runtime.driver import driver

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from example_kernels import CASES  # noqa: E402  (a table that needs nothing of ours)

FOR_ALL = ("vector_add", "fused_softmax", "matmul", "attention", "persistent_matmul")
STAGES = ("source", "ttir", "ttgir")
PREFIX = str(Path(triton.__file__).parent.parent) + os.sep
DUMP = re.compile(r"^// -----// IR Dump Before (?:\(.*?\)::)?(\w+)[^\n]*//----- //\n", re.MULTILINE)
LANGUAGE = r"(triton|tritium)(\.language.*)?$"


def is_jit(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(target) in ("triton.jit", "jit")


def bare_jit(decorator: ast.expr) -> ast.expr:
    """`triton.jit` without arguments, on the decorator's line: where the function's source begins is told by it."""
    bare = ast.parse("triton.jit", mode="eval").body
    for node in ast.walk(bare):
        ast.copy_location(node, decorator)
    return bare


def kept(node: ast.stmt) -> ast.stmt | None:
    """What of a file is executed: imports of the language, functions for the device, and constants they may use."""
    if isinstance(node, ast.Import) and re.match(LANGUAGE, node.names[0].name):
        for name in node.names:
            name.name = name.name.replace("tritium", "triton")
        return node
    if isinstance(node, ast.ImportFrom) and re.match(LANGUAGE, node.module or ""):
        node.module = (node.module or "").replace("tritium", "triton")
        return node
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = [bare_jit(decorator) for decorator in node.decorator_list if is_jit(decorator)]
        return node if node.decorator_list else None
    if isinstance(node, ast.AnnAssign) and "constexpr" in ast.unparse(node.annotation):
        return node
    return None


def module_of(path: Path, shown: str) -> ModuleType:
    """The kernels of a file as a module; locations will name the file as `shown`."""
    text = path.read_text()
    tree = ast.parse(text)
    tree.body = [node for node in map(kept, tree.body) if node is not None]
    ast.fix_missing_locations(tree)
    module = ModuleType(re.sub(r"\W", "_", path.stem))
    module.__dict__["__file__"] = shown
    sys.modules[module.__name__] = module
    linecache.cache[shown] = (len(text), None, text.splitlines(keepends=True), shown)
    exec(compile(tree, shown, "exec"), module.__dict__)
    return module


def example_kernels() -> Iterator[Kernel]:
    """The kernels of our examples for sm90, or sm100 where they need it; the first of some for other GPUs, too.

    So the files stay small. sm120 is left out: its texts have nothing that those of sm80 and sm100 have not.
    """
    seen: set[str] = set()
    for case in CASES:
        args = {n: f"{ty}:{case.divisible[n]}" if n in case.divisible else ty for n, ty in case.signature.items()}
        targets = ["cuda:90"] if case.capability <= 90 else []
        if (case.example in FOR_ALL and case.example not in seen) or case.capability > 90:
            targets += ["cuda:80", "hip:gfx942"] if case.capability <= 80 else []
            targets.append("cuda:100")
        seen.add(case.example)
        variant = case.name.partition("-")[2]
        yield Kernel(f"{case.example}.py", case.kernel, args, case.constants, case.options, tuple(targets), variant)


def target_of(name: str) -> GPUTarget:
    backend, arch = name.split(":")
    return GPUTarget(backend, int(arch) if arch.isdigit() else arch, 32 if backend == "cuda" else 64)


class OnlyATarget:
    """Triton's notion of an active GPU, for library functions that ask which it is."""

    def __init__(self, target: GPUTarget) -> None:
        self.target = target

    def get_current_target(self) -> GPUTarget:
        return self.target


def source_of(function: Any, kernel: Kernel) -> ASTSource:
    signature, attributes = {}, {}
    for index, name in enumerate(function.arg_names):
        text = "constexpr" if name in kernel.constants else kernel.args[name]
        signature[name], _, divisor = text.partition(":")
        if divisor:
            attributes[(index,)] = [["tt.divisibility", int(divisor)]]
    return ASTSource(function, signature, constexprs=kernel.constants, attrs=attributes)


@contextmanager
def stderr_into(path: Path) -> Iterator[None]:
    """What the libraries write to standard error goes to a file meanwhile."""
    saved = os.dup(2)
    with open(path, "wb") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)


def stages_of(function: Any, kernel: Kernel, target: str, further: bool) -> Iterator[tuple[str, str]]:
    """The stages up to `ttgir` and their texts; `further` also runs the stage after it, for its passes."""
    backend = make_backend(target_of(target))
    driver.set_active(OnlyATarget(backend.target))
    options = backend.parse_options(dict(kernel.options))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source, stages = source_of(function, kernel), {}
    backend.add_stages(stages, options, Language.TRITON)
    module = source.make_ir(
        backend.target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
    )
    yield "source", str(module)
    metadata: dict[str, Any] = {"target": backend.target, **options.__dict__}
    for stage in ("ttir", "ttgir"):
        module = stages[stage](module, metadata)
        yield stage, str(module)
    if further:
        stages["llir"](module, metadata)


def shown_paths(text: str) -> str:
    """The text with Triton's own files named relative to its package."""
    return text.replace(PREFIX, "")


def texts_of_passes(dump: str) -> Iterator[tuple[str, str]]:
    """(name, text) of each pass before which the module differs from the last text, without LLVM's dialect."""
    parts = DUMP.split(dump)[1:]
    last = ""
    for number, (name, text) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        if name in ("ConvertTritonGPUToLLVM", "ConvertTritonAMDGPUToLLVM"):
            return
        modules = re.findall(r"^module\b", text, flags=re.MULTILINE)  # some passes print more than they are asked for
        if text.strip() != last and len(modules) == 1:
            yield f"{number:03}-{name}", text.strip() + "\n"
        last = text.strip()


def record(kernel: Kernel, module: ModuleType, out: Path, stages: tuple[str, ...], passes: bool) -> Iterator[str]:
    """Write the files of one kernel, each text once; yields a line for each target that failed."""
    written: set[str] = set()
    for target in kernel.targets:
        name = f"{kernel.name}.{target.replace('cuda:', 'sm').replace('hip:', '')}"
        log = Path(tempfile.gettempdir()) / f"record-{os.getpid()}.log"
        if passes:
            os.environ["MLIR_ENABLE_DUMP"] = "1"
        try:
            with stderr_into(log):
                for stage, text in stages_of(getattr(module, kernel.function), kernel, target, passes):
                    if stage in stages and text not in written:
                        written.add(text)
                        (out / f"{name}.{stage}.mlir").write_text(shown_paths(text))
        except Exception as problem:
            yield f"{name}: {type(problem).__name__}: {str(problem)[:200]}"
        if passes:
            folder = out / "passes" / name
            folder.mkdir(parents=True, exist_ok=True)
            for title, text in texts_of_passes(log.read_text(errors="replace")):
                (folder / f"{title}.mlir").write_text(shown_paths(text))
        log.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", action="store_true")
    parser.add_argument("--tutorials", type=Path)
    parser.add_argument("--out", type=Path, default=HERE / "triton-3.9")
    parser.add_argument("--passes", action="store_true")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if arguments.examples == bool(arguments.tutorials):
        parser.error("give --examples or --tutorials DIR")
    folder, shown = (ROOT / "examples", "examples/") if arguments.examples else (arguments.tutorials, "tutorials/")
    arguments.out.mkdir(parents=True, exist_ok=True)
    modules: dict[str, ModuleType] = {}
    failed = 0
    for kernel in example_kernels() if arguments.examples else TUTORIALS:
        if arguments.only not in kernel.name:
            continue
        if kernel.file not in modules:
            modules[kernel.file] = module_of(folder / kernel.file, shown + kernel.file)
        stages = ("ttir", "ttgir") if arguments.examples else STAGES
        for line in record(kernel, modules[kernel.file], arguments.out, stages, arguments.passes):
            print(line)
            failed += 1
        print(kernel.name, flush=True)
    print(f"{failed} failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
