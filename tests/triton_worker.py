"""The other end of `triton_oracle`: runs under an interpreter that has Triton, answers one JSON line for each it reads.

It imports nothing of this project. What the libraries write to standard error while they work on a request comes back
with the answer; standard output belongs to the protocol, so that whatever else is printed goes to standard error too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from triton import __version__, knobs
from triton import compile as triton_compile
from triton._C import libtriton
from triton._C.libtriton import ir, passes
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton.experimental.gluon import language as ttgl

WARP_SIZES = {"cuda": 32, "hip": 64}
NARROW = ("gfx10", "gfx11", "gfx12")  # AMD GPUs whose waves have 32 lanes
SCRATCH = Path(tempfile.mkdtemp(prefix="triton-worker-"))
PASS_ROOMS = [passes.common, passes.ttir, passes.ttgpuir]
PASS_ROOMS += [libtriton.nvidia.passes.ttnvgpuir, libtriton.nvidia.passes.hopper, libtriton.nvidia.passes.nvws]
PASS_ROOMS += [libtriton.amd.passes.ttgpuir]


def target_of(name: str) -> GPUTarget:
    """`cuda:90` or `hip:gfx942` as Triton's own value."""
    backend, arch = name.split(":")
    return GPUTarget(
        backend, int(arch) if arch.isdigit() else arch, 32 if arch.startswith(NARROW) else WARP_SIZES[backend]
    )


def context() -> Any:
    """A context that knows every dialect of Triton, of its profiler, and of both vendors."""
    fresh = ir.context()
    ir.load_dialects(fresh)
    libtriton.proton.load_dialects(fresh)
    for name in ("cuda:90", "hip:gfx942"):
        make_backend(target_of(name)).load_dialects(fresh)
    return fresh


def load(text: str) -> Any:
    """The module of a text, and the context that owns it."""
    path = SCRATCH / "input.mlir"
    path.write_text(text)
    owner = context()
    return ir.parse_mlir_module(str(path), owner), owner


def printed(module: Any, locations: bool) -> str:
    return str(module) if locations else module.str_nodebug()


def read(text: str, locations: bool = False) -> dict[str, Any]:
    module, _owner = load(text)
    if not module.verify():
        raise ValueError("the module does not verify")
    return {"text": printed(module, locations)}


def run_passes(text: str, names: list[Any], locations: bool = False) -> dict[str, Any]:
    """Each of `names` is a pass (`add_<name>` of Triton's bindings, `amd.<name>` of those for AMD GPUs), or a list of
    a name and its arguments."""
    module, owner = load(text)
    manager = ir.pass_manager(owner)
    for entry in names:
        name, *arguments = [entry] if isinstance(entry, str) else entry
        rooms = [libtriton.amd.passes.ttgpuir] if name.startswith("amd.") else PASS_ROOMS
        name = name.removeprefix("amd.")
        room = next((room for room in rooms if hasattr(room, "add_" + name)), None)
        if room is None:
            raise ValueError(f"Triton has no pass {name}")
        getattr(room, "add_" + name)(manager, *arguments)
    manager.run(module, "oracle")
    return {"text": printed(module, locations)}


def stages_of(kernel: Any) -> dict[str, str]:
    """All texts of a compiled kernel; of binaries their size in bytes."""
    out = {}
    for name in list(kernel.asm):
        value = kernel.asm[name]
        out[name] = value if isinstance(value, str) else f"{len(value)} bytes"
    return out


def resources_of(kernel: Any) -> dict[str, Any]:
    """Bytes of shared memory, and of a CUDA kernel its registers, stack, columns of tensor memory, and tensor maps."""
    found = {"shared": kernel.metadata.shared, "maps": list(getattr(kernel.metadata, "tensordesc_meta", None) or ())}
    if "cubin" in kernel.asm:
        path = SCRATCH / "kernel.cubin"
        path.write_bytes(kernel.asm["cubin"])
        command = [knobs.nvidia.cuobjdump.path, "--dump-resource-usage", str(path)]
        usage = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found["tensor_memory"] = kernel.metadata.tmem_size
        for key, word in (("registers", "REG"), ("stack", "STACK")):
            found[key] = int(re.findall(rf"{word}:(\d+)", usage)[-1])
    return found


def compile_text(text: str, target: str, kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """Compile a `ttir` or `ttgir` text to the end of the target's pipeline."""
    path = SCRATCH / f"kernel.{kind}"
    path.write_text(text)
    kernel = triton_compile(str(path), target=target_of(target), options=options)
    return {"stages": stages_of(kernel), "resources": resources_of(kernel)}


def compile_kernel(
    path: str,
    name: str,
    signature: dict[str, str],
    constants: dict[str, Any],
    target: str,
    attributes: dict[str, int],
    options: dict[str, Any],
) -> dict[str, Any]:
    """Compile the kernel `name` of a Python file; `attributes` gives an argument's known divisor (16 in general)."""
    source = source_of(path, name, signature, constants, attributes)
    compiled = triton_compile(source, target=target_of(target), options=options)
    return {"stages": stages_of(compiled), "resources": resources_of(compiled)}


def first_module(path: str, name: str, signature: dict[str, str], constants: dict[str, Any]) -> dict[str, Any]:
    """The module of a kernel as it leaves the frontend."""
    target, fresh = target_of("cuda:90"), context()
    backend = make_backend(target)
    options = backend.parse_options({})
    functions = backend.get_codegen_implementation(options), backend.get_module_map()
    module = source_of(path, name, signature, constants, {}).make_ir(target, options, *functions, fresh)
    return {"text": printed(module, False)}


def source_of(
    path: str, name: str, signature: dict[str, str], constants: dict[str, Any], attributes: dict[str, int]
) -> ASTSource:
    """The kernel `name` of a Python file."""
    spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", Path(path).stem), path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    kernel = getattr(module, name)
    full = {arg: "constexpr" if arg in constants else signature[arg] for arg in kernel.arg_names}
    known = {(kernel.arg_names.index(arg),): [["tt.divisibility", divisor]] for arg, divisor in attributes.items()}
    return ASTSource(kernel, full, constexprs=constants, attrs=known)


def gluon_layout(description: list[Any]) -> Any:
    """A layout of Triton's Gluon language from its class's name and arguments, descriptions of layouts among them."""
    name, *arguments = description
    return (getattr(ttgl, name, None) or getattr(ttgl.amd, name))(
        *[gluon_layout(a) if isinstance(a, list) and a[:1] and isinstance(a[0], str) else a for a in arguments]
    )


def layout(description: list[Any], shape: list[int]) -> dict[str, Any]:
    """The bases of the linear layout that Triton takes a named layout for."""
    owner = context()
    builder = libtriton.gluon_ir.GluonOpBuilder(owner)
    found = builder.to_linear_layout(gluon_layout(description)._to_ir(builder), shape)
    names = {"register": "reg_bases", "lane": "lane_bases", "warp": "warp_bases"}
    names = {"offset": "offset_bases"} if hasattr(found, "offset_bases") else names
    return {"bases": {ours: getattr(found, theirs) for ours, theirs in {**names, "block": "block_bases"}.items()}}


def assemble_amd(text: str, arch: str) -> dict[str, Any]:
    """The object of AMDGCN assembly, in hexadecimal digits."""
    from triton.backends.amd.compiler import assemble_amdgcn

    return {"object": assemble_amdgcn(text, arch, "").hex()}


def link_amd(code: str) -> dict[str, Any]:
    """The code object that LLD makes of an object, both in hexadecimal digits."""
    before, after = SCRATCH / "linked.o", SCRATCH / "linked.hsaco"
    before.write_bytes(bytes.fromhex(code))
    libtriton.amd.link_hsaco(str(before), str(after))
    return {"linked": after.read_bytes().hex()}


HANDLERS = {
    "layout": layout,
    "read": read,
    "run_passes": run_passes,
    "compile_text": compile_text,
    "compile_kernel": compile_kernel,
    "first_module": first_module,
    "assemble_amd": assemble_amd,
    "link_amd": link_amd,
}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What one request leads to; an exception becomes the answer's `error`."""
    os.lseek(2, 0, os.SEEK_SET)
    os.ftruncate(2, 0)
    try:
        out = HANDLERS[request.pop("do")](**request)
    except Exception as problem:
        message = f"{type(problem).__name__}: {problem}"
        if not isinstance(problem, (RuntimeError, ValueError)):
            message += "\n" + traceback.format_exc(limit=-4)
        out = {"error": message}
    sys.stderr.flush()
    with open(SCRATCH / "stderr", errors="replace") as file:
        out["log"] = file.read()
    return out


def main() -> None:
    replies = os.fdopen(os.dup(1), "w")
    log = os.open(SCRATCH / "stderr", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 2)
    os.dup2(log, 1)
    knobs.cache.dir = str(SCRATCH / "cache")
    knobs.compilation.always_compile = True
    print(json.dumps({"version": __version__, "log": str(SCRATCH / "stderr")}), file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
