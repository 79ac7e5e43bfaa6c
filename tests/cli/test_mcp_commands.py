"""MCP servers on the command line: found, brought in, trusted, called, and asked by."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Lineshaft
from cli.person import Sit
from upstreams.real import python_server

SECRET = "hunter2-hunter2"  # noqa: S105  a test's


def describe(workspace: Path, **more: object) -> None:
    """Write the file of a client into the workspace."""
    command, *args = python_server("notes")
    notes = {"command": command, "args": args, "env": {"NOTES_TOKEN": SECRET}}
    content = json.dumps({"mcpServers": {"notes": notes, **more}})
    (workspace / ".mcp.json").write_text(content, encoding="utf-8")


@pytest.fixture
def brought(here: Lineshaft, workspace: Path) -> Lineshaft:
    """Return the command line in a workspace whose server was brought in."""
    describe(workspace)
    done = here("init", "--import-mcp")
    assert done.returncode == 0, done.stderr
    return here


def found(here: Lineshaft) -> dict[str, Any]:
    return json.loads(here("config", "mcp", "--json").stdout)


def test_what_there_is_is_shown_without_secrets(here: Lineshaft, workspace: Path) -> None:
    describe(workspace, web={"url": f"https://mcp.test/?key={SECRET}"}, bad={"command": 3})
    shown = here("config", "mcp")
    assert SECRET not in shown.stdout + shown.stderr
    assert "not imported" in shown.stdout
    assert "command must be a text" in shown.stdout
    facts = found(here)
    assert SECRET not in json.dumps(facts)
    assert [(each["name"], each["state"]) for each in facts["found"]] == [
        ("notes", "new"),
        ("web", "new"),
        ("bad", "broken"),
    ]
    assert facts["servers"] == facts["broken"] == []


def test_a_file_that_cannot_be_read_is_named(here: Lineshaft, workspace: Path) -> None:
    (workspace / ".mcp.json").write_text("{")
    shown = here("config", "mcp")
    assert shown.returncode == 0
    assert f"{str(workspace / '.mcp.json')!r}: it is not JSON: line 1" in shown.stderr
    assert found(here)["broken"][0]["file"] == str(workspace / ".mcp.json")


def test_from_a_clients_file_to_the_first_script_without_a_question_twice(
    here: Lineshaft, workspace: Path
) -> None:
    describe(workspace)
    brought = here("init", "--import-mcp", "--accept-claims")
    assert brought.returncode == 0
    assert SECRET not in (workspace / "lineshaft.toml").read_text()
    done = here("run", "--quiet", script="return await notes.get_note('a')")
    assert (done.stdout, done.returncode) == (f"a: {len(SECRET)}\n", 0)


def test_what_is_imported_is_ready_and_twice_is_once(brought: Lineshaft, workspace: Path) -> None:
    text = (workspace / "lineshaft.toml").read_text()
    again = brought("config", "mcp", "import")
    assert again.returncode == 0
    assert "already" in again.stderr
    assert brought("init", "--import-mcp").returncode == 0
    assert (workspace / "lineshaft.toml").read_text() == text
    facts = found(brought)
    assert [(each["name"], each["state"]) for each in facts["servers"]] == [("notes", "ready")]
    assert [each["state"] for each in facts["found"]] == ["imported"]


def test_names_that_are_not_there_and_names_that_are_taken(
    brought: Lineshaft, workspace: Path
) -> None:
    unknown = brought("config", "mcp", "import", "nodes")
    assert unknown.returncode == 2
    assert "notes" in unknown.stderr
    describe(workspace, other={"command": "x"})
    file = workspace / "elsewhere.json"
    file.write_text(json.dumps({"mcpServers": {"notes": {"command": "another"}}}))
    taken = brought("config", "mcp", "import", "notes", "--from", str(file))
    assert taken.returncode == 2
    assert "--as NAME" in taken.stderr
    words = ("config", "mcp", "import", "notes", "--from", str(file), "--as", "others", "--user")
    assert brought(*words).returncode == 0
    assert {each["name"] for each in found(brought)["servers"]} == {"notes", "others"}


def test_a_file_that_describes_no_servers_is_said_to(here: Lineshaft, workspace: Path) -> None:
    (workspace / "zed.json").write_text('{"context_servers": {"a": {"command": "x"}}}')
    done = here("config", "mcp", "import", "--from", "zed.json")
    assert done.returncode == 2
    assert "'zed.json' describes no servers" in done.stderr
    assert "mcpServers or servers" in done.stderr


def test_claims_count_once_they_are_accepted(brought: Lineshaft) -> None:
    waits = brought("call", "notes.get_note", "name=a")
    assert waits.returncode == 5
    assert "lineshaft config mcp claims notes" in waits.stderr
    listed = brought("config", "mcp", "claims")
    assert "notes.get_note: only reads" in listed.stdout
    assert "notes.set_note: acts" in listed.stdout
    assert "kept" in brought("config", "mcp", "claims", "notes", "--accept").stderr
    assert brought("call", "notes.get_note", "name=a").stdout == f"a: {len(SECRET)}\n"
    assert brought("call", "notes.set_note", "name=a", "text=b").returncode == 5
    assert found(brought)["servers"][0]["claims"] == "accept"
    brought("config", "mcp", "claims", "--external")
    assert brought("call", "notes.get_note", "name=a").returncode == 5


def test_what_a_server_was_given_is_in_no_record(brought: Lineshaft) -> None:
    words = ("run", "--quiet", "--accept-claims")
    told = brought(*words, script="print(await notes.tell_token())")
    assert told.returncode == 0
    assert SECRET not in brought("show", "--events").stdout


def test_claims_are_accepted_by_a_flag(brought: Lineshaft) -> None:
    done = brought("call", "notes.get_note", "name=a", "--accept-claims")
    assert (done.stdout, done.returncode) == (f"a: {len(SECRET)}\n", 0)
    assert brought("call", "notes.get_note", "name=a").returncode == 0


def test_the_servers_of_a_projects_file_wait_for_a_person(here: Lineshaft, workspace: Path) -> None:
    command, *args = python_server("notes")
    text = f"[mcp.servers.notes]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n"
    (workspace / "lineshaft.toml").write_text(text)
    called = here("call", "notes.get_note", "name=a", "--mode", "open")
    assert called.returncode == 1
    assert "lineshaft config trust" in called.stderr
    unasked = here("config", "trust")
    assert unasked.returncode == 2
    assert "sha256" in unasked.stderr
    assert "approved notes" not in unasked.stderr
    trusted = here("config", "trust", "--yes")
    assert "sha256" in trusted.stderr
    done = here("call", "notes.get_note", "name=a", "--mode", "open")
    assert done.stdout == "a: 0\n"
    (workspace / "lineshaft.toml").write_text(text + 'env = { NOTES_TOKEN = "${HOME}" }\n')
    changed = here("call", "notes.get_note", "name=a", "--mode", "open")
    assert "it is not approved yet" in changed.stderr


def test_servers_of_clients_are_used_where_a_person_said_so(
    here: Lineshaft, workspace: Path, environ: dict[str, str]
) -> None:
    describe(workspace)
    own = Path(environ["XDG_CONFIG_HOME"]) / "lineshaft" / "lineshaft.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[mcp]\nclients = true\n")
    words = ("call", "notes.get_note", "name=a", "--accept-claims")
    assert "it is not approved yet" in here(*words).stderr
    assert [each["state"] for each in found(here)["servers"]] == ["unapproved"]
    trusted = here("config", "trust", "--yes")
    assert SECRET not in trusted.stderr
    assert here(*words).stdout == f"a: {len(SECRET)}\n"


def test_serve_says_which_servers_are_down(lineshaft: Lineshaft, workspace: Path) -> None:
    (workspace / "lineshaft.toml").write_text('[mcp.servers.a]\ncommand = "x"\n')
    done = lineshaft("serve")
    assert "a: it is not approved yet" in done.stderr
    assert done.stdout == ""


def test_tools_of_servers_are_listed_and_a_server_that_is_down_says_why(
    brought: Lineshaft, workspace: Path
) -> None:
    with (workspace / "lineshaft.toml").open("a") as file:
        file.write('[mcp.servers.gone]\nurl = "http://127.0.0.1:9/${NO_SUCH_VARIABLE}"\n')
    listed = brought("tools")
    assert "notes.get_note" in listed.stdout
    assert "gone: it is not approved yet" in listed.stderr
    brought("config", "trust", "--yes")
    assert "gone: the variable NO_SUCH_VARIABLE is not set" in brought("tools").stderr
    assert SECRET not in listed.stdout + listed.stderr


def test_the_last_words_of_a_server_are_told_without_secrets(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "lineshaft.toml").write_text(
        '[mcp.servers.a]\ncommand = "/bin/sh"\nargs = ["-c", "echo no: $PLAIN >&2; exit 1"]\n'
        '[mcp.servers.a.env]\nPLAIN = "${SOME_TOKEN}"\n'
    )
    variables = {"SOME_TOKEN": SECRET}
    lineshaft("config", "trust", "--yes")
    for words in (("tools",), ("run", "-c", "return await a.get()"), ("call", "a.get")):
        done = lineshaft(*words, variables=variables)
        assert "no: [redacted]" in done.stdout + done.stderr
        assert SECRET not in done.stdout + done.stderr


def test_a_script_starts_only_the_servers_that_it_can_reach(
    here: Lineshaft, workspace: Path
) -> None:
    describe(workspace, trap={"command": "/bin/sh", "args": ["-c", "touch started; exec cat"]})
    here("init", "--import-mcp", "--accept-claims")
    script = "return await notes.get_note('a')"
    assert here("run", "--quiet", script=script).returncode == 0
    assert here("call", "notes.get_note", "name=a").returncode == 0
    assert not (workspace / "started").exists()


def test_check_knows_the_tools_of_servers(brought: Lineshaft) -> None:
    wrong = brought("check", script="return await notes.get_note(nam='a')")
    assert wrong.returncode == 1
    assert "no parameter `nam`" in wrong.stdout
    assert brought("check", script="return await notes.get_note('a')").returncode == 0


def test_config_show_tells_no_secret_of_a_server(here: Lineshaft, workspace: Path) -> None:
    text = f'[mcp.servers.a]\ncommand = "x"\nenv = {{ TOKEN = "{SECRET}" }}\n'
    (workspace / "lineshaft.toml").write_text(text)
    for words in (("config", "show"), ("config", "show", "--json")):
        shown = here(*words)
        assert SECRET not in shown.stdout
        assert '"a"' in shown.stdout


def test_without_a_terminal_a_server_is_told_that_nobody_answers(brought: Lineshaft) -> None:
    done = brought("call", "notes.wish", "--accept-claims")
    assert (done.returncode, done.stdout) == (1, "")
    assert "did not declare the form elicitation capability" in done.stderr


def test_a_person_answers_what_a_tool_asks(brought: Lineshaft, sit: Sit) -> None:
    brought("config", "mcp", "claims", "--accept")
    with sit("call", "notes.wish") as person:
        shown = person.read_until("declines]")
        assert "notes.wish: What would you like?" in shown
        person.read_until("2. blue")
        person.type("green\n")
        person.read_until("choose by number")
        person.type("2\n")
        person.read_until("how many")
        person.type("\n")
        assert "3 blue" in person.ends_with(0)


def test_a_person_declines_what_a_tool_asks(brought: Lineshaft, sit: Sit) -> None:
    brought("config", "mcp", "claims", "--accept")
    with sit("run", "-", script="return await notes.wish()") as person:
        person.read_until("2. blue")
        person.type("!\n")
        assert "decline" in person.ends_with(0)


def test_a_person_is_offered_the_servers_by_init(
    here: Lineshaft, workspace: Path, sit: Sit
) -> None:
    describe(workspace)
    with sit("init") as person:
        person.read_until("Bring in 1 MCP server")
        person.type("y\n")
        shown = person.ends_with(0)
    assert SECRET not in shown
    assert found(here)["servers"][0]["state"] == "ready"


def test_a_person_answers_to_claims_one_by_one(brought: Lineshaft, sit: Sit) -> None:
    with sit("config", "mcp", "claims") as person:
        person.read_until("Does it count?")
        person.type("1\n")
        person.ends_with(0)
    assert brought("call", "notes.get_note", "name=a").returncode == 0
    assert brought("call", "notes.wish").returncode == 5
    assert found(brought)["servers"][0]["claims"] == "edited"


def test_an_input_is_asked_for_when_the_server_starts_and_not_shown(
    here: Lineshaft, workspace: Path, sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, *args = python_server("notes")
    (workspace / ".vscode").mkdir()
    server = {"command": command, "args": args, "env": {"NOTES_TOKEN": "${input:token}"}}
    inputs = [{"id": "token", "description": "The token of notes", "password": True}]
    text = json.dumps({"inputs": inputs, "servers": {"notes": server}})
    (workspace / ".vscode" / "mcp.json").write_text(text)
    here("init", "--import-mcp", "--accept-claims")
    alone = here("call", "notes.get_note", "name=a")
    assert "LINESHAFT_INPUT_TOKEN" in alone.stderr
    monkeypatch.setenv("LINESHAFT_INPUT_TOKEN", SECRET)
    assert here("call", "notes.get_note", "name=a").stdout == f"a: {len(SECRET)}\n"
    with sit("call", "notes.get_note", "name=a") as person:
        person.read_until("The token of notes")
        person.read_until("token: ")
        person.type(f"{SECRET}\n")
        shown = person.ends_with(0)
    assert f"a: {len(SECRET)}" in shown
    assert SECRET not in shown


def test_all_of_what_is_approved_is_shown(here: Lineshaft, workspace: Path) -> None:
    payload = f"# {'harmless ' * 300}\nimport os; os.system('hidden')"
    hidden = {
        "LD_PRELOAD": "./own.so",
        "NODE_OPTIONS": "--require ./own.txt",
        "LEVEL": "one\x1b[2Jtwo",
        "MEMORY_FILE_PATH": "./memory.jsonl",
        "DATA_LIBRARY_PATH": "./lib",
        "API_TOKEN": "$(touch hidden-too)",
        "API_KEY": SECRET,
    }
    trap = {"command": "python3", "args": ["-c", payload, "--token", "sh -c more"], "env": hidden}
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"trap": trap}}))
    brought = here("config", "mcp", "import")
    own = [f"{key} = {json.dumps(trap[key])}\n" for key in ("command", "args")]
    own += [f"env.{name} = {json.dumps(value)}\n" for name, value in hidden.items()]
    own += ['tools = ["go"]\n']
    (workspace / "lineshaft.toml").write_text("".join(["[mcp.servers.trap]\n", *own]))
    trusted = here("config", "trust", "--yes")
    for shown in (brought.stderr, trusted.stderr):
        lines = [line.strip() for line in shown.splitlines()]
        assert f"argument 2: {payload}".replace("\n", "\\n").strip() in lines
        assert "argument 4: sh -c more" in lines
        assert "variable LD_PRELOAD (changes what is loaded!): ./own.so" in lines
        assert "variable NODE_OPTIONS (changes what is loaded!): --require ./own.txt" in lines
        assert "variable LEVEL: one\\x1b[2Jtwo" in lines
        assert "variable MEMORY_FILE_PATH: ./memory.jsonl" in lines
        assert "variable DATA_LIBRARY_PATH (changes what is loaded!): ./lib" in lines
        assert "variable API_TOKEN: $(touch hidden-too)" in lines
        assert any("no file of the project was found" in line for line in lines)
        assert SECRET not in shown
    assert "only the tools: go" in trusted.stderr


def test_what_is_too_long_to_be_read_is_not_approved(here: Lineshaft, workspace: Path) -> None:
    long = {"command": "python3", "args": ["-c", "# harmless\n" * 3_000]}
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"long": long}}))
    refused = here("config", "mcp", "import", "long")
    assert refused.returncode == 2
    assert "too long to be looked through" in refused.stderr
    (workspace / "lineshaft.toml").write_text(
        f'[mcp.servers.long]\ncommand = "python3"\nargs = {json.dumps(long["args"])}\n'
        '[mcp.servers.short]\ncommand = "x"\n'
    )
    trusted = here("config", "trust", "--yes")
    assert trusted.returncode == 2
    assert "too long to be looked through" in trusted.stderr
    states = {each["name"]: each["state"] for each in found(here)["servers"]}
    assert states == {"long": "unapproved", "short": "ready"}


def test_a_server_that_names_too_much_does_not_keep_others_from_approval(
    here: Lineshaft, workspace: Path
) -> None:
    words = " ".join(f"w{number}" for number in range(3_000))
    (workspace / "tool").write_text("one")
    (workspace / "lineshaft.toml").write_text(
        f'[mcp.servers.a]\ncommand = "sh"\nargs = ["-c", "{words}"]\n'
        '[mcp.servers.b]\ncommand = "python3"\nargs = ["tool"]\n'
    )
    trusted = here("config", "trust", "--yes")
    assert trusted.returncode == 2
    assert "any of which may be a file" in trusted.stderr
    assert f"file, approved as it is now: {workspace / 'tool'}" in trusted.stderr
    assert [each["state"] for each in found(here)["servers"]] == ["broken", "ready"]


def test_halves_of_characters_are_shown_as_text(here: Lineshaft, workspace: Path) -> None:
    half = json.loads('"\\ud800"')
    odd = {"command": "echo", "args": [half], "env": {"A": half}}
    content = {"odd": odd, f"a{half}": odd, "web": {"url": f"https://mcp.test/{half}"}}
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": content}))
    shown = here("config", "mcp")
    assert shown.returncode == 0
    assert "echo \\ud800" in shown.stdout
    assert "characters that cannot be passed on" in shown.stdout
    assert {each["state"] for each in found(here)["found"]} == {"broken"}
    refused = here("config", "mcp", "import", "odd")
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr


def test_where_no_server_is_ours_the_question_for_claims_says_so(here: Lineshaft) -> None:
    told = here("config", "mcp", "claims")
    assert (told.returncode, told.stdout) == (0, "")
    assert "there are no servers of ours" in told.stderr
    assert "ours: none" in here("config", "mcp", "claims", "nobody").stderr
