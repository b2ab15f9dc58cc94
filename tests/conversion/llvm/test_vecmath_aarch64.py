"""The vector math functions as AArch64 code, in an emulator: the same bits as on this machine.

Needs unicorn (`pip install unicorn`); what every machine checks is that the code compiles and calls nothing
(test_vecmath.py).
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.conversion.llvm import vecmath_harness as harness
from tests.conversion.llvm.test_vecmath import arguments, pairs_of_arguments
from tritium.backends.cpu.elf import parse_elf
from tritium.backends.cpu.llvm import compile_llvm
from tritium.backends.cpu.loader import _Image
from tritium.backends.cpu.target import named_target
from tritium.conversion.llvm.vecmath import MATH_FUNCTIONS, vector_math_function

unicorn = pytest.importorskip("unicorn", reason="unicorn, the emulator, is not installed")
arm64 = pytest.importorskip("unicorn.arm64_const")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

CODE, STACK, DATA, STACK_SIZE = 0x1000_0000, 0x2000_0000, 0x3000_0000, 1 << 20
PAGE = 1 << 16


def image_of(text: str) -> tuple[bytes, int]:
    """The linked code at CODE, and the address of @loop."""
    image = _Image(parse_elf(compile_llvm(text, named_target("aarch64")).object), {})
    buffer = bytearray(max(image.size, PAGE))
    with memoryview(buffer) as view:
        for index, offset in image.offsets.items():
            body = image.elf.sections[index].data
            if body is not None:
                view[offset : offset + len(body)] = body
        image._fill_slots(view, CODE)
        image._relocate(view, CODE)
    return bytes(buffer), image._exports(CODE)["loop"]


def emulate(name: str, element: str, lanes: int, inputs: list[np.ndarray]) -> np.ndarray:
    """The function `name` over the arrays, all of one length that the lanes divide."""
    code, entry = image_of(harness.loop_text(vector_math_function(name, element, lanes), len(inputs)))
    machine = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
    machine.mem_map(CODE, -(-len(code) // PAGE) * PAGE)
    machine.mem_write(CODE, code)
    machine.mem_map(STACK, STACK_SIZE)
    size = inputs[0].nbytes
    step = -(-size // PAGE) * PAGE
    machine.mem_map(DATA, step * (len(inputs) + 1))
    for i, array in enumerate(inputs, 1):
        machine.mem_write(DATA + step * i, array.tobytes())
    machine.reg_write(arm64.UC_ARM64_REG_CPACR_EL1, 3 << 20)  # switch the vector unit on
    for i in range(len(inputs) + 1):
        machine.reg_write(arm64.UC_ARM64_REG_X0 + i, DATA + step * i)
    machine.reg_write(arm64.UC_ARM64_REG_X0 + len(inputs) + 1, inputs[0].size)
    machine.reg_write(arm64.UC_ARM64_REG_SP, STACK + STACK_SIZE - 64)
    machine.reg_write(arm64.UC_ARM64_REG_LR, STACK)
    machine.emu_start(entry, STACK)
    return np.frombuffer(bytes(machine.mem_read(DATA, size)), harness.DTYPE[element])


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("name", MATH_FUNCTIONS)
def test_same_bits_as_on_this_machine(name: str, element: str) -> None:
    arity = MATH_FUNCTIONS[name].arity
    drawn = pairs_of_arguments(name, element, 1 << 10) if arity > 1 else (arguments(name, element, 1 << 10),)
    if arity == 3:
        drawn = (*drawn, drawn[0][::-1])
    lanes = 4 if element == "f32" else 2
    count = drawn[0].size // lanes * lanes
    inputs = [np.ascontiguousarray(a[:count], harness.DTYPE[element]) for a in drawn]
    got, expected = emulate(name, element, lanes, inputs), harness.compiled(name, element, lanes)(*inputs)
    same = (got == expected) & (np.signbit(got) == np.signbit(expected)) | (np.isnan(got) & np.isnan(expected))
    assert same.all(), ([a[~same][:3] for a in inputs], got[~same][:3], expected[~same][:3])
