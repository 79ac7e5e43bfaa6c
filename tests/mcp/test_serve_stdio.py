"""A session served on standard streams: nothing but the protocol, and nothing left behind."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import anyio
import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from fronts import MODES, Mode, Person, accepts, data_of, text_of
from lineshaft.store import Store
from upstreams.addresses import end
from upstreams.real import SERVERS, node, npm_package, python_server

FRONT = [sys.executable, str(SERVERS / "front.py"), "stdio"]
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


def parameters(at: Path, *command: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=command[0], args=list(command[1:]), cwd=at, env=dict(os.environ)
    )


class Raw:
    """A client that writes lines."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process

    def write(self, line: bytes) -> None:
        """Write a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """Read an answer."""
        assert self.process.stdout is not None
        return cast("dict[str, Any]", json.loads(self.process.stdout.readline()))

    def asked(self, method: str, **params: object) -> dict[str, Any]:
        """Send a request, and read the answer to it."""
        message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        self.write(json.dumps(message).encode())
        while (answer := self.read()).get("id") != method:
            pass
        return answer


@contextmanager
def raw(at: Path, command: Sequence[str] = FRONT, **capabilities: object) -> Generator[Raw]:
    params = cast("dict[str, object]", HELLO["params"])
    hello = {**HELLO, "params": {**params, "capabilities": capabilities}}
    process = subprocess.Popen(
        command, cwd=at, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        client = Raw(process)
        client.write(json.dumps(hello).encode())
        assert client.read()["result"]["serverInfo"]["name"] == "lineshaft"
        client.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        yield client
    finally:
        end(process)


def test_no_engine_and_no_checker_is_loaded_before_the_first_answer(tmp_path: Path) -> None:
    imports, told = tmp_path / "imports.txt", [sys.executable, "-X", "importtime"]
    with (
        imports.open("wb") as errors,
        subprocess.Popen(
            [*told, "-m", "lineshaft", "serve"],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process,
    ):
        try:
            client = Raw(process)
            client.write(json.dumps(HELLO).encode())
            assert "result" in client.read()
            began = [child.name() for child in psutil.Process(process.pid).children()]
        finally:
            end(process)
    loaded = {line.rpartition("|")[2].strip() for line in imports.read_text().splitlines()}
    assert "mcp" in loaded
    assert not [name for name in loaded if name.partition(".")[0] == "wasmtime"]
    assert began == []


@pytest.mark.parametrize("mode", MODES)
async def test_the_command_serves_the_configured_tools(mode: Mode, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    server = parameters(tmp_path, sys.executable, "-m", "lineshaft", "serve", "--direct", "read_*")
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        heard.append(message)

    async with Client(stdio_client(server), mode=mode) as client:
        listed = [each.name for each in (await client.list_tools()).tools]
        code = "return (await read_file('a.txt'))['content']"
        ran = await client.call_tool("run", {"code": code}, progress_callback=hear)
        direct = await client.call_tool("read_file", {"path": "a.txt"})
    assert "read_file" in listed
    assert "write_file" not in listed
    assert data_of(ran)["value"] == "one\n"
    assert data_of(direct)["content"] == "one\n"
    assert heard == ["call 1: read_file"]
    shown = await anyio.run_process(
        [sys.executable, "-m", "lineshaft", "show", data_of(ran)["run_id"]], cwd=tmp_path
    )
    assert b"origin mcp" in shown.stdout


@pytest.mark.parametrize("mode", MODES)
async def test_configured_servers_stand_behind_it_and_one_that_hangs_keeps_nobody_waiting(
    mode: Mode, tmp_path: Path
) -> None:
    config = tmp_path / "config" / "lineshaft" / "lineshaft.toml"
    config.parent.mkdir(parents=True)
    hangs = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    plain = python_server("plain")
    config.write_text(
        f"[mcp.servers.hangs]\ncommand = {hangs[0]!r}\nargs = {hangs[1:]!r}\n"
        f"[mcp.servers.shop]\ncommand = {plain[0]!r}\nargs = {plain[1:]!r}\n"
    )
    serve = [sys.executable, "-m", "lineshaft", "serve", "--accept-claims"]
    server = parameters(tmp_path, *serve)
    server.env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config")}
    children: list[psutil.Process] = []
    async with Client(stdio_client(server), mode=mode) as client:
        listed = await client.list_tools()
        code = "return await shop.orders(customer='ada')"
        ran = await client.call_tool("run", {"code": code})
        me = psutil.Process()
        children += [each for each in me.children(recursive=True) if "plain.py" in _line(each)]
    assert len(listed.tools) == 5
    assert data_of(ran)["value"] == [1, 2], text_of(ran)
    assert children
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []


def _line(process: psutil.Process) -> str:
    with suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


def test_direct_tools_that_there_are_not_are_told(tmp_path: Path) -> None:
    errors = tmp_path / "errors.txt"
    command = [sys.executable, "-m", "lineshaft", "serve", "--direct", "read_*", "--direct", "x.*"]
    with (
        errors.open("wb") as told,
        subprocess.Popen(
            command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told
        ) as process,
    ):
        try:
            client = Raw(process)
            client.write(json.dumps(HELLO).encode())
            assert "result" in client.read()
        finally:
            end(process)
    said = errors.read_text()
    assert "no tool is named 'x.*'" in said
    assert "read_" not in said


def test_the_first_list_has_the_direct_tools_of_a_server_that_is_just_starting(
    tmp_path: Path,
) -> None:
    with raw(tmp_path) as client:
        listed = client.asked("tools/list")["result"]["tools"]
    assert "shop__orders" in [each["name"] for each in listed]


@pytest.mark.parametrize("mode", MODES)
async def test_what_tools_write_does_not_reach_the_client(mode: Mode, tmp_path: Path) -> None:
    async with Client(stdio_client(parameters(tmp_path, *FRONT)), mode=mode) as client:
        ran = await client.call_tool("run", {"code": "return await noise()"})
        upstream = await client.call_tool(
            "run", {"code": "return await shop.orders(customer='ada')"}
        )
    assert data_of(ran)["value"] == "noisy"
    assert not upstream.is_error


def test_what_a_module_prints_while_it_starts_does_not_reach_the_client(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import lineshaft\n"
        "print('own.py starts', flush=True)\n"
        "@lineshaft.tool(effect='read')\n"
        "def look() -> int:\n"
        "    return 1\n"
    )
    command = [sys.executable, "-m", "lineshaft", "serve", "--tools", "own.py"]
    with raw(tmp_path, command) as client:
        assert "tools" in client.asked("tools/list")["result"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_person_behind_a_program_approves(mode: Mode, tmp_path: Path) -> None:
    person = Person([accepts(decision="approve all")])
    server = stdio_client(parameters(tmp_path, *FRONT))
    async with Client(server, mode=mode, elicitation_callback=person) as client:
        ran = await client.call_tool("run", {"code": "return await put(what='x')"})
    assert data_of(ran)["value"] == "x"


async def test_a_person_in_a_terminal_approves_what_a_client_started(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(
        "from lineshaft import tool\n"
        "@tool(effect='external')\n"
        "async def put(what: str) -> str:\n"
        "    'Put something somewhere.'\n"
        "    return what\n"
    )
    command = [sys.executable, "-m", "lineshaft"]
    options = ["--tools", "t.py"]
    server = parameters(tmp_path, *command, "serve", "--mode", "ask", *options)
    async with Client(stdio_client(server)) as client:
        ran = await client.call_tool("run", {"code": "return await put(what='x')"})
        assert data_of(ran)["status"] == "paused", text_of(ran)
        run_id = data_of(ran)["run_id"]
        await anyio.run_process(
            [*command, "resume", run_id, "--approve", "all", *options], cwd=tmp_path
        )
        done = await client.call_tool("resume", {"run_id": run_id})
    assert data_of(done)["value"] == "x"


def test_bad_messages_cost_only_themselves(tmp_path: Path) -> None:
    with raw(tmp_path) as client:
        for line in (
            b"not json",
            b"{}",
            b"[]",
            b'{"jsonrpc":"2.0","id":1}',
            b'"' + b"x" * 5_000_000 + b'"',
            b"\xff\xfe\x00",
            b"[" * 100_000,
            b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":3}}',
            b'{"jsonrpc":"2.0","id":9,"method":"no/such","params":{}}',
        ):
            client.write(line)
        listed = client.asked("tools/list")
        ran = client.asked("tools/call", name="run", arguments={"code": "return 2"})
    assert len(listed["result"]["tools"]) >= 5
    assert ran["result"]["_meta"]["lineshaft/run"]["value"] == 2


def test_a_line_that_begins_with_the_mark_of_its_encoding_is_read(tmp_path: Path) -> None:
    with raw(tmp_path) as client:
        client.write(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":"marked","method":"ping"}')
        while (answer := client.read()).get("id") != "marked":
            pass
    assert answer["result"] == {}


def test_a_page_that_was_never_given_out_is_refused(tmp_path: Path) -> None:
    with raw(tmp_path) as client:
        refused = client.asked("tools/list", cursor="made up")
        listed = client.asked("tools/list")
    assert refused["error"]["code"] == -32602
    assert len(listed["result"]["tools"]) >= 5


LONG = b'{"jsonrpc":"2.0","id":"long","method":"ping","params":{"a":"' + b"x" * 5_000_000 + b'"}}'
TAIL = b'{"method":"ping","params":{"a":"' + b"x" * 5_000_000 + b'"},"jsonrpc":"2.0","id":7}'
HALF = (
    b'{"jsonrpc":"2.0","id":3,"method":"tools/call",'
    b'"params":{"name":"run","arguments":{"code":"return \'a\\ud83d\'"}}}'
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Raw]:
    """Give one client to all tests of lines that cost only themselves."""
    with raw(tmp_path_factory.mktemp("served")) as client:
        yield client


@pytest.mark.parametrize(
    ("line", "request_id", "code", "says"),
    [
        (b"{nope", None, -32700, "no JSON"),
        (b'{"jsonrpc":"2.0","id":4,"method":"ping","params":{', 4, -32700, "no JSON"),
        (HALF, 3, -32600, "half a character"),
        (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":"x"}', 5, -32600, "no JSON-RPC"),
        (b'{"jsonrpc":"2.0","id":6}', 6, -32600, "no JSON-RPC"),
        (b'{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}', None, -32600, "half a character"),
        (b'{"jsonrpc":"2.0","method":"tools/call","params":{"id":7}', None, -32700, "no JSON"),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}', None, -32700, "no JSON"),
        (b'{"jsonrpc":"2.0","id":4.5,"method":"ping","params":{', None, -32700, "no JSON"),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None, -32600, "in a line of its own"),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600, "whose id is neither"),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600, "whose id is neither"),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', None, -32600, "whose id is neither"),
        (LONG, "long", -32600, "more than 4,194,304 bytes"),
        (TAIL, 7, -32600, "more than 4,194,304 bytes"),
    ],
)
def test_a_line_that_is_no_message_is_answered(
    line: bytes, request_id: object, code: int, says: str, served: Raw
) -> None:
    served.write(line)
    while "error" not in (answer := served.read()):
        pass
    pinged = served.asked("ping")
    assert (answer["id"], answer["error"]["code"]) == (request_id, code)
    assert says in answer["error"]["message"]
    assert pinged["result"] == {}


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, "1"), ("x", "x")])
def test_an_id_that_is_under_way_is_refused(first: object, second: object, served: Raw) -> None:
    """The refusal has no id: it would pass for the answer to the first request."""

    def write(method: str, request: object = None, **params: object) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        served.write(json.dumps(message | ({} if request is None else {"id": request})).encode())

    def pinged() -> dict[str, Any]:
        write("ping", second)
        return served.read()

    write("tools/call", first, name="run", arguments={"code": "return await hang()"})
    refused = pinged()
    write("notifications/cancelled", requestId=first)
    while "error" in (answer := pinged()):  # the cancelled run is being ended
        pass
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    assert refused["error"]["message"] == f"a request with the id {second!r} is under way"
    assert answer == pinged() == {"jsonrpc": "2.0", "id": second, "result": {}}


@pytest.mark.parametrize(
    "answer", [b'"result":null', b'"result":{"a":"' + b"x" * 5_000_000 + b'"}']
)
def test_an_answer_that_cannot_be_read_fails_its_question(answer: bytes, tmp_path: Path) -> None:
    with raw(tmp_path, elicitation={}) as client:
        call = {"name": "run", "arguments": {"code": "return await put('x')"}}
        client.write(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
        )
        while (asked := client.read()).get("method") != "elicitation/create":
            pass
        client.write(
            b'{"jsonrpc":"2.0","id":' + json.dumps(asked["id"]).encode() + b"," + answer + b"}"
        )
        while (done := client.read()).get("id") != 1:
            pass
    assert done["result"]["_meta"]["lineshaft/run"]["status"] in ("error", "paused", "refused")


@pytest.mark.parametrize("busy", [False, True])
def test_it_ends_with_all_it_started_when_its_client_goes(busy: bool, tmp_path: Path) -> None:
    with raw(tmp_path) as client:
        client.asked(
            "tools/call", name="run", arguments={"code": "return await shop.orders(customer='ada')"}
        )
        children = psutil.Process(client.process.pid).children(recursive=True)
        assert children
        if busy:
            call = {"name": "run", "arguments": {"code": "return await hang()"}}
            message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}
            client.write(json.dumps(message).encode())
            while not (tmp_path / "hangs").exists():
                pass
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.process.wait(timeout=10) == 0
        _, alive = psutil.wait_procs(children, timeout=5)
        assert alive == []
    if busy:
        assert anyio.run(_statuses, tmp_path)[0] == "cancelled"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_it_leaves_nothing_when_it_is_ended(number: signal.Signals, tmp_path: Path) -> None:
    with raw(tmp_path) as client:
        client.asked(
            "tools/call", name="run", arguments={"code": "return await shop.orders(customer='ada')"}
        )
        children = psutil.Process(client.process.pid).children(recursive=True)
        client.process.send_signal(number)
        client.process.wait(timeout=10)
        _, alive = psutil.wait_procs(children, timeout=10)
        assert alive == []


async def _statuses(at: Path) -> list[str]:
    async with Store(at / "store.db") as store:
        return [each.status for each in await store.runs()]


def test_the_inspector_lists_describes_and_runs(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")

    def inspect(*words: str) -> dict[str, Any]:
        inspector = npm_package("inspector")
        serve = [sys.executable, "-m", "lineshaft", "serve"]
        patient = ["--connect-timeout", "90000"]
        command = [node(), str(inspector), "--cli", *serve, *patient, *words]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
        return cast("dict[str, Any]", json.loads(done.stdout))

    listed = inspect("--method", "tools/list")
    names = ["--tool-arg", 'names=["read_file"]']
    told = inspect("--method", "tools/call", "--tool-name", "describe", *names)
    code = ["--tool-arg", "code=return (await read_file('a.txt'))['content']"]
    ran = inspect("--method", "tools/call", "--tool-name", "run", *code)
    assert [each["name"] for each in listed["tools"]][:2] == ["search", "describe"]
    assert "read_file" in told["content"][0]["text"]
    assert ran["_meta"]["lineshaft/run"]["value"] == "one\n"


def test_all_that_was_asked_is_answered_when_the_client_says_no_more(tmp_path: Path) -> None:
    with raw(tmp_path) as client:
        for number in range(1, 31):
            call = {"name": "run", "arguments": {"code": f"return {number}"}}
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
            client.write(json.dumps(message).encode())
        assert client.process.stdin is not None
        assert client.process.stdout is not None
        client.process.stdin.close()
        said = [json.loads(line) for line in client.process.stdout]
        assert client.process.wait(timeout=10) == 0
    assert sorted(each["id"] for each in said if "id" in each) == list(range(1, 31))


def test_it_ends_when_its_client_reads_no_more(tmp_path: Path) -> None:
    with raw(tmp_path) as client:
        assert client.process.stdout is not None
        client.process.stdout.close()
        client.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
        assert client.process.wait(timeout=30) == 0
