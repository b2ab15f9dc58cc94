"""A compile as records of a trace (`support.traces`): the source, its stages with their results, the end."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..ir.passes.trace import place_of, record_text
from ..support import settings
from ..support.dataclasses import asdict
from ..support.location import FileLineColLoc
from ..support.recording import recording_here
from ..support.traces import Recording, writer_for
from .source import ASTSource
from .version import package_key

__all__ = ["CompileTrace"]


class CompileTrace:
    """The records of one compile of `src`. They are complete at the end of each stage."""

    def __init__(self, path: str, src: Any, target: Any, options: Any, key: str) -> None:
        self.recording = Recording(writer_for(path))
        self.hashes: dict[str, str] = {}  # by stage
        self.found: dict[str, Any] = {}
        self.began = (0.0, 0, 0)
        names = getattr(getattr(src, "fn", None), "arg_names", ())
        constants = getattr(src, "constants", {})
        self.recording.begin(
            kernel=src.name,
            target=f"{target.backend}:{target.arch}",
            first=src.first_stage,
            key=key,
            compiler=package_key(),
            source=src.hash(),
            place=_place(src),
            signature={name: str(ty) for name, ty in src.signature.items()},
            constants={names[p[0]] if len(p) == 1 else str(p): str(value) for p, value in constants.items()},
            options=_plain(asdict(options)),
            settings=_plain(settings.invalidating_environment()),
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        """Attribute passes inside to this compile; an error ends it."""
        try:
            with recording_here(self.recording):
                yield
        except BaseException as error:
            self.recording.fail(error)
            self.recording.end(0, 0, "miss", fine=False)
            raise

    def begin_stage(self, name: str, metadata: Mapping[str, Any]) -> None:
        """Begin the stage `name`."""
        recording = self.recording
        recording.stage, recording.passes = name, 0
        self.found = dict(metadata)
        self.began = recording.at(), time.perf_counter_ns(), recording.overhead

    def end_stage(
        self, value: Any, text: str | bytes, metadata: Mapping[str, Any], source: str = "", replaced: bool = False
    ) -> None:
        """End a stage that made `value`, whose text is `text`, from the stage `source`."""
        recording = self.recording
        took = time.perf_counter_ns() - self.began[1] - (recording.overhead - self.began[2])
        with recording.aside():
            name = recording.stage
            if hasattr(value, "regions"):
                made = record_text(recording, value)[0]
            else:
                made = recording.text(text, name)
            recording.add(
                "stage",
                stage=name,
                at=self.began[0],
                us=round(took / 1000, 1),
                before=self.hashes.get(source) or None,
                after=made,
                replaced=replaced or None,
                found=_plain({k: v for k, v in metadata.items() if k not in self.found or self.found[k] != v}),
            )
            self.hashes[name] = recording.last = made
            recording.flush()

    def end(self, times: Any, cache: str) -> None:
        """End the compile."""
        self.recording.end(times.imports, times.store_results, cache, fine=True)


def _place(src: Any) -> dict[str, Any] | None:
    if isinstance(src, ASTSource):
        code = src.fn.fn.__code__ if hasattr(src.fn, "fn") else None
        return None if code is None else place_of(FileLineColLoc(code.co_filename, code.co_firstlineno, 1))
    path = getattr(src, "path", None)
    return None if path is None else place_of(FileLineColLoc(str(path), 1, 1))


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values for JSON; others as text."""
    return {name: _json(value) for name, value in values.items()}


def _json(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_json(item) for item in value]
    return _plain(value) if isinstance(value, dict) else str(value)
