"""The server of the page: Starlette on a loopback address, below a path that begins with a random token.

A request needs the token, the server's own name as its host (against DNS rebinding), and, if a browser says from which
page it comes, that of this server. Requests start no shell.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from importlib.resources import files

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .actions import act
from .answers import answer
from .errors import RequestError
from .json_types import Json
from .session import Session

__all__ = ["application", "listening_socket", "new_token", "serve"]

HOST = "127.0.0.1"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
MAX_BODY = 300 << 20
KEEP_ALIVE_SECONDS = 15.0

Handler = Callable[[Request], Json]


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(24)


def application(session: Session, token: str) -> Starlette:
    """The application for a session; every path begins with the token."""

    def guarded(handler: Handler) -> Handler:
        async def handle(request: Request) -> Response:
            refused = _refused(request, token)
            response = refused if refused is not None else await _handled(handler, request)
            response.headers["Content-Security-Policy"] = POLICY
            response.headers["X-Content-Type-Options"] = "nosniff"
            response.headers["Referrer-Policy"] = "no-referrer"
            response.headers["Cache-Control"] = "no-store"
            return response

        return handle

    async def read(request: Request) -> Response:
        where = f"api/{request.path_params['path']}"
        query = request.url.query
        return JSONResponse(await run_in_threadpool(answer, session, f"{where}?{query}" if query else where))

    async def post(request: Request) -> Response:
        name = request.path_params["path"]
        return JSONResponse(await run_in_threadpool(act, session, name, await _body(request)))

    async def events(request: Request) -> Response:
        since = request.headers.get("last-event-id") or request.query_params.get("since") or "0"
        if not since.isdigit():
            raise RequestError("malformed", f"'since' is a number, not {since!r}")
        return StreamingResponse(_events(session, int(since)), media_type="text/event-stream")

    async def page(request: Request) -> Response:
        return _static(request.path_params.get("path") or "index.html")

    return Starlette(
        routes=[
            Route("/{token}/api/events", guarded(events), methods=["GET"]),
            Route("/{token}/api/{path:path}", guarded(read), methods=["GET"]),
            Route("/{token}/api/{path:path}", guarded(post), methods=["POST"]),
            Route("/{token}/{path:path}", guarded(page), methods=["GET"]),
            Route("/{path:path}", guarded(page), methods=["GET", "POST"]),
        ]
    )


async def _handled(handler: Handler, request: Request) -> Response:
    try:
        response: Response = await handler(request)
        return response
    except RequestError as error:
        return _error(error)
    except ClientDisconnect:
        return Response(status_code=400)
    except Exception as error:  # a page shows it, the server goes on
        return _error(RequestError("failed", f"{type(error).__name__}: {error}"))


def _error(error: RequestError) -> Response:
    return JSONResponse({"error": str(error), "kind": error.kind}, error.status)


def _refused(request: Request, token: str) -> Response | None:
    """The answer to a request without the token, from another page, or for another host; None if it is fine."""
    given = str(request.path_params.get("token", ""))
    if not secrets.compare_digest(given.encode(), token.encode()):
        return _error(RequestError("refused", "the address has no valid token: open the one that tritium printed"))
    host = request.headers.get("host", "")
    if host.partition(":")[0] not in (HOST, "localhost"):
        return _error(RequestError("refused", f"the host {host!r} is not this server"))
    origin = request.headers.get("origin")
    same = origin == f"http://{host}"
    if (origin is not None and not same) or (request.method == "POST" and not same):
        return _error(RequestError("refused", f"a request from the page {origin!r} is not answered"))
    return None


async def _body(request: Request) -> Json:
    size = request.headers.get("content-length", "0")
    if not size.isdigit() or int(size) > MAX_BODY:
        raise RequestError("refused", f"a request has at most {MAX_BODY >> 20} MB")
    try:
        return json.loads(await request.body() or b"{}")
    except ValueError as error:
        raise RequestError("malformed", f"the body is no JSON: {error}") from None


def _static(path: str) -> Response:
    """A file of the page. Names of files only: no folder leads out of it."""
    found = files(__package__) / "static"
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\\" in part for part in parts):
        raise RequestError("unknown", f"there is nothing at {path!r}")
    for part in parts:
        found = found / part
    if not found.is_file():
        raise RequestError("unknown", f"there is nothing at {path!r}")
    return Response(found.read_bytes(), media_type=TYPES.get(path.rpartition(".")[2], "application/octet-stream"))


async def _events(session: Session, since: int) -> AsyncIterator[str]:
    """The events after a sequence number, and a comment where there was none for some time."""
    loop, woken = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(woken.set)

    session.log.listen(wake)
    try:
        yield "retry: 1000\n\n"
        while True:
            woken.clear()
            for number, event in session.log.since(since):
                since = number
                yield f"id: {number}\ndata: {json.dumps(event)}\n\n"
                if event["type"] == "closing":
                    return
            try:
                await asyncio.wait_for(woken.wait(), KEEP_ALIVE_SECONDS)
            except asyncio.TimeoutError:
                yield ": no news\n\n"
    finally:
        session.log.forget(wake)


def listening_socket(port: int) -> socket.socket:
    """A socket on the loopback address; OSError if the port is taken."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
    except OSError:
        found.close()
        raise
    return found


def serve(session: Session, token: str, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Answer requests until the process is interrupted or terminated, then close the session.

    `ready` is called when the server accepts requests.
    """
    config = uvicorn.Config(
        application(session, token), log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)

    async def run() -> None:
        task = asyncio.create_task(server.serve([listening]))
        while not server.started and not task.done():
            await asyncio.sleep(0.01)
        if server.started:
            ready()
        while not task.done():
            if server.should_exit and not session.is_closed:
                await run_in_threadpool(session.close)  # streams of events end by that
            await asyncio.sleep(0.05)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())
