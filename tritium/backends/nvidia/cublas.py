"""cuBLASLt through ctypes: the reference matmul for kernels.

    blas = CublasLt(workspace)         # a tensor of bytes on the GPU, kept while the object lives
    blas.matmul(a, b, c)               # c = a @ b^T for row-major (m, k), (n, k), (m, n)

The library is the one that the process has loaded already (torch brings it), or what the system's loader finds. Numbers
of types and attributes are those of `library_types.h` and `cublasLt.h`, CUDA 12 and 13.
"""

from __future__ import annotations

import ctypes
from typing import Any

from ...support import OptionError, TritiumError
from .device import current_stream

__all__ = ["CublasLt"]

_P, _I, _U64, _Z = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_size_t
_LIBRARIES = ("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so")
_F32, _F16, _BF16 = 0, 2, 14
_TYPES = {"float32": _F32, "float16": _F16, "bfloat16": _BF16, "float8_e4m3fn": 28, "float8_e5m2": 29}
_COMPUTE_F32 = 68
_TRANSPOSE_A, _FAST_SUMS, _WORKSPACE = 3, 25, 1  # attributes of a matmul, of a preference
_HEURISTIC_BYTES = 64 + 8 + 4 + 4 + 16  # algorithm, workspace, status, waves, reserved


def _library() -> Any:
    for name in _LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise TritiumError(
        f"cuBLASLt was not found ({', '.join(_LIBRARIES)})\nhint: import torch first, which brings it, or install "
        "the package nvidia-cublas"
    )


class CublasLt:
    """Matmuls by cuBLASLt in the current stream of torch."""

    def __init__(self, workspace: Any) -> None:
        self.workspace = workspace
        self._library = _library()
        self._handle = _P()
        self._call("cublasLtCreate", ctypes.byref(self._handle))
        self._plans: dict[Any, tuple[list[ctypes.c_void_p], Any]] = {}

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            raise TritiumError(f"{name} failed with status {status}")

    def matmul(self, a: Any, b: Any, c: Any) -> None:
        """c = a @ b^T, for contiguous matrices (m, k), (n, k) and (m, n).

        Sums are float32, of 8-bit floats what the tensor cores keep of it.
        """
        (m, k), n = a.shape, b.shape[0]
        if tuple(b.shape) != (n, k) or tuple(c.shape) != (m, n):
            raise OptionError(
                f"cuBLASLt: {tuple(a.shape)} times the transpose of {tuple(b.shape)} is not {tuple(c.shape)}"
            )
        types = tuple(str(x.dtype).rpartition(".")[2] for x in (a, b, c))
        unknown = [t for t in types if t not in _TYPES]
        if unknown:
            raise OptionError(f"cuBLASLt: matmuls of {unknown[0]} are not supported; supported: {', '.join(_TYPES)}")
        key = (m, n, k, types)
        if key not in self._plans:
            self._plans[key] = self._plan(m, n, k, *(_TYPES[t] for t in types))
        (matmul, left, right, old, new), algorithm = self._plans[key]
        one, zero = ctypes.c_float(1.0), ctypes.c_float(0.0)
        stream = _P(current_stream(a.device.index or 0))
        at_a, at_b, at_c = (_P(x.data_ptr()) for x in (a, b, c))
        space = _P(self.workspace.data_ptr())
        self._call(
            "cublasLtMatmul", self._handle, matmul, ctypes.byref(one), at_b, left, at_a, right, ctypes.byref(zero),
            at_c if c.element_size() > 1 else None, old, at_c, new, algorithm, space, _Z(self._bytes), stream,
        )  # fmt: skip

    @property
    def _bytes(self) -> int:
        return int(self.workspace.numel() * self.workspace.element_size())

    def _plan(self, m: int, n: int, k: int, a: int, b: int, c: int) -> tuple[list[ctypes.c_void_p], Any]:
        """Descriptors of the matmul and its matrices, and the algorithm that the library proposes.

        The library's matrices are column-major: row-major (m, n) is its (n, m), the matmul of b^T and a.
        """
        matmul, preference = _P(), _P()
        self._call("cublasLtMatmulDescCreate", ctypes.byref(matmul), _I(_COMPUTE_F32), _I(_F32))
        yes = _I(1)
        self._call("cublasLtMatmulDescSetAttribute", matmul, _I(_TRANSPOSE_A), ctypes.byref(yes), _Z(4))
        fast = ctypes.c_int8(int(a > _BF16))  # as kernels do unless they ask for more
        self._call("cublasLtMatmulDescSetAttribute", matmul, _I(_FAST_SUMS), ctypes.byref(fast), _Z(1))
        old = _F16 if c not in (_F32, _F16, _BF16) else c  # what is added to a result of 8 bits has 16
        shapes = ((b, k, n, k), (a, k, m, k), (old, n, m, n), (c, n, m, n))
        layouts = []
        for type_, rows, columns, leading in shapes:
            layout = _P()
            self._call(
                "cublasLtMatrixLayoutCreate", ctypes.byref(layout), _I(type_), _U64(rows), _U64(columns),
                ctypes.c_int64(leading),
            )  # fmt: skip
            layouts.append(layout)
        self._call("cublasLtMatmulPreferenceCreate", ctypes.byref(preference))
        space = _Z(self._bytes)
        self._call("cublasLtMatmulPreferenceSetAttribute", preference, _I(_WORKSPACE), ctypes.byref(space), _Z(8))
        found = (ctypes.c_uint64 * (_HEURISTIC_BYTES // 8))()
        count = _I(0)
        self._call(
            "cublasLtMatmulAlgoGetHeuristic", self._handle, matmul, *layouts, preference, _I(1), found,
            ctypes.byref(count),
        )  # fmt: skip
        self._call("cublasLtMatmulPreferenceDestroy", preference)
        if not count.value:
            raise TritiumError(f"cuBLASLt has no algorithm for ({m}, {k}) times ({n}, {k})^T of these types")
        return [matmul, *layouts], found
