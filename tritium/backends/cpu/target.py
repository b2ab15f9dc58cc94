"""CPU targets: a value with their properties, and the names of machines.

The host is described by LLVM's own detection. Importing llvmlite for that takes 50 ms, so the answer
is kept on disk under a key made from the kernel's description of the processor; a process that only
runs cached kernels never imports llvmlite.
"""

from __future__ import annotations

import os
import sys
from functools import cache, lru_cache
from pathlib import Path

from ...support.dataclasses import dataclass
from ...support.folders import read_record, write_record
from ...support.hashing import sha256
from .amx import enable_amx
from .errors import BackendError

__all__ = ["CPUTarget", "host_target", "named_target", "target_names"]


@dataclass(frozen=True, slots=True)
class CPUTarget:
    """A machine to compile for. Equality of all fields means that object code may be shared.

    >>> t = named_target("x86-64-v4")
    >>> t.vector_bits, t.vector_registers, t.lanes(32), t.has("avx512f"), t.has("amx-tile")
    (512, 32, 16, True, False)
    """

    triple: str
    cpu: str
    features: str  # LLVM's form: "+avx2,-amx-tile,..."
    vector_bits: int
    vector_registers: int
    has_fma: bool = False
    has_avx2: bool = False
    has_avx512: bool = False
    has_vnni: bool = False
    has_bf16: bool = False
    has_fp16: bool = False
    has_amx: bool = False
    has_neon: bool = False
    has_i8mm: bool = False
    has_f16c: bool = False

    backend = "cpu"
    warp_size = 1  # Triton's targets have one

    @property
    def arch(self) -> str:
        """`x86_64` or `aarch64` (the first part of the triple)."""
        return self.triple.split("-", 1)[0].replace("arm64", "aarch64")

    def lanes(self, element_bits: int) -> int:
        """How many elements of that many bits a vector register holds."""
        return max(1, self.vector_bits // element_bits)

    def has(self, feature: str) -> bool:
        """Is LLVM's `feature` switched on explicitly (`avx512f`, `amx-tile`, `i8mm`, ...)?"""
        return f"+{feature}" in self.features.split(",")

    @property
    def key(self) -> str:
        """A short stable string for cache keys and messages."""
        digest = sha256(f"{self.triple}|{self.cpu}|{self.features}".encode()).hexdigest()[:12]
        return f"{self.arch}-{self.cpu}-{digest}"

    def __str__(self) -> str:
        return f"cpu:{self.cpu or 'generic'} ({self.triple}, {self.vector_bits}-bit vectors)"


_X86_V3 = "+avx,+avx2,+bmi,+bmi2,+cx16,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sahf,+sse3,+sse4.1,+sse4.2,+ssse3,+xsave"
_X86_V4 = f"{_X86_V3},+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl"
_LINUX_X86 = "x86_64-unknown-linux-gnu"
_LINUX_ARM = "aarch64-unknown-linux-gnu"

# name -> (triple, cpu, features); features are spelt out because our own decisions read them
_NAMED: dict[str, tuple[str, str, str]] = {
    "x86-64": (_LINUX_X86, "x86-64", ""),
    "x86-64-v2": (_LINUX_X86, "x86-64-v2", "+cx16,+popcnt,+sahf,+sse3,+sse4.1,+sse4.2,+ssse3"),
    "x86-64-v3": (_LINUX_X86, "x86-64-v3", _X86_V3),
    "x86-64-v4": (_LINUX_X86, "x86-64-v4", _X86_V4),
    "cascadelake": (_LINUX_X86, "cascadelake", f"{_X86_V4},+avx512vnni"),
    "sapphirerapids": (
        _LINUX_X86,
        "sapphirerapids",
        f"{_X86_V4},+avx512vnni,+avx512bf16,+avx512fp16,+amx-tile,+amx-int8,+amx-bf16",
    ),
    "znver4": (_LINUX_X86, "znver4", f"{_X86_V4},+avx512vnni,+avx512bf16"),
    "znver5": (_LINUX_X86, "znver5", f"{_X86_V4},+avx512vnni,+avx512bf16"),
    "aarch64": (_LINUX_ARM, "generic", "+neon,+fp-armv8"),
    "neoverse-n1": (_LINUX_ARM, "neoverse-n1", "+neon,+fp-armv8,+fullfp16,+dotprod,+lse"),
    "neoverse-v1": (_LINUX_ARM, "neoverse-v1", "+neon,+fp-armv8,+fullfp16,+dotprod,+lse,+bf16,+i8mm"),
    "apple-m1": ("arm64-apple-macosx", "apple-m1", "+neon,+fp-armv8,+fullfp16,+dotprod,+lse"),
}


def target_names() -> tuple[str, ...]:
    """The names that `named_target` knows, besides `host`."""
    return tuple(_NAMED)


@cache
def named_target(name: str) -> CPUTarget:
    """The target called `name` (`host`, or one of `target_names()`); BackendError if unknown."""
    if name == "host":
        return host_target()
    if name not in _NAMED:
        raise BackendError(f"unknown CPU target {name!r}; known: host, {', '.join(_NAMED)}")
    return describe(*_NAMED[name])


def describe(triple: str, cpu: str, features: str) -> CPUTarget:
    """A target from LLVM's triple, CPU name and feature string; BackendError for other architectures."""
    on = {f[1:] for f in features.split(",") if f.startswith("+")}
    arch = triple.split("-", 1)[0]
    if arch in ("aarch64", "arm64"):
        return CPUTarget(
            triple,
            cpu,
            features,
            vector_bits=128,  # SVE's width is unknown at compile time; NEON is always there
            vector_registers=32,
            has_fma=True,
            has_bf16="bf16" in on,
            has_fp16="fullfp16" in on,
            has_neon=True,
            has_i8mm="i8mm" in on,
        )
    if arch != "x86_64":
        raise BackendError(f"no CPU backend for {triple!r}: only x86_64 and aarch64")
    wide = {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= on
    return CPUTarget(
        triple,
        cpu,
        features,
        vector_bits=512 if wide else 256 if "avx2" in on else 128,
        vector_registers=32 if wide else 16,
        has_fma="fma" in on,
        has_avx2="avx2" in on,
        has_avx512=wide,
        has_vnni=wide and "avx512vnni" in on,
        has_bf16=wide and "avx512bf16" in on,
        has_fp16=wide and "avx512fp16" in on,
        has_amx="amx-tile" in on and "amx-bf16" in on and "amx-int8" in on,
        has_f16c="f16c" in on,
    )


@lru_cache(maxsize=1)
def host_target() -> CPUTarget:
    """The machine we run on; BackendError where there is no backend for it."""
    fingerprint = _host_fingerprint()
    key = None
    if fingerprint is not None:
        key = "host-" + sha256(fingerprint).hexdigest()[:24]
        stored = read_record(key)
        if stored is not None:
            return _granted(*stored.decode().split("\n"))
    triple, cpu, features = _ask_llvm()
    if key is not None:
        write_record(key, f"{triple}\n{cpu}\n{features}".encode())
    return _granted(triple, cpu, features)


def _granted(triple: str, cpu: str, features: str) -> CPUTarget:
    """The target without AMX if the system does not let this process use it."""
    if "+amx-tile" in features and not enable_amx():
        features = features.replace("+amx", "-amx")
    return describe(triple, cpu, features)


def _host_fingerprint() -> bytes | None:
    """Bytes that change whenever LLVM's answer could; None where we have no cheap source of them."""
    if sys.platform != "linux":
        return None
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as f:
            head = f.read(4096)
    except OSError:
        return None
    volatile = (b"cpu MHz", b"bogomips", b"BogoMIPS", b"processor", b"apicid", b"core id")
    lines = [line for line in head.split(b"\n\n", 1)[0].split(b"\n") if not line.startswith(volatile)]
    return b"\n".join(lines) + f"{os.uname().machine} {_llvmlite_identity()}".encode()


def _llvmlite_identity() -> str:
    """Which llvmlite would answer, without importing it: its folder and modification time."""
    for folder in sys.path:
        library = Path(folder or ".", "llvmlite", "binding", "libllvmlite.so")
        try:
            stat = library.stat()
        except OSError:
            continue
        return f"{stat.st_mtime_ns} {stat.st_size}"
    return "none"


def _ask_llvm() -> tuple[str, str, str]:
    # a third-party import of 50 ms that most processes never need
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), features
