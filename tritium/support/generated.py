"""The cache of generated functions of the compiler: constructors, printers and checks of operations.

Python takes 0.1 ms to compile the text of such a function, and the first compile of a process needs 40 (vector add) to
120 (attention) of them, the same in every process. Their bytecode is stored in a record (`folders`) for the version of
Python's bytecode, by digest of the text; a record that is damaged, of another Python or of another user is ignored.
"""

from __future__ import annotations

import functools
import marshal
import sys
from importlib.util import MAGIC_NUMBER
from types import CodeType

from . import settings
from .folders import read_record, write_record
from .hashing import sha256

__all__ = ["code_of", "keep_generated"]

MOST = 2000  # texts in a record: all operations have about 600

_NAME = f"generated-{MAGIC_NUMBER.hex()}-{sys.flags.optimize}"
_fresh: dict[bytes, bytes] = {}


@functools.lru_cache(1024)
def code_of(source: str) -> CodeType:
    """The code of a text; classes of the same form share it; differences are in its globals."""
    digest = sha256(source.encode()).digest()[:16]
    try:
        found = marshal.loads(_known()[digest])
    except (KeyError, EOFError, TypeError, ValueError):
        found = None
    if not isinstance(found, CodeType):
        found = compile(source, "<generated>", "exec")
        _fresh[digest] = marshal.dumps(found)
    return found


def keep_generated() -> None:
    """Store newly compiled code for later processes."""
    fresh = dict(_fresh)
    if fresh:
        together = {**_read(), **fresh}
        write_record(_NAME, marshal.dumps(together if len(together) <= MOST else fresh))
        for digest in fresh:  # also if it could not be written: the next compile does not try again
            _fresh.pop(digest, None)


@functools.lru_cache(1)
def _known() -> dict[bytes, bytes]:
    """The stored code when the first text was requested."""
    return {} if settings.cache.disable else _read()


def _read() -> dict[bytes, bytes]:
    try:
        found = marshal.loads(read_record(_NAME) or b"")
    except (EOFError, TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
