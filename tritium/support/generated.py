"""Functions that the compiler writes for itself as text: constructors, printers and checks of operations.

Python takes 0.1 ms to compile such a text, and the first compile of a process needs 40 (vector add) to 120 (attention)
of them, the same in every process. So their code is kept in a record (`folders`) under the number of Python's bytecode,
each by the digest of its text; a record that is damaged, of another Python or of somebody else is none.
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

MOST = 2000  # texts in a record: all of our operations have some 600

_NAME = f"generated-{MAGIC_NUMBER.hex()}-{sys.flags.optimize}"
_fresh: dict[bytes, bytes] = {}


@functools.lru_cache(1024)
def code_of(source: str) -> CodeType:
    """The code of a text; classes of the same form share it, what differs stands in the scope it runs in."""
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
    """Keep what has been compiled since, for processes to come."""
    fresh = dict(_fresh)
    if fresh:
        together = {**_read(), **fresh}
        write_record(_NAME, marshal.dumps(together if len(together) <= MOST else fresh))
        for digest in fresh:  # also where it could not be written: the next compile need not try again
            _fresh.pop(digest, None)


@functools.lru_cache(1)
def _known() -> dict[bytes, bytes]:
    """What there was when the first text was asked for."""
    return {} if settings.cache.disable else _read()


def _read() -> dict[bytes, bytes]:
    try:
        found = marshal.loads(read_record(_NAME) or b"")
    except (EOFError, TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
