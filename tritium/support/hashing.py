"""SHA-256 without loading OpenSSL, whose library takes 3 ms to load, and then a fifth of the time.

Kernels and their keys are some ten kilobytes, 0.03 ms each. (The standard library's `random` does the same.)

>>> sha256(b"abc").hexdigest()[:16]
'ba7816bf8f01cfea'
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .lazy import LazyModule

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256  # Python 3.12
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:  # a Python built without either
            from hashlib import sha256

__all__ = ["LARGE", "sha256", "sha256_of_many"]

_hashlib = LazyModule("hashlib")

LARGE = 1 << 19
"""The size from which OpenSSL pays off: it saves half of its load time, and more with later hashes."""


def sha256_of_many(data: bytes | memoryview) -> Any:
    """The SHA-256 of many bytes: 1.5 MB, as of attention's stages, take 0.8 ms with OpenSSL, and 4.8 without.

    OpenSSL is used for small data too if it is loaded already, as it is by PyTorch.

    >>> sha256_of_many(bytes(LARGE)).digest() == sha256(bytes(LARGE)).digest()
    True
    """
    return (_hashlib.sha256 if len(data) >= LARGE or "_hashlib" in sys.modules else sha256)(data)
