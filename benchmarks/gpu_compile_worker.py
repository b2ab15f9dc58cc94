"""The process that `gpu_compile.py` measures: compiles kernels with `tritium` or `triton`, a request a line.

It imports nothing that it does not need: of a cold process, the start of Python, the imports and the compile are timed.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
from typing import Any

MACHINE_CODE = ("cubin", "hsaco")


def target_of(text: str) -> tuple[str, Any, int]:
    """`cuda:90` and `hip:gfx942` as backend, architecture and threads of a warp."""
    backend, _, arch = text.partition(":")
    if backend == "cuda":
        return backend, int(arch), 32
    return backend, arch, 64 if arch.startswith("gfx9") else 32


def kernel_of(path: str, name: str) -> Any:
    """The kernel of a Python file, which is imported now."""
    stem = "".join(c if c.isalnum() else "_" for c in os.path.basename(path).removesuffix(".py"))
    spec = importlib.util.spec_from_file_location(stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def compile_case(package: str, target_name: str, case: dict[str, Any]) -> dict[str, Any]:
    """Compile a case once with `tritium` or `triton`: seconds, those of each stage, registers where they are known."""
    compiler = importlib.import_module(f"{package}.compiler")
    target = importlib.import_module(f"{package}.backends.compiler").GPUTarget(*target_of(target_name))
    fn = kernel_of(case["path"], case["kernel"])
    names = fn.arg_names
    types = {n: "constexpr" if n in case["constants"] else case["signature"][n] for n in names}
    attrs = {(names.index(n),): [["tt.divisibility", d]] for n, d in case["divisible"].items()}
    source = compiler.ASTSource(fn, types, constexprs=case["constants"], attrs=attrs)
    told: dict[str, Any] = {}
    importlib.import_module(f"{package}.knobs").compilation.listener = lambda **arguments: told.update(arguments)
    start = time.perf_counter()
    kernel = compiler.compile(source, target=target, options=case["options"])
    seconds = time.perf_counter() - start
    code = next((kernel.asm[stage] for stage in MACHINE_CODE if stage in kernel.asm), b"")
    if code[:4] != b"\x7fELF":
        raise RuntimeError("no machine code came out")
    times = told["times"]
    stages = {"source": times.ir_initialization, **dict(times.lowering_stages), "stored": times.store_results}
    return {
        "seconds": seconds,
        "stages": {name: us / 1e3 for name, us in stages.items()},
        "registers": getattr(kernel.metadata, "n_regs", None),
    }


def main(package: str, target: str) -> None:
    """Answer requests, a JSON text a line, until there are no more."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what compilers print must not come between the replies
    for line in sys.stdin:
        try:
            reply = compile_case(package, target, json.loads(line))
        except Exception as error:  # a kernel that one of the two cannot compile is a line of the table
            reply = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
