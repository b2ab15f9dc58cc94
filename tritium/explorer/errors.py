"""The errors of requests to a session."""

from __future__ import annotations

from ..support import TritiumError

__all__ = ["RequestError"]

STATUS = {"unknown": 404, "malformed": 400, "refused": 403, "failed": 500}


class RequestError(TritiumError):
    """A request without an answer. `kind`: unknown (no such thing), malformed, refused, failed."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    @property
    def status(self) -> int:
        """The status of an HTTP answer."""
        return STATUS[self.kind]
