"""A server at an address that does one wrong thing: `KIND PORT`. Raw HTTP, older protocol."""

import gzip
import json
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any

KIND, PORT = sys.argv[1], int(sys.argv[2])

Json = dict[str, Any]
OBJECT: Json = {"type": "object", "properties": {}}
state: Json = {"sessions": 0, "lost": []}
answers: Queue[Json] = Queue()
"""What clients answered to what they were asked."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the standard library's own
        """Say nothing."""

    def do_GET(self) -> None:
        state["streams"] = state.get("streams", 0) + 1
        if KIND == "ends-streams":
            self.stream("text/event-stream", [b"retry: 0\ndata:\n\n"])
        else:
            self.reply(405, b"")

    def do_DELETE(self) -> None:
        self.reply(200, b"")

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length", 0))
        message: Json = json.loads(self.rfile.read(size) or b"{}")
        method, id_ = message.get("method"), message.get("id")
        session = self.headers.get("mcp-session-id")
        if KIND == "old":
            self.reply(405, b"Method Not Allowed", {"content-type": "text/plain"})
        elif KIND == "unmoved" and method == "server/discover":
            state["unmoved"] = state.get("unmoved", 0) + 1
            holds(self, id_)
        elif session is not None and session in state["lost"]:
            self.reply(*LOSES[KIND])
        elif method == "initialize":
            state["sessions"] += 1
            info = {"name": KIND, "version": "1"}
            result: Json = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": info,
            }
            self.answer(id_, result, {"mcp-session-id": f"s{state['sessions']}"})
        elif method == "tools/list":
            tools = [{"name": name, "inputSchema": OBJECT} for name in ("fine", "wrong")]
            self.answer(id_, {"tools": tools})
        elif method in ("resources/list", "resources/read") or (
            method == "tools/call" and message["params"]["name"] == "wrong"
        ):
            CALLS[KIND](self, id_)
        elif method == "tools/call":
            self.answer(id_, text(state.get("left", "fine")))
        elif id_ is None or method is None:
            if method is None:
                answers.put(message)
            self.reply(202, b"")
        else:
            error = {"code": -32601, "message": "no such method"}
            body = json.dumps({"jsonrpc": "2.0", "id": id_, "error": error})
            self.reply(200, body.encode(), {"content-type": "application/json"})

    def answer(
        self, id_: Any, result: Json, headers: dict[str, str] | None = None, mark: bytes = b""
    ) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}).encode()
        self.reply(200, mark + body, {"content-type": "application/json", **(headers or {})})

    def reply(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def stream(self, kind: str, chunks: list[bytes], times: int = 1) -> None:
        """Send without saying how long it will be, and close."""
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for _ in range(times):
                for chunk in chunks:
                    self.wfile.write(chunk)
        except OSError:
            return


def text(words: str) -> Json:
    return {"content": [{"type": "text", "text": words}]}


def compressed(handler: Handler, id_: Any) -> None:
    message = {"jsonrpc": "2.0", "id": id_, "result": text("x" * 50_000_000)}
    body = gzip.compress(json.dumps(message).encode())
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    handler.reply(200, body, headers)


def forgets(handler: Handler, id_: Any) -> None:
    """Answer, and lose the session of it as a server does that is started again."""
    state["lost"].append(handler.headers.get("mcp-session-id"))
    handler.answer(id_, text("lost"))


def loses(status: int, code: int, words: str) -> tuple[int, bytes, dict[str, str]]:
    """Return what is said of a lost session, with an error of the protocol as the body."""
    error = {"code": code, "message": words}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error})
    return status, body.encode(), JSON


def forgets_again(handler: Handler, id_: Any) -> None:
    del id_
    handler.reply(*loses(404, -32001, "Session not found"))


def charges(status: int) -> Callable[[Handler, Any], None]:
    """Return what acts on a call and then answers it as one whose session was lost, or looks so."""

    def answer(handler: Handler, id_: Any) -> None:
        state["charged"] = state.get("charged", 0) + 1
        words = f"charged {state['charged']}, but made no checkout session"
        if status == 200:
            words = "the server knows this session no more"
        error = {"code": -32002, "message": words, "data": {"charged": state["charged"]}}
        body = json.dumps({"jsonrpc": "2.0", "id": id_, "error": error})
        handler.reply(status, body.encode(), JSON)

    return answer


def limits(status: int) -> Callable[[Handler, Any], None]:
    """Return what refuses a call by the code that the SDK has for a connection that has ended."""

    def answer(handler: Handler, id_: Any) -> None:
        error = {"code": -32000, "message": "rate limited: try again in 5 s"}
        body = json.dumps({"jsonrpc": "2.0", "id": id_, "error": error})
        handler.reply(status, body.encode(), JSON)

    return answer


def drips(handler: Handler, _id: Any) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b": nothing yet\n\n")
            time.sleep(0.01)
    except OSError:
        handler.close_connection = True


def asks(handler: Handler, id_: Any) -> None:
    """Ask for a name in the stream that the answer comes in, and answer with it."""
    form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    params = {"message": "Who?", "requestedSchema": form}
    question = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params}
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("connection", "close")
    handler.end_headers()
    handler.close_connection = True
    handler.wfile.write(b"data: %s\n\n" % json.dumps(question).encode())
    name = answers.get()["result"]["content"]["name"]
    answer = {"jsonrpc": "2.0", "id": id_, "result": text(name)}
    handler.wfile.write(b"data: %s\n\n" % json.dumps(answer).encode())


def holds(handler: Handler, _id: Any) -> None:
    """Give no answer, and wait until the client has left."""
    if KIND == "holds":
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(b"id: 1\nretry: 0\ndata:\n\n")
    handler.rfile.read(1)
    state["left"] = "left"
    handler.close_connection = True


def breaks_off(handler: Handler, _id: Any) -> None:
    headers = {"content-type": "application/json", "content-length": "1000"}
    handler.reply(200, b'{"jsonrpc"', headers)
    handler.close_connection = True


def pieces(id_: Any) -> list[bytes]:
    """Return an answer as an event, a byte at a time."""
    body = json.dumps({"jsonrpc": "2.0", "id": id_, "result": text(HALVES)})
    return [bytes([each]) for each in f"data: {body}\n\n".encode()]


HALVES = "\ud83d cut \\ud83d \ud83d\ude00 \ude00"
BIG = b"x" * 1_000_000
JSON = {"content-type": "application/json"}

LOSES: dict[str, tuple[int, bytes, dict[str, str]]] = {
    "forgets": (404, b"", {}),
    "forgets-as-typescript": loses(404, -32001, "Session not found"),
    "forgets-as-python": loses(404, -32600, "Session not found"),
    "forgets-by-400": loses(400, -32000, "Bad Request: No valid session ID provided"),
}

CALLS: dict[str, Callable[[Handler, Any], None]] = {
    "huge-json": lambda h, _id: h.stream("application/json", [BIG], 50),
    "huge-event": lambda h, _id: h.stream("text/event-stream", [b"data: ", *[BIG] * 50, b"\n\n"]),
    "compressed": compressed,
    "elsewhere": lambda h, _id: h.reply(307, b"", {"location": "http://127.0.0.2:9/mcp"}),
    "accepts": lambda h, _id: h.reply(202, b""),
    "page": lambda h, _id: h.reply(200, b"<html>", {"content-type": "text/html"}),
    "breaks": lambda h, _id: h.reply(500, b"oops"),
    "times-out": lambda h, _id: h.reply(504, b'{"message": "timed out"}', JSON),
    "forbids": lambda h, _id: h.reply(403, b'{"message": "no such plan"}', JSON),
    "needs-a-key": lambda h, _id: h.reply(400, b'{"message": "no API key"}', JSON),
    "busy": lambda h, _id: h.reply(429, b"later"),
    "no-json": lambda h, _id: h.reply(200, b"{no", JSON),
    "half-json": lambda h, id_: h.answer(id_, text(HALVES)),
    "half-event": lambda h, id_: h.stream("text/event-stream", pieces(id_)),
    "marked": lambda h, id_: h.answer(id_, text("marked"), mark=b"\xef\xbb\xbf"),
    "no-event": lambda h, _id: h.stream("text/event-stream", [b"data: {no\n\n"]),
    "wrong-id": lambda h, id_: h.answer(id_ + 100, text("not yours")),
    **dict.fromkeys(LOSES, forgets),
    "forgets-again": forgets_again,
    **{f"charges-{status}": charges(status) for status in (200, 400, 404)},
    **{f"limits-{status}": limits(status) for status in (200, 503)},
    "drips": drips,
    **dict.fromkeys(("holds", "mute"), holds),
    "asks": asks,
    "unmoved": lambda h, id_: h.answer(id_, text(str(state["unmoved"]))),
    "ends-streams": lambda h, id_: h.answer(id_, text(str(state["streams"]))),
    "refuses": lambda h, _id: h.reply(413, b"<html>", {"content-type": "text/html"}),
    "batch": lambda h, id_: h.reply(
        200, b"[%s]" % json.dumps({"jsonrpc": "2.0", "id": id_, "result": {}}).encode(), JSON
    ),
    "breaks-off": breaks_off,
    "ends": lambda h, _id: h.stream("text/event-stream", []),
}


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
