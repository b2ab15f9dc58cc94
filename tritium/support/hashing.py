"""SHA-256 without OpenSSL, whose library takes `hashlib` 3 ms to load, and then does it in a fifth of the time.

Kernels and their keys are some ten kilobytes, 0.03 ms each. (The standard library's `random` does the same.)

>>> sha256(b"abc").hexdigest()[:16]
'ba7816bf8f01cfea'
"""

from __future__ import annotations

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
        except ImportError:  # a Python that was built without either
            from hashlib import sha256

__all__ = ["LARGE", "sha256", "sha256_of_many"]

_hashlib = LazyModule("hashlib")

LARGE = 1 << 19
"""Bytes from which on OpenSSL pays: half of what loading it takes, and the next ones have it for nothing."""


def sha256_of_many(data: bytes) -> Any:
    """The SHA-256 of bytes that may be many: 1.5 MB, as stages of attention have, take 0.8 ms, and 4.8 without it.

    >>> sha256_of_many(bytes(LARGE)).digest() == sha256(bytes(LARGE)).digest()
    True
    """
    return (_hashlib.sha256 if len(data) >= LARGE else sha256)(data)
