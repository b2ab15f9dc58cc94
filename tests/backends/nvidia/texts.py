"""LLVM texts of small kernels, and what the tests that assemble them need."""

from __future__ import annotations

import pytest

from tritium.backends.errors import PTXASError
from tritium.backends.nvidia.toolchain import find_tool


def missing(name: str) -> str | None:
    """Why tests that need this tool cannot run here, or None where they can."""
    try:
        return None if find_tool(name) else f"{name} is not installed"
    except PTXASError as error:
        return str(error)


needs_ptxas = pytest.mark.skipif(missing("ptxas") is not None, reason=str(missing("ptxas")))
needs_nvdisasm = pytest.mark.skipif(missing("nvdisasm") is not None, reason=str(missing("nvdisasm")))
needs_libdevice = pytest.mark.skipif(missing("libdevice") is not None, reason=str(missing("libdevice")))

ADD = """
define ptx_kernel void @add(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %n) #0 {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %in = icmp slt i32 %i, %n
  br i1 %in, label %body, label %end
body:
  %px = getelementptr float, ptr addrspace(1) %x, i32 %i
  %py = getelementptr float, ptr addrspace(1) %y, i32 %i
  %a = load float, ptr addrspace(1) %px
  %b = load float, ptr addrspace(1) %py
  %m = fmul CONTRACT float %a, %b
  %s = fadd CONTRACT float %m, %b
  store float %s, ptr addrspace(1) %py
  br label %end
end:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
attributes #0 = { nounwind "nvvm.reqntid"="128" }
"""


def add(contract: bool = True) -> str:
    """A masked `y = x * y + y`, which may become one FMA or not."""
    return ADD.replace("CONTRACT", "contract" if contract else "")


def math(*functions: str) -> str:
    """`x[0] = f(g(x[0]))` for functions of libdevice on floats."""
    lines = ["  %v0 = load float, ptr addrspace(1) %x"]
    for i, name in enumerate(functions):
        lines.append(f"  %v{i + 1} = call float @{name}(float %v{i})")
    body = "\n".join([*lines, f"  store float %v{len(functions)}, ptr addrspace(1) %x", "  ret void"])
    declares = "\n".join(f"declare float @{name}(float)" for name in dict.fromkeys(functions))
    return f"define ptx_kernel void @math(ptr addrspace(1) %x) {{\n{body}\n}}\n{declares}\n"


def many_registers(count: int = 96) -> str:
    """A kernel that keeps `count` numbers at a time: more than a small limit of registers allows."""
    lines = []
    for i in range(count):
        lines.append(f"  %p{i} = getelementptr i32, ptr addrspace(1) %x, i32 {i}")
        lines.append(f"  %v{i} = load volatile i32, ptr addrspace(1) %p{i}")
    lines += [f"  store volatile i32 %v{i}, ptr addrspace(1) %p{count - 1 - i}" for i in range(count)]
    body = "\n".join(lines)
    return f'define ptx_kernel void @many(ptr addrspace(1) %x) "nvvm.maxnreg"="32" {{\n{body}\n  ret void\n}}\n'
