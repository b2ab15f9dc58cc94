"""SHA-256 without OpenSSL, whose library takes `hashlib` 3 ms to load, and then does it in a fifth of the time.

Kernels and their keys are some ten kilobytes, 0.03 ms each. (The standard library's `random` does the same.)

>>> sha256(b"abc").hexdigest()[:16]
'ba7816bf8f01cfea'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

__all__ = ["sha256"]
