"""What people answer to servers on the command line, and what is said where they answer wrongly."""

import json
import sys
from pathlib import Path

import pytest

from cli.conftest import Lineshaft
from cli.person import Sit
from upstreams.real import python_server

NOTES = python_server("notes")
ASKING = """
from typing import Annotated
from mcp.server import MCPServer
from mcp.server.mcpserver import Elicit, ElicitationResult, Resolve
from pydantic import BaseModel

class Nothing(BaseModel):
    pass

server = MCPServer("asking", log_level="ERROR")

def asked() -> Elicit[Nothing]:
    return Elicit("Are you sure?", Nothing)

@server.tool()
def sure(answer: Annotated[ElicitationResult[Nothing], Resolve(asked)]) -> str:
    return answer.action

server.run()
"""


def table(name: str, command: list[str], more: str = "") -> str:
    program, *args = map(json.dumps, command)
    return f"[mcp.servers.{name}]\ncommand = {program}\nargs = [{', '.join(args)}]\n{more}\n"


@pytest.fixture
def mine(environ: dict[str, str]) -> Path:
    """Return the person's own file."""
    path = Path(environ["XDG_CONFIG_HOME"]) / "lineshaft" / "lineshaft.toml"
    path.parent.mkdir(parents=True)
    return path


def test_answers_to_claims_that_exclude_each_other_or_name_nobody(
    here: Lineshaft, mine: Path
) -> None:
    mine.write_text(table("notes", NOTES))
    both = here("config", "mcp", "claims", "--accept", "--external")
    assert (both.returncode, "exclude each other" in both.stderr) == (2, True)
    nobody = here("config", "mcp", "claims", "other")
    assert nobody.returncode == 2
    assert "no server 'other' is ours" in nobody.stderr
    assert "ours: notes" in nobody.stderr


def test_claims_that_cannot_be_had_or_that_a_file_answers(here: Lineshaft, mine: Path) -> None:
    mine.write_text(table("gone", ["no-such-program"]) + table("notes", NOTES, 'claims = "accept"'))
    done = here("config", "mcp", "claims", "--external")
    assert done.returncode == 0
    assert "gone is not there: there is no program" in done.stderr
    assert "says claims = 'accept'; that holds" in done.stderr
    assert here("call", "notes.get_note", "name=a").returncode == 0


def test_without_a_terminal_claims_wait_for_an_answer(here: Lineshaft, mine: Path) -> None:
    mine.write_text(table("notes", NOTES))
    done = here("config", "mcp", "claims")
    assert "notes says of its" in done.stdout + done.stderr
    assert "nothing was answered; --accept and --external do so" in done.stderr
    assert here("call", "notes.get_note", "name=a").returncode == 5


@pytest.mark.parametrize(
    ("typed", "kept", "code"),
    [
        (["x", "99", "y"], "accept", 0),
        (["n"], "external", 5),
        (["l"], "nothing was answered", 5),
    ],
)
def test_a_person_answers_to_all_claims_at_once(
    here: Lineshaft, mine: Path, sit: Sit, typed: list[str], kept: str, code: int
) -> None:
    mine.write_text(table("notes", NOTES))
    with sit("config", "mcp", "claims") as person:
        person.read_until("Does it count?")
        *wrong, right = typed
        for each in wrong:
            person.seen = ""
            person.type(f"{each}\n")
            person.read_until("numbers from 1 to")
            person.read_until("Does it count?")
        person.type(f"{right}\n")
        assert kept in person.ends_with(0)
    assert here("call", "notes.get_note", "name=a").returncode == code


@pytest.mark.parametrize(("typed", "action"), [("y", "accept"), ("n", "decline")])
def test_a_person_is_asked_yes_or_no_where_a_tool_wants_no_more(
    workspace: Path, mine: Path, sit: Sit, typed: str, action: str
) -> None:
    server = workspace.parent / "asking.py"
    server.write_text(ASKING)
    mine.write_text(table("asking", [sys.executable, str(server)], 'claims = "accept"'))
    with sit("call", "asking.sure", "--mode", "open") as person:
        assert "asking.sure: Are you sure?" in person.read_until("y/n")
        person.type("perhaps\n")
        person.read_until("y or n")
        person.type(f"{typed}\n")
        assert action in person.ends_with(0)


def test_an_input_with_choices_that_nobody_answers_keeps_its_server_down(
    mine: Path, sit: Sit
) -> None:
    wanted = 'inputs = [{ id = "region", description = "Where", options = ["eu", "us"] }]'
    mine.write_text(table("notes", [*NOTES, "${input:region}"], f'{wanted}\nclaims = "accept"'))
    with sit("call", "notes.get_note", "name=a") as person:
        shown = person.read_until("region: ")
        assert "notes needs a value that is not kept: Where" in shown
        assert "eu" in shown
        person.type("\x04")
        shown = person.ends_with(1)
    assert "the input 'region' has no answer; set it: export LINESHAFT_INPUT_REGION" in shown
    assert "no terminal" not in shown


def test_all_of_a_server_at_an_address_is_shown_before_it_is_approved(
    here: Lineshaft, workspace: Path
) -> None:
    (workspace / "lineshaft.toml").write_text(
        "[mcp.servers.vault]\n"
        'url = "https://vault.example.org/mcp"\n'
        'headers = { X-Team = "red", Authorization = "Bearer hunter2-hunter2" }\n'
        'tools = { include = ["get_*"], exclude = ["*_all"] }\n'
        "[mcp.servers.vault.auth]\n"
        'grant = "jwt_bearer"\nissuer = "https://auth.example.org"\nclient_id = "ours"\n'
        'client_secret = "hunter3-hunter3"\nassertion = "${VAULT_TOKEN}"\n'
    )
    done = here("config", "trust", "--yes")
    lines = [line.strip() for line in done.stderr.splitlines()]
    assert done.returncode == 0
    assert "address: https://vault.example.org/mcp" in lines
    assert "header X-Team: red" in lines
    assert "auth grant: jwt_bearer" in lines
    assert "auth issuer: https://auth.example.org" in lines
    assert "auth assertion: ${VAULT_TOKEN}" in lines
    assert "only the tools: get_*" in lines
    assert "without the tools: *_all" in lines
    assert "it is given yours: VAULT_TOKEN" in lines
    assert "hunter" not in done.stderr + done.stdout


def test_doctor_notes_what_is_switched_off_and_what_waits(here: Lineshaft, workspace: Path) -> None:
    (workspace / "tools.py").write_text("")
    (workspace / "lineshaft.toml").write_text(
        '[tools]\nmodules = ["./tools.py"]\n[script]\nenabled = false\n'
    )
    done = here("doctor", "--quick")
    assert done.returncode == 0
    assert "not approved yet: ./tools.py" in done.stdout
    assert "read them, then run `lineshaft config trust`" in done.stdout
    assert "switched off by" in done.stdout
