"""The bytes of a compiled kernel on disk and between processes.

An entry is

    magic (8 bytes) | SHA-256 of length and header (32) | length of the header (8, little-endian) | header | contents

where the header is JSON: the entry's key, the kernel's metadata, for each stage its name, whether it is text, and its
size, the size of the description of the key (`key.describe_key`), and the SHA-256 of the contents, which are the stages
one after another and the description. It has no pickle, path or time, so that equal compiles make equal files,
and files may be copied to another machine; under another name they are not valid.
"""

from __future__ import annotations

import json
from typing import Any

from ..support.dataclasses import dataclass, field
from ..support.hashing import sha256, sha256_of_many

__all__ = ["MAX_ENTRY", "Entry", "read_header"]

_MAGIC = b"tritium2"
_PREFIX = len(_MAGIC) + 32 + 8
_MAX_HEADER = 1 << 20
#: The maximum size of an entry in bytes.
MAX_ENTRY = 1 << 30
_MAX_STAGES = 100


@dataclass
class Entry:
    """A compiled kernel's metadata (JSON values) and stages (text or bytes), in the order they were made.

    `described` are the parts of its key by name (`key.describe_key`) as JSON, for messages: a hit does not read them.
    """

    metadata: dict[str, Any]
    stages: dict[str, str | bytes] = field(default_factory=dict)
    described: bytes = b"{}"

    def description(self) -> dict[str, dict[str, str]]:
        """The parts of the key by kind and name; ValueError if they are malformed."""
        found = _parsed(self.described)
        if not isinstance(found, dict) or not all(isinstance(part, dict) for part in found.values()):
            raise ValueError("the description of the key is nonsense")
        return found

    def to_bytes(self, key: str) -> bytes:
        """The contents of the file of `key`."""
        bodies = [(n, s if isinstance(s, bytes) else s.encode(), isinstance(s, str)) for n, s in self.stages.items()]
        contents = b"".join([*(body for _, body, _ in bodies), self.described])
        header = _json(
            {
                "key": key,
                "metadata": self.metadata,
                "stages": [[name, text, len(body)] for name, body, text in bodies],
                "described": len(self.described),
                "sha256": sha256_of_many(contents).hexdigest(),
            }
        )
        rest = len(header).to_bytes(8, "little") + header
        return b"".join([_MAGIC, sha256(rest).digest(), rest, contents])

    @classmethod
    def from_bytes(cls, data: bytes, key: str) -> Entry:
        """The entry of `key` in a file's contents; ValueError with the reason if they are invalid."""
        header, end = read_header(data, len(data), key)
        contents = memoryview(data)[end:]
        if sha256_of_many(contents).hexdigest() != header["sha256"]:
            raise ValueError("the checksum does not match")
        stages: dict[str, str | bytes] = {}
        at = 0
        for name, is_text, size in header["stages"]:
            body = bytes(contents[at : at + size])
            stages[name] = body.decode() if is_text else body
            at += size
        return cls(header["metadata"], stages, bytes(contents[at:]))


def read_header(data: bytes, size: int, key: str) -> tuple[dict[str, Any], int]:
    """The header at the beginning `data` of a file of `size` bytes, and its end; ValueError with the
    reason if it is invalid.

    It is consistent with the size of the file; the contents are verified by their checksum.
    """
    if len(data) < _PREFIX or data[:8] != _MAGIC:
        raise ValueError("not a cache entry of this version, or truncated")
    if size > MAX_ENTRY:
        raise ValueError("it is larger than any entry is")
    end = _PREFIX + int.from_bytes(data[40:48], "little")
    if end > min(size, len(data), _PREFIX + _MAX_HEADER):
        raise ValueError("the header is longer than the file, or than any is")
    if sha256(memoryview(data)[40:end]).digest() != data[8:40]:
        raise ValueError("the checksum of the header does not match")
    header = _parsed(data[_PREFIX:end])
    if not isinstance(header, dict) or not isinstance(header.get("metadata"), dict):
        raise ValueError("the header is no description of a kernel")
    if header.get("key") != key or header["metadata"].get("hash", key) != key:
        raise ValueError("it is the entry of another key")
    table, about = header.get("stages"), header.get("described")
    if not isinstance(table, list) or len(table) > _MAX_STAGES or not all(map(_is_row, table)) or not _is_size(about):
        raise ValueError("its table of stages is nonsense")
    if end + sum(row[2] for row in table) + about != size:
        raise ValueError("the stages are not as long as the header says")
    return header, end


def _is_row(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 3 and isinstance(row[0], str) and row[1] in (0, 1) and _is_size(row[2])


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_ENTRY


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its description is nested too deeply") from None
