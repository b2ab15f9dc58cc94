"""`tritium explore`: open the page of a script, a kernel, IR or a trace, or write it into one file."""

from __future__ import annotations

import os
import signal
import sys
import webbrowser
from collections.abc import Sequence
from types import FrameType

from ..backends.errors import BackendError
from ..compiler import make_backend
from ..support import TritiumError
from ..support.dataclasses import dataclass
from ..support.lazy import LazyModule
from ..support.quantities import counted
from ..tools.kernel_file import CommandError
from ..tools.request import pairs, parse_target, value_of
from .export import export
from .session import Input, Session

__all__ = ["ExploreRequest", "main"]

_server = LazyModule(".server", __package__)

IR_ENDINGS = ("source", "ttir", "ttgir", "ttcir", "llir", "ptx")
MISSING = """the page needs Starlette and uvicorn, which are not installed ({})
hint: pip install 'tritium[explorer]'; --export FILE writes the page into a file without them"""


@dataclass
class ExploreRequest:
    """A command line: `file` is a script, FILE.py::KERNEL with a signature, IR, a trace, or empty."""

    file: str = ""
    arguments: Sequence[str] = ()
    target: str = ""
    signature: str = ""
    constants: str = ""
    options: Sequence[str] = ()
    export: str = ""
    port: int = 0
    browser: bool = True


def main(request: ExploreRequest) -> int:
    """Serve the page until the process is interrupted, or export it; the exit status."""
    try:
        session = Session(opened(request))
        try:
            return _export(session, request.export) if request.export else _serve(session, request)
        finally:
            session.close()
    except (TritiumError, BackendError, OSError) as error:
        text = str(error)
        print(text if "error:" in text.split("\n")[0] else f"tritium explore: error: {text}", file=sys.stderr)
        return 1


def opened(request: ExploreRequest) -> Input:
    """What a command line opens. CommandError if there is no such file."""
    path, _, kernel = request.file.partition("::")
    options = {name: value_of(text) for name, text in pairs(request.options)}
    if request.target:
        make_backend(parse_target(request.target))
    if request.export and not os.path.isdir(os.path.dirname(os.path.abspath(request.export))):
        raise CommandError(f"there is no folder for {request.export}")
    found = Input(
        "empty", path, request.arguments, request.target, kernel, request.signature, request.constants, options
    )
    if not path:
        return found
    if not os.path.isfile(path):
        raise CommandError(f"there is no file {path!r}")
    found.path = os.path.abspath(path)
    if path.endswith(".py"):
        found.kind = "kernel" if request.signature or kernel else "script"
        if kernel and not request.signature:
            raise CommandError(f"{request.file} needs --signature; without ::{kernel} the script is run")
    else:
        found.kind = "ir" if path.rpartition(".")[2] in IR_ENDINGS else "trace"
    if options and found.kind in ("script", "trace"):
        raise CommandError(f"options are those of the launches: they do not apply to a {found.kind}")
    return found


def _export(session: Session, path: str) -> int:
    """Compile everything, then write the file. Status 1 if the script failed or a document did."""
    session.start()
    try:
        session.wait()
    except KeyboardInterrupt:
        session.stop(None)
        session.wait()
    found = session.as_json()
    with open(path, "w", encoding="utf-8") as file:
        file.write(export(session))
    for problem in found["problems"]:
        print(f"tritium explore: {problem['message']}", file=sys.stderr)
    print(f"{path}: {counted(len(found['documents']), 'kernel')}, {os.path.getsize(path):,} bytes")
    return 1 if found["problems"] or found["run"]["state"] == "failed" else 0


def _serve(session: Session, request: ExploreRequest) -> int:
    try:
        serve = _server.serve
    except ModuleNotFoundError as error:
        raise CommandError(MISSING.format(error.name)) from None
    try:
        listening = _server.listening_socket(request.port)
    except OSError as error:
        raise CommandError(f"port {request.port} cannot be used: {error.strerror}") from None
    token = _server.new_token()
    where = f"http://{_server.HOST}:{listening.getsockname()[1]}/{token}/"

    def ready() -> None:
        print(f"explorer at {where}", flush=True)
        session.start()
        if request.browser:
            webbrowser.open(where)

    def hang_up(number: int, frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGTERM)

    # uvicorn ends by SIGTERM and raises it again; the session is closed by then
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    signal.signal(signal.SIGHUP, hang_up)
    serve(session, token, listening, ready)
    return 0
