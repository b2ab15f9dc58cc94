"""A CUDA driver without a GPU: functions of the same names and signatures, callable from native code as the real ones.

It keeps what was asked of it (`calls`, `launches`), has memory that kernels never touch, and fails where told to.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tritium.backends.nvidia import libcuda
from tritium.backends.nvidia.launch import Config, _Attribute
from tritium.emulator import LaunchError, encode_tiled

ATTRIBUTES = {1: 1024, 5: 2**31 - 1, 6: 65535, 7: 65535, 10: 32, 12: 65536, 13: 1980000, 16: 132, 36: 3201000, 37: 5120}
ATTRIBUTES |= {38: 50 << 20, 81: 228 << 10, 95: 1, 97: 227 << 10}
NAMES = {
    2: "OUT_OF_MEMORY",
    700: "ILLEGAL_ADDRESS",
    701: "LAUNCH_OUT_OF_RESOURCES",
    209: "NO_BINARY_FOR_GPU",
    1: "INVALID_VALUE",
}
HOST_POINTER = 0x5000
CONTEXT, MODULE, FUNCTION = 0x1000, 0x20000, 0x30000


@dataclass
class Launch:
    """One launch as the driver saw it."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    stream: int
    attributes: dict[int, tuple[int, ...]]
    function: int
    params: bytes
    context: int


@dataclass
class FakeCuda:
    """`version` and `capability` of its GPUs; `failing` maps the name of a function to the status it returns."""

    version: int = 13000
    gpus: int = 1
    capability: tuple[int, int] = (9, 0)
    failing: dict[str, int] = field(default_factory=dict)
    registers: int = 32
    max_threads: int = 1024
    missing: tuple[str, ...] = ("cuFuncGetParamInfo",)
    parameters: tuple[tuple[int, int], ...] = ()  # offset and size of each, of every kernel
    refusal: str = ""  # what the driver's compiler says of any text
    memory: dict[range, int] = field(default_factory=dict)  # addresses -> number of the GPU, -1 for locked host pages
    attributes: dict[int, int] = field(default_factory=lambda: dict(ATTRIBUTES))

    def __post_init__(self) -> None:
        self.calls: list[str] = []
        self.launches: list[Launch] = []
        self.asked: list[tuple[int, int]] = []  # function attributes that were set
        self.loaded: list[bytes] = []
        self.linked: list[str] = []  # texts given to the driver's compiler
        self.link_options: dict[int, int] = {}
        self.entries: list[str] = []
        self.stack: list[int] = [0]  # contexts of the (one) thread
        self._texts: list[Any] = []
        for name, (symbol, kinds) in libcuda.FUNCTIONS.items():
            if symbol not in self.missing:
                setattr(self, symbol, ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(self._entry(name, symbol)))

    def _entry(self, name: str, symbol: str) -> Any:
        run = getattr(self, f"do_{name}", None)

        def call(*args: Any) -> int:
            self.calls.append(symbol)
            if symbol in self.failing:
                return self.failing[symbol]
            return (run(*args) if run is not None else 0) or 0

        return call

    # -- what the functions do ----------------------------------------------------------------------------------------

    def do_driver_version(self, to: int) -> None:
        _put(to, ctypes.c_int, self.version)

    def do_device_count(self, to: int) -> None:
        _put(to, ctypes.c_int, self.gpus)

    def do_device_get(self, to: int, index: int) -> None:
        _put(to, ctypes.c_int, 100 + index)

    def do_device_name(self, to: int, size: int, handle: int) -> None:
        ctypes.memmove(to, b"Fake GPU\0", 9)

    def do_device_memory(self, to: int, handle: int) -> None:
        _put(to, ctypes.c_size_t, 1 << 34)

    def do_device_attribute(self, to: int, number: int, handle: int) -> None:
        values = {**self.attributes, 75: self.capability[0], 76: self.capability[1]}
        _put(to, ctypes.c_int, values[number])

    def do_retain_context(self, to: int, handle: int) -> None:
        _put(to, ctypes.c_void_p, CONTEXT + handle - 100)

    def do_get_context(self, to: int) -> None:
        _put(to, ctypes.c_void_p, self.stack[-1])

    def do_set_context(self, context: int) -> None:
        self.stack[-1] = context

    def do_push_context(self, context: int) -> None:
        self.stack.append(context)

    def do_pop_context(self, to: int) -> None:
        _put(to, ctypes.c_void_p, self.stack.pop())

    def do_context_device(self, to: int) -> None:
        _put(to, ctypes.c_int, 100 + self.stack[-1] - CONTEXT)

    def do_encode_tiled(self, to: int, kind: int, rank: int, address: int, *rest: int) -> int:
        if not self.stack[-1]:
            return 201  # the driver asks for a current context here, too
        sizes, strides = _numbers(rest[0], ctypes.c_uint64, rank), _numbers(rest[1], ctypes.c_uint64, rank - 1)
        box, steps = (_numbers(at, ctypes.c_uint32, rank) for at in rest[2:4])
        try:
            data = encode_tiled(kind, address, sizes, strides, box, steps, *rest[4:])
        except LaunchError:
            return 1
        assert to % 64 == 0
        ctypes.memmove(to, data, len(data))
        return 0

    def do_load_module(self, to: int, code: bytes) -> None:
        self.loaded.append(code)
        _put(to, ctypes.c_void_p, MODULE + len(self.loaded))

    # -- the driver's compiler: options, the text, then the code, which names the kernel's entry --

    def do_link_create(self, count: int, names: int, values: int, to: int) -> int:
        if not self.stack[-1]:
            return 201
        self.link_options = dict(zip(_numbers(names, ctypes.c_int, count), _numbers(values, ctypes.c_size_t, count)))
        _put(to, ctypes.c_void_p, 0x600)
        return 0

    def do_link_add(self, state: int, kind: int, text: bytes, size: int, name: bytes, count: int, *_: int) -> int:
        assert (state, kind, count) == (0x600, 1, 0) and len(text) == size - 1  # what ends the text counts
        self.linked.append(text.decode())
        if self.refusal:
            log = self.refusal.encode() + b"\0"
            ctypes.memmove(self.link_options[5], log, len(log))
            return 218
        entry = text.partition(b".entry ")[2].partition(b"(")[0].strip().decode()
        log = (
            f"ptxas info    : Compiling entry function '{entry}' for 'sm_90a'\n"
            f"ptxas info    : Function properties for {entry}\n"
            "    0 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads\n"
            "ptxas info    : Used 26 registers, used 1 barriers, 512 bytes smem\n"
        ).encode() + b"\0"
        ctypes.memmove(self.link_options[3], log, len(log))
        self._code = ctypes.create_string_buffer(b"\x7fELF of " + entry.encode())
        return 0

    def do_link_complete(self, state: int, to: int, size: int) -> None:
        _put(to, ctypes.c_void_p, ctypes.addressof(self._code))
        _put(size, ctypes.c_size_t, len(self._code) - 1)

    def do_get_function(self, to: int, module: int, name: bytes) -> int:
        self.entries.append(name.decode())
        _put(to, ctypes.c_void_p, FUNCTION + len(self.entries))
        return 0

    def do_parameter_info(self, function: int, number: int, offset: int, size: int) -> int:
        if number >= len(self.parameters):
            return 1
        _put(offset, ctypes.c_size_t, self.parameters[number][0])
        _put(size, ctypes.c_size_t, self.parameters[number][1])
        return 0

    def do_function_attribute(self, to: int, number: int, function: int) -> None:
        _put(to, ctypes.c_int, {0: self.max_threads, 1: 0, 3: 8, 4: self.registers}[number])

    def do_set_function_attribute(self, function: int, number: int, value: int) -> None:
        self.asked.append((number, value))

    def do_launch(self, config: int, function: int, params: Any, extra: int) -> None:
        c = Config.from_address(config)
        rows = (_Attribute * c.attribute_count).from_address(c.attributes) if c.attribute_count else ()
        e = (ctypes.c_void_p * 5).from_address(extra)
        assert (e[0], e[2], e[4]) == (1, 2, None) and not params
        size = ctypes.c_size_t.from_address(e[3]).value
        attributes = {row.id: tuple(row.value[:3]) for row in rows}
        block = ctypes.string_at(e[1], size)
        launch = Launch(
            tuple(c.grid), tuple(c.block), c.shared, c.stream or 0, attributes, function, block, self.stack[-1]
        )
        self.launches.append(launch)

    def do_max_blocks(self, to: int, function: int, threads: int, shared: int) -> None:
        _put(to, ctypes.c_int, 2)

    def do_pointer_attribute(self, to: int, number: int, address: int) -> int:
        for addresses, gpu in self.memory.items():
            if address in addresses:
                if number == 3:
                    _put(to, ctypes.c_uint64, address if gpu >= 0 else HOST_POINTER)
                else:
                    _put(to, ctypes.c_uint, {2: 1 if gpu < 0 else 2, 9: max(gpu, 0)}[number])
                return 0
        return 1

    def do_error_name(self, status: int, to: int) -> int:
        return self._text(to, f"CUDA_ERROR_{NAMES[status]}") if status in NAMES else 1

    def do_error_string(self, status: int, to: int) -> int:
        return self._text(to, NAMES[status].lower().replace("_", " ")) if status in NAMES else 1

    def _text(self, to: int, text: str) -> int:
        self._texts.append(ctypes.c_char_p(text.encode()))
        _put(to, ctypes.c_void_p, ctypes.cast(self._texts[-1], ctypes.c_void_p).value)
        return 0


def _numbers(at: int, kind: Any, count: int) -> list[int]:
    return list((kind * count).from_address(at))


def _put(to: int, kind: Any, value: Any) -> None:
    kind.from_address(to).value = value


@contextmanager
def driver_in_use(fake: FakeCuda) -> Iterator[FakeCuda]:
    """`fake` is the process's CUDA driver inside."""
    libcuda.set_library(libcuda.Library(fake))
    try:
        yield fake
    finally:
        libcuda.set_library(None)
