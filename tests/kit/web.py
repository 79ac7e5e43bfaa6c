"""A web server of a test, and tools that take a name for it."""

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from lineshaft import Tool
from lineshaft.kit.fetch import fetch_tool
from lineshaft.kit.fetch.client import Fetching

LOCAL = "127.0.0.1"


@dataclass(frozen=True)
class Page:
    """One answer."""

    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    status: int = 200
    stays: threading.Event | None = None
    """Sends one byte of the body, and the rest once this is set."""


@dataclass
class Site:
    """A server on this machine, which notes what it is asked."""

    port: int
    asked: list[tuple[str, Mapping[str, str]]] = field(
        default_factory=list[tuple[str, Mapping[str, str]]]
    )

    def tool(self, *hosts: str, resolve: Mapping[str, Sequence[str]] | None = None) -> Tool:
        """Return `fetch_url` for which hosts lead here.

        Args:
            *hosts: Names that a person allows, at this server's port.
            resolve: Further addresses of names.
        """
        known = {**dict.fromkeys(hosts, (LOCAL,)), **(resolve or {})}

        async def told(host: str, port: int) -> Sequence[str]:
            del port
            if host not in known:
                raise OSError("unknown host")
            return known[host]

        allowed = frozenset(f"{host}:{self.port}" for host in hosts)
        return fetch_tool(how=Fetching(allowed=allowed, resolve=told))


@contextmanager
def serving(pages: Mapping[str, Page | Callable[[int], Page]]) -> Generator[Site]:
    """Serve pages by path as long as the block lasts; a function is given the server's port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append((self.path, dict(self.headers.items())))
            found = pages.get(self.path, Page(b"nothing here", status=404))
            page = found(site.port) if callable(found) else found
            self.send_response(page.status)
            for name, value in page.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(page.body)))
            self.end_headers()
            if page.stays is None:
                self.wfile.write(page.body)
                return
            self.wfile.write(page.body[:1])
            self.wfile.flush()
            page.stays.wait(60)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its name
            """Say nothing."""

    with ThreadingHTTPServer((LOCAL, 0), Handler) as server:
        site = Site(server.server_port)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
