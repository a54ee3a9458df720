"""A server of a folder on this machine that can misbehave, as servers of data do."""

from __future__ import annotations

import http.server
import io
import tarfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote


@dataclass
class Reply:
    """How a request is answered; as it is, rightly.

    ``cut``: the connection breaks after so many bytes. ``length``: what Content-Length says; None:
    it is left out. ``shift``: of the part that comes, from the part asked for. ``stalls``: nothing
    comes until the server closes.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    etag: str = '"1"'
    cut: int | None = None
    length: int | None = -1
    takes_range: bool = True
    shift: int = 0
    stalls: bool = False


class Server(http.server.ThreadingHTTPServer):
    """Files of ``folder`` at their paths, and what each of them was asked for."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.requests: list[tuple[str, str | None]] = []
        self.tokens: list[str | None] = []
        self.closing = threading.Event()
        self._replies: dict[str, Iterator[Reply]] = {}

    def reply(self, path: str, *replies: Reply, then: Iterable[Reply] = ()) -> str:
        """Answer requests for a path so, further ones rightly; return its address."""
        self._replies[path] = chain(replies, then)
        return f"{self.url}/{path}"

    def next_reply(self, path: str) -> Reply:
        return next(self._replies.get(path, iter(())), Reply())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        path = unquote(self.path.lstrip("/"))
        asked = self.headers.get("Range")
        self.server.requests.append((path, asked))
        self.server.tokens.append(self.headers.get("Authorization"))
        reply = self.server.next_reply(path)
        if reply.stalls:
            self.server.closing.wait(30)
            return
        file = self.server.folder / path
        status, body, headers = reply.status, reply.body, dict(reply.headers)
        if body is None and status == 200 and not file.is_file():
            status = 404
        if body is None:
            body = file.read_bytes() if status == 200 else b"{}"
        if status == 200 and reply.etag:
            headers["ETag"] = reply.etag
        is_same = self.headers.get("If-Range") == reply.etag
        if status == 200 and asked and is_same and reply.takes_range:
            start = int(asked.removeprefix("bytes=").rstrip("-")) + reply.shift
            status = 206 if start < len(body) else 416
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
            body = body[start:]
        if reply.length is not None:
            headers["Content-Length"] = str(len(body) if reply.length < 0 else reply.length)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: reply.cut])


@contextmanager
def serve(folder: Path) -> Iterator[Server]:
    """Serve a folder while the block runs."""
    server = Server(folder)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def tar_gz(*members: tuple[tarfile.TarInfo | str, bytes]) -> bytes:
    """Return a ``.tar.gz`` of members: a path and its content, or what is not a file."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for member, content in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()
