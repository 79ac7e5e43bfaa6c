"""Every example runs, offline, and does what it says."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from native import vouch_for_native_code

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
SECONDS = 120


def _run(*words: str, cwd: Path = EXAMPLES, variables: Mapping[str, str] | None = None) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={**os.environ, "PATH": path, **(variables or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def test_hello_finds_the_warmest_city() -> None:
    assert _run("hello.py") == "{'city': 'Rome', 'degrees': 21.5}\n3 calls, success\n"


def test_a_rule_lets_one_write_through_and_refuses_the_other() -> None:
    assert _run("policy.py").splitlines() == [
        "E_DENIED write_file",
        "['docs/a.md'] ['a.md']",
        "write_file docs/a.md done docs-only",
        "write_file src/a.py refused no-other-writes",
    ]


def test_an_object_keeps_its_state_between_calls() -> None:
    assert _run("state.py") == "6 {'apple': 4, 'pear': 2}\n"


def test_agents_sort_reports_in_parallel() -> None:
    lines = _run("triage.py", variables={"LINESHAFT_MODEL": ""}).splitlines()
    assert lines == ["1.md: bug", "2.md: question", "['kinds.txt'] 4"]


def test_agents_that_write_are_one_run_and_one_undo() -> None:
    lines = _run("headers.py", variables={"LINESHAFT_MODEL": ""}).splitlines()
    assert lines == [
        "area.py: area.",
        "empty.py: it gave up: the file is empty",
        "twice.py: twice.",
        "['area.py', 'twice.py']",
        "2 taken back",
    ]


def test_an_agent_works_by_a_program_and_is_corrected() -> None:
    assert _run("counted.py", variables={"LINESHAFT_MODEL": ""}) == "a.txt 3\n3 turns, 1 refused\n"


def test_an_agent_of_a_module_is_there_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "1.md").write_text("It crashes.")
    home = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "STATE")}
    vouch_for_native_code(tmp_path / "STATE")
    words = ("call", "agents.triage", "path=1.md", "--tools", str(EXAMPLES / "triage.py"))
    done = json.loads(
        _run(
            "-m",
            "lineshaft",
            *words,
            "--json",
            cwd=tmp_path,
            variables={**home, "LINESHAFT_MODEL": ""},
        )
    )
    assert done["value"] == {"label": "bug", "why": "it complains"}


def test_own_tools_are_there_on_the_command_line(tmp_path: Path) -> None:
    words = ("run", "scripts/warmest.py", "--tools", "weather_tools.py", "--arg", "limit=2")
    home = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "STATE")}
    vouch_for_native_code(tmp_path / "STATE")
    done = json.loads(_run("-m", "lineshaft", *words, "--mode", "read", "--json", variables=home))
    assert done["status"] == "success"
    assert done["value"] == ["Rome", "Lima"]
    assert done["usage"]["calls"] == {"cities": 1, "weather": 3}


@pytest.mark.long
def test_the_demo_reads_a_library_and_is_refused_a_write() -> None:
    output = _run("demo.py")
    files = re.search(r"(\d+) files \(\d+ of them no text\), \d+ lines", output)
    assert files is not None
    assert int(files[1]) > 400
    passed = re.search(r"([\d,]+) bytes passed through the script; ([\d,]+) bytes would", output)
    assert passed is not None
    assert int(passed[1].replace(",", "")) > 5_000_000
    assert int(passed[2].replace(",", "")) < 5_000
    assert len(re.findall(r"^\| \d+ \|", output, re.MULTILINE)) == 10
    assert "E_DENIED, line 1: policy refused write_file (rule 'mode:read')" in output


class _Model:
    """Plays a model: answers each request with the next of its messages."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.messages = iter(messages)
        self.requests: list[dict[str, Any]] = []

    @contextmanager
    def serving(self) -> Generator[str]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                model.requests.append(json.loads(self.rfile.read(size)))
                body = json.dumps({"choices": [{"message": next(model.messages)}]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its name
                """Say nothing."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}/v1"
            finally:
                server.shutdown()
                thread.join()


def _calls(call_id: str, name: str, arguments: dict[str, object] | str) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": text}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


SCRIPT = """
texts = await asyncio.gather(*[read_file(p) for p in ["a.txt", "b.txt"]])
return sum(int(t["content"]) for t in texts)
"""


def test_the_agent_loop_gives_a_model_what_its_script_returned(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("40", encoding="utf-8")
    (tmp_path / "b.txt").write_text("2", encoding="utf-8")
    model = _Model(
        [
            _calls("c1", "run_script", {"code": SCRIPT}),
            _calls("c2", "read_file", {"path": "../secret"}),
            _calls("c3", "run_script", '{"code": '),
            {"role": "assistant", "content": "It is 42."},
        ]
    )
    with model.serving() as url:
        output = _run(
            str(EXAMPLES / "agent_loop.py"),
            "Add up.",
            cwd=tmp_path,
            variables={"OPENAI_BASE_URL": url},
        )
    assert output == "It is 42.\n"
    offered = [each["function"]["name"] for each in model.requests[0]["tools"]]
    assert offered == ["run_script", "read_file"]
    told = {
        m["tool_call_id"]: m["content"]
        for m in model.requests[-1]["messages"][2:]
        if "tool_call_id" in m
    }
    assert told["c1"] == "42"
    assert told["c2"].startswith("E_SANDBOX_VIOLATION")
    assert told["c3"].startswith("E_INVALID_ARGS")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_every_example_is_run_by_a_test(path: Path) -> None:
    assert f'"{path.name}"' in Path(__file__).read_text(encoding="utf-8")
