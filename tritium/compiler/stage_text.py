"""Information about a kernel in the text of a stage, without parsing a module: name, argument types, options.

The text of a GPU's `llir`, `ptx` or `amdgcn` has the launch options in a comment (written by the `stages` of backends):

    Launch: num_warps=4, num_ctas=1, shared=4096
"""

from __future__ import annotations

import re
from typing import Any

from ..support.patterns import pattern

__all__ = ["MLIR_STAGES", "kernel_symbol", "stated_options", "stated_signature"]

MLIR_STAGES = ("source", "ttir", "ttcir", "ttgir")

_SYMBOLS = {
    "ptx": pattern(r"^\s*(?:\.visible\s+)?\.entry\s+([\w$]+)\s*\(", re.M),
    "amdgcn": pattern(r"^\s*\.amdhsa_kernel\s+([\w$.]+)", re.M),
    "llir": pattern(
        r"define\s+(?:dso_local\s+)?(?!internal\b|private\b)[\w\s()]*?void\s+@\"?([\w.$]+)\"?\s*\(",
    ),
}
_FUNCTION = pattern(r"tt\.func\s+(?:public\s+)?@\"?([\w.$]+)\"?\s*\(")

_PTX_TYPES = {"u": "i", "s": "i", "b": "i", "f": "fp"}
_LLVM_TYPES = {"half": "fp16", "bfloat": "bf16", "float": "fp32", "double": "fp64"}
_FLOATS = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64"}

#: The pointers that every kernel takes after the user's arguments: global scratch memory, and a profiler's.
SCRATCH_ARGUMENTS = 2


def kernel_symbol(text: str, stage: str) -> str | None:
    """The name of the kernel in a text, None if there is none."""
    found = _SYMBOLS.get(stage, _FUNCTION).search(text)
    return found[1] if found else None


def stated_signature(text: str, stage: str) -> dict[str, str]:
    """The types of the kernel's arguments by name, as signatures spell them; empty if the text does not contain
    them."""
    if stage in MLIR_STAGES:
        head = re.search(r"tt\.func[^@]*@\"?[\w.$]+\"?\s*\((.*?)\)\s*(?:attributes|->|\{)", text, re.S)
        pattern = (
            r"%([\w$.-]+)\s*:\s*(![\w.]+<[^<>]*(?:<[^<>]*>)?[^<>]*>|\w+)(?!\s*\{tritium\.(?:host_map|launch_value))"
        )
        return {name: _mlir_type(ty) for name, ty in re.findall(pattern, head[1] if head else "")}
    if stage == "ptx":
        head = re.search(r"\.entry\s+[\w$]+\s*\((.*?)\)", text, re.S)
        types = [
            _ptx_type(kind, rest) for kind, rest in re.findall(r"\.param\s+\.(\w+)([^,]*)", head[1] if head else "")
        ]
    elif stage == "llir":
        head = re.search(r"define\s[^\n]*?(?:ptx|amdgpu)_kernel\s+void\s+@[^(]*\((.*)\)[^\n]*\{", text)
        types = [_llvm_type(part) for part in re.findall(r"(?:^|, )(ptr|[a-z]\w*)\b", head[1])] if head else []
    else:
        return {}
    return {f"arg{i}": ty for i, ty in enumerate(types[:-SCRATCH_ARGUMENTS])}


def stated_options(text: str) -> dict[str, Any]:
    """The launch options in a text, or the module's number of warps."""
    comment = re.search(r"^(?:;|//) Launch: num_warps=(\d+), num_ctas=(\d+), shared=(\d+)$", text, re.M)
    if comment:
        warps, ctas, shared = map(int, comment.groups())
        return {"num_warps": warps, "num_ctas": ctas, **({"min_shared_mem": shared} if shared else {})}
    stated = dict(re.findall(r'"ttg\.(num-warps|num-ctas)"\s*=\s*(\d+)', text))
    if stated:
        return {name.replace("-", "_"): int(number) for name, number in stated.items()}
    threads = re.search(r'\.reqntid\s+(\d+)|"nvvm\.reqntid"="(\d+)', text)
    if threads:
        return {"num_warps": int(threads[1] or threads[2]) // 32}
    sizes = dict(re.findall(r"\.(max_flat_workgroup_size|wavefront_size):\s*(\d+)", text))
    return (
        {"num_warps": int(sizes["max_flat_workgroup_size"]) // int(sizes["wavefront_size"])} if len(sizes) > 1 else {}
    )


def _mlir_type(ty: str) -> str:
    """`!tt.ptr<f32>` is `*fp32`."""
    pointer = re.fullmatch(r"!tt\.ptr<(.*?)(?:,\s*\d+)?>", ty)
    if pointer:
        return "*" + _mlir_type(pointer[1])
    return _FLOATS.get(ty, ty)


def _ptx_type(kind: str, rest: str) -> str:
    """`.u64 .ptr .global` is an address; the signedness of `.u32` is unknown."""
    return "*i8" if ".ptr" in rest else _PTX_TYPES.get(kind[0], "i") + kind[1:]


def _llvm_type(ty: str) -> str:
    return "*i8" if ty == "ptr" else _LLVM_TYPES.get(ty, ty)
