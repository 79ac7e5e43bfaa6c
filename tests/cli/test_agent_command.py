"""`lineshaft agent`: agents of files and of settings, whose model is behind a real address."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from cli.person import Person
from models.wire import Wire, answer, completion, requested, serving

Lineshaft = Callable[..., Any]
Sit = Callable[..., AbstractContextManager[Person]]

SETTINGS = """
[agents.kind]
instructions = "Read the report and say its kind."
result = "kind.json"
tools = ["read_file", "run_command"]
model = "URL#tiny"
key_env = "TINY_KEY"
price = {input = 1.0, output = 10.0}
budget = {turns = 5, cost = 1}

[agents.kind.inputs]
type = "object"
required = ["path"]
properties.path = {type = "string", format = "workspace-path"}
properties.most = {type = "integer", minimum = 1, default = 3}
"""

MODULE = """
from typing import Literal, TypedDict

from lineshaft import WorkspacePath, kit
from lineshaft.agents import Microagent

class Report(TypedDict):
    path: WorkspacePath

sort = Microagent[Literal["bug", "question"]](
    name="sort", instructions="Say its kind.", inputs=Report, tools=[kit.tools("run_command")],
    model="ollama:none",
)
"""

INPUT = "\ninputs = {{type = 'object', properties.{} = {{type = 'string'}}}}"

SCHEMA = {
    "type": "object",
    "properties": {"label": {"enum": ["bug", "question"]}},
    "required": ["label"],
    "additionalProperties": False,
}


def says(name: str, **arguments: object) -> bytes:
    call = requested(name, json.dumps(arguments))
    return answer(completion(content=None, tool_calls=[call]))


def ends_with(result: object) -> bytes:
    return says("Exit", result=result)


@pytest.fixture
def project(workspace: Path) -> Callable[[Wire], None]:
    """Return a function that writes a project with an agent whose model is a server."""
    (workspace / "a.md").write_text("It crashes.")
    (workspace / "kind.json").write_text(json.dumps(SCHEMA))

    def write(wire: Wire) -> None:
        text = SETTINGS.replace("URL", wire.url)
        (workspace / "lineshaft.toml").write_text(text)

    return write


async def test_an_agent_of_a_project_runs_once_it_is_approved(
    lineshaft: Lineshaft, project: Callable[[Wire], None], workspace: Path
) -> None:
    run = ("agent", "run", "kind", "path=a.md")
    key = {"TINY_KEY": "sk-of-mine-123456"}

    def work() -> None:
        refused = lineshaft(*run, variables=key)
        assert refused.returncode == 2
        assert "declares the agent 'kind', which is not approved yet" in refused.stderr
        assert "lineshaft config trust" in refused.stderr
        assert wire.sent == []
        told = lineshaft("config", "trust", "--yes").stderr
        assert f"sends to: {wire.url}#tiny" in told
        assert "with the key in: TINY_KEY" in told
        assert "may call: read_file, run_command" in told
        done = lineshaft(*run, variables=key)
        assert (done.returncode, done.stdout) == (0, '{"label":"bug"}\n')
        assert "2 turns · 214 tokens · $0.0003 · " in done.stderr
        assert "read_file" in done.stderr
        assert "authorization: Bearer sk-of-mine-123456" in wire.sent[0].head
        assert "sk-of-mine" not in done.stderr + lineshaft("show", "--events").stdout
        (workspace / "kind.json").write_text(json.dumps({**SCHEMA, "title": "Other"}))
        assert "not approved yet" in lineshaft(*run, variables=key).stderr

    async with serving([says("read_file", path="a.md"), ends_with({"label": "bug"})]) as wire:
        project(wire)
        await to_thread.run_sync(work)
    assert len(wire.sent) == 2


@pytest.mark.long
async def test_results_are_json_and_wrong_inputs_say_what_to_write(
    lineshaft: Lineshaft, project: Callable[[Wire], None]
) -> None:
    def work() -> None:
        lineshaft("config", "trust", "--yes")
        listed = lineshaft("agent", "list", "--json")
        [agent] = json.loads(listed.stdout)["agents"]
        assert agent["name"] == "kind"
        assert agent["result"]["properties"]["label"] == {"enum": ["bug", "question"]}
        shown = lineshaft("agent", "show", "kind").stdout
        assert "lineshaft agent run kind path=PATH" in shown
        assert 'label: Literal["bug", "question"]' in shown
        low = lineshaft("agent", "run", "kind", "path=a.md", "most:=0")
        assert (low.returncode, low.stdout) == (2, "")
        assert "`most` is refused: it must be 1 or more, not 0" in low.stderr
        none = lineshaft("agent", "run", "kind")
        assert (none.returncode, "`path` is missing" in none.stderr) == (2, True)
        text = lineshaft("agent", "run", "agents.kind", "path=a.md", "most=3")
        assert (text.returncode, "write most:=..." in text.stderr) == (2, True)
        assert json.loads(lineshaft("runs", "--json").stdout) == []  # nothing was begun
        assert lineshaft("agent", "run", "kind", "path").returncode == 2
        keyless = lineshaft("agent", "run", "kind", "path=a.md")
        assert (keyless.returncode, keyless.stdout) == (2, "")
        assert "set the variable TINY_KEY" in keyless.stderr
        assert json.loads(lineshaft("runs", "--json").stdout) == []
        other = lineshaft("agent", "run", "kin", "path=a.md")
        assert (other.returncode, "there are: kind" in other.stderr) == (2, True)
        assert wire.sent == []
        done = lineshaft(
            "agent", "run", "kind", "path=a.md", "--json", variables={"TINY_KEY": "k" * 9}
        )
        told = json.loads(done.stdout)
        assert (told["value"], told["status"]) == ({"label": "question"}, "done")
        [used] = told["usage"]["models"].values()
        assert (used["requests"], used["input_tokens"], used["output_tokens"]) == (1, 100, 7)
        assert done.stderr == ""

    async with serving([ends_with({"label": "question"})]) as wire:
        project(wire)
        await to_thread.run_sync(work)


async def test_a_model_named_by_hand_is_the_runs_also_after_a_pause(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "own.py").write_text(MODULE)

    def work() -> None:
        run = ("agent", "run", "sort", "path=a.md", "--tools", "own.py")
        nameless = lineshaft(*run, "--model", "tiny")
        assert nameless.returncode == 2
        assert "there is no model 'tiny'" in nameless.stderr
        paused = lineshaft(*run, "--model", f"{wire.url}#tiny")
        assert (paused.returncode, paused.stdout) == (5, "")
        assert "--approve all" in paused.stderr
        assert len(wire.sent) == 1
        done = lineshaft("resume", "--approve", "all")
        assert done.returncode == 0, done.stderr
        assert '"bug"' in done.stdout or done.stdout == "bug\n"

    answers = [says("run_command", command="true"), ends_with("bug")]
    async with serving(answers) as wire:
        await to_thread.run_sync(work)
    assert len(wire.sent) == 2  # nothing was asked twice


async def test_a_budget_that_is_used_up_is_an_error_of_the_agent(
    lineshaft: Lineshaft, project: Callable[[Wire], None]
) -> None:
    def work() -> None:
        lineshaft("config", "trust", "--yes")
        done = lineshaft("agent", "run", "kind", "path=a.md", variables={"TINY_KEY": "k" * 9})
        assert (done.returncode, done.stdout) == (1, "")
        assert "it used all 5 turns without a result [E_AGENT_BUDGET]" in done.stderr
        assert "hint: give it a smaller task, better instructions, or more of that" in done.stderr
        assert "5 turns" in done.stderr

    answers = [says("read_file", path="a.md", start=number) for number in range(1, 9)]
    async with serving(answers) as wire:
        project(wire)
        await to_thread.run_sync(work)


async def test_a_person_sees_turns_tokens_and_cost(
    sit: Sit, lineshaft: Lineshaft, project: Callable[[Wire], None]
) -> None:
    def work() -> None:
        lineshaft("config", "trust", "--yes")
        words = ("agent", "run", "kind", "path=a.md")
        with sit(*words, variables={"TINY_KEY": "k" * 9}) as person:
            shown = person.ends_with(0)
        assert "agents.kind" in shown
        assert "2 turns · 214 tokens · $0.0003" in shown

    async with serving([says("read_file", path="a.md"), ends_with({"label": "bug"})]) as wire:
        project(wire)
        await to_thread.run_sync(work)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('result = {type = "string"}', "[agents.a] lacks instructions: a text"),
        ('instructions = "x"\nresult = {}\ntool = ["x"]', "did you mean 'tools'?"),
        ('instructions = "x"\nresult = {type = "strin"}', "result is no valid JSON Schema"),
        ('instructions = "x"\nresult = "none.json"', "none.json"),
        ('instructions = "x"\nresult = {}\ntools = ["read_fil"]', "did you mean 'read_file'?"),
        ('instructions = "x"\nresult = {}\nbudget = {turn = 1}', "budget: unknown key 'turn'"),
        ('instructions = "x"\nresult = {}\nbudget = {turns = 0}', "turns must be a whole number"),
        ('instructions = "x"\nresult = {}\ninputs = {type = "object"}', "with properties"),
        (
            "instructions = 'x'\nresult = {}" + INPUT.format("context"),
            "an input is named 'context'",
        ),
        ("instructions = 'x'\nresult = {}" + INPUT.format("class"), "'class' cannot be named so"),
        ("instructions = 'x'\nresult = {}" + INPUT.format("_a"), "'_a' cannot be named so"),
        ('instructions = "x"\nresult = {}\nkey_env = "K"', "key_env is for models openai:NAME"),
        ('instructions = "x"\nresult = 3', "allowed: a JSON Schema, or the path of one"),
    ],
)
def test_what_cannot_be_used_in_settings_is_told(
    here: Lineshaft, environ: dict[str, str], table: str, told: str
) -> None:
    own = Path(environ["XDG_CONFIG_HOME"]) / "lineshaft"
    own.mkdir(parents=True)
    (own / "lineshaft.toml").write_text(f"[agents.a]\n{table}\n")
    done = here("agent", "run", "a", "text=x")
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "[agents.a]" in done.stderr or "none.json" in done.stderr


@pytest.mark.long
async def test_an_agent_whose_key_is_missing_is_told_before_anything_runs(
    lineshaft: Lineshaft, here: Lineshaft, project: Callable[[Wire], None], workspace: Path
) -> None:
    lack = "needs a key; set the variable TINY_KEY"

    def work() -> None:
        lineshaft("config", "trust", "--yes")
        listed = here("agent", "list").stdout
        assert listed.startswith("kind  Read the report")
        assert f"cannot work yet: '{wire.url}#tiny' {lack}" in listed
        [agent] = json.loads(here("agent", "list", "--json").stdout)["agents"]
        assert agent["lacks"]["hint"] == "set the variable TINY_KEY"
        assert lack in here("agent", "show", "kind").stderr
        checks = json.loads(lineshaft("doctor", "--quick", "--json").stdout)["checks"]
        [found] = [each for each in checks if each["name"] == "agents"]
        assert found["state"] == "note"
        assert found["hint"] == "set the variable TINY_KEY"
        called = lineshaft("call", "agents.kind", "path=a.md")
        assert (called.returncode, "set the variable TINY_KEY" in called.stderr) == (2, True)
        ran = lineshaft("run", "-c", "return await agents.kind(path='a.md')")
        assert (ran.returncode, ran.stdout) == (1, "")
        assert f"the agent kind cannot work: '{wire.url}#tiny' {lack}" in ran.stderr
        key = {"TINY_KEY": "k" * 9}
        assert "cannot work" not in lineshaft("agent", "list", variables=key).stdout
        paused = lineshaft("agent", "run", "kind", "path=a.md", variables=key)
        assert paused.returncode == 5, paused.stderr
        keyless = lineshaft("resume", "--approve", "all")
        assert (keyless.returncode, "TINY_KEY" in keyless.stderr) == (2, True)
        done = lineshaft("resume", "--approve", "all", variables=key)  # it waits as before
        assert done.returncode == 0, done.stderr

    answers = [says("run_command", command="true"), ends_with({"label": "bug"})]
    async with serving(answers) as wire:
        project(wire)
        await to_thread.run_sync(work)
    assert len(wire.sent) == 2


async def test_a_fault_of_another_agent_is_a_warning(
    lineshaft: Lineshaft, environ: dict[str, str]
) -> None:
    own = Path(environ["XDG_CONFIG_HOME"]) / "lineshaft"
    own.mkdir(parents=True)
    text = """
[agents.a]
instructions = "Count."
result = {type = "integer"}
model = "URL#m"
[agents.odd]
instructions = "x"
result = {}
tools = ["read_fil"]
[agents.over]
instructions = "x"
result = {}
tools = ["agents.odd"]
model = "URL#m"
"""

    def work() -> None:
        (own / "lineshaft.toml").write_text(text.replace("URL", wire.url))
        done = lineshaft("agent", "run", "a", "text=x")
        assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
        [warning] = [line for line in done.stderr.splitlines() if "warning" in line]
        assert "without the agents odd, over: " in warning
        ran = lineshaft("run", "-c", 'return await agents.a(text="x")')
        assert (ran.returncode, ran.stdout) == (0, "8\n"), ran.stderr
        assert "without the agents odd, over: " in ran.stderr
        for name in ("odd", "over"):  # an agent that needs a faulty one is faulty
            refused = lineshaft("agent", "run", name, "text=x")
            assert (refused.returncode, refused.stdout) == (2, "")
            assert "there is no tool 'read_fil'" in refused.stderr
        listed = lineshaft("agent", "list")
        assert (listed.returncode, listed.stdout) == (0, "a  Count.\n")
        assert "broken: the agent odd: " in listed.stderr
        told = json.loads(lineshaft("agent", "list", "--json").stdout)
        assert [each["name"] for each in told["faulty"]] == ["odd", "over"]

    async with serving([ends_with(7), ends_with(8)]) as wire:
        await to_thread.run_sync(work)
    assert len(wire.sent) == 2


async def test_a_persons_own_agent_needs_no_approval_and_scripts_have_it(
    lineshaft: Lineshaft, environ: dict[str, str]
) -> None:
    own = Path(environ["XDG_CONFIG_HOME"]) / "lineshaft"
    own.mkdir(parents=True)
    text = '[agents.a]\ninstructions = "Count."\nresult = {type = "integer"}\nmodel = "URL#m"\n'

    def work() -> None:
        (own / "lineshaft.toml").write_text(text.replace("URL", wire.url))
        done = lineshaft("run", "-c", 'return 1 + await agents.a(text="x")')
        assert (done.returncode, done.stdout) == (0, "8\n"), done.stderr
        wrong = lineshaft("check", "-c", "return await agents.a(txt='x')")
        assert wrong.returncode == 1
        assert "text" in wrong.stdout + wrong.stderr

    async with serving([ends_with(7)]) as wire:
        await to_thread.run_sync(work)


async def test_patterns_of_settings_are_matched_in_bounded_time(
    lineshaft: Lineshaft, environ: dict[str, str]
) -> None:
    own = Path(environ["XDG_CONFIG_HOME"]) / "lineshaft"
    own.mkdir(parents=True)
    slow = "{type = 'string', pattern = '^(a+)+$'}"
    text = (
        f"[agents.a]\ninstructions = 'x'\nresult = {slow}\nmodel = 'URL#m'\n"
        f"inputs = {{type = 'object', properties.text = {slow}}}\n"
    )
    endless = "a" * 60 + "!"

    def work() -> None:
        (own / "lineshaft.toml").write_text(text.replace("URL", wire.url))
        wrong = lineshaft("agent", "run", "a", f"text={endless}")
        assert "must be text that matches" in wrong.stderr
        done = lineshaft("agent", "run", "a", "text=aaa")
        assert (done.returncode, done.stdout.strip()) == (0, "aa"), done.stderr

    async with serving([ends_with(endless), ends_with("aa")]) as wire:
        await to_thread.run_sync(work)


WRITER = MODULE.replace("run_command", "write_file")


async def test_the_time_of_an_agent_bounds_its_request_too(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "own.py").write_text(WRITER)

    def work() -> None:
        model = ("--tools", "own.py", "--model", f"{wire.url}#tiny")
        done = lineshaft("agent", "run", "sort", "path=a.md", "--timeout", "1", *model)
        assert (done.returncode, done.stdout) == (4, "")
        assert "the run took longer than 1 s [E_TIMEOUT]" in done.stderr
        assert "give it more time with `--timeout S`" in done.stderr
        assert "no file was changed" in done.stderr
        [run] = json.loads(lineshaft("runs", "--json").stdout)
        assert run["status"] == "timeout"

    async with serving([None]) as wire:
        await to_thread.run_sync(work)
        await wire.closed.wait()
    assert len(wire.sent) == 1  # it is not asked again


async def test_the_time_of_an_agent_goes_on_after_a_pause(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "own.py").write_text(MODULE)

    def work() -> None:
        model = ("--tools", "own.py", "--model", f"{wire.url}#tiny")
        paused = lineshaft("agent", "run", "sort", "path=a.md", "--timeout", "3", *model)
        assert paused.returncode == 5, paused.stderr
        done = lineshaft("resume", "--approve", "all")
        assert (done.returncode, done.stdout) == (4, "")
        assert "the run took longer than 3 s" in done.stderr

    async with serving([says("run_command", command="true"), None]) as wire:
        await to_thread.run_sync(work)
        await wire.closed.wait()


async def test_after_ctrl_c_the_run_is_named_and_what_stays(
    sit: Sit, lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "own.py").write_text(WRITER)

    def work() -> None:
        model = ("--tools", "own.py", "--model", f"{wire.url}#tiny")
        with sit("agent", "run", "sort", "path=a.md", *model) as person:
            person.read_until("turn 2")
            person.type("\x03")
            shown = person.ends_with(130)
        [run] = json.loads(lineshaft("runs", "--json").stdout)
        assert run["status"] == "cancelled"
        assert f"run {run['run_id']}: no file was changed, 1 staged change dropped" in shown
        assert f"lineshaft show {run['run_id']}" in shown
        told = lineshaft("show").stdout
        assert "1 staged change dropped; the disk is unchanged" in told
        assert told.count("(dropped: not on the disk)") == 1

    async with serving([says("write_file", path="n.txt", content="x"), None]) as wire:
        await to_thread.run_sync(work)
    assert not (workspace / "n.txt").exists()


async def test_an_agent_that_ends_without_a_result_says_how_many_writes_were_dropped(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "own.py").write_text(WRITER)

    def work() -> None:
        model = ("--tools", "own.py", "--model", f"{wire.url}#tiny")
        done = lineshaft("agent", "run", "sort", "path=a.md", *model)
        assert (done.returncode, done.stdout) == (1, "")
        assert "no file was changed, 2 staged changes dropped" in done.stderr
        told = lineshaft("agent", "run", "sort", "path=a.md", "--json", *model)
        facts = json.loads(told.stdout)
        assert (facts["landed"], facts["changes"]) == (False, [])
        assert [each["path"] for each in facts["dropped"]] == ["n.txt", "m.txt"]
        ran = lineshaft("run", "-c", "return await agents.sort(path='a.md')", *model[:2])
        assert ran.returncode == 1
        assert "staged change" not in ran.stderr  # its model is not there
        over = lineshaft("agent", "run", "sort", "path=a.md", "--timeout", "2", *model)
        assert over.returncode == 4
        assert "no file was changed, 1 staged change dropped" in over.stderr

    writes = [says("write_file", path=f"{name}.txt", content="x") for name in ("n", "m", "n")]
    one = [*writes, says("GiveUp", reason="no")]
    async with serving([*one, *one, writes[0], None]) as wire:
        await to_thread.run_sync(work)
        await wire.closed.wait()
    assert not list(workspace.glob("*.txt"))


async def test_the_changes_of_an_agent_are_listed(lineshaft: Lineshaft, workspace: Path) -> None:
    (workspace / "own.py").write_text(WRITER)

    def work() -> None:
        model = ("--tools", "own.py", "--model", f"{wire.url}#tiny")
        done = lineshaft("agent", "run", "sort", "path=a.md", *model)
        assert done.stdout == "bug\n"
        assert "created   n.txt  +1 -0\n" in done.stderr
        told = lineshaft("agent", "run", "sort", "path=a.md", "--json", *model)
        assert [each["path"] for each in json.loads(told.stdout)["changes"]] == ["n.txt"]
        assert told.stderr == ""

    first, last = says("write_file", path="n.txt", content="x"), ends_with("bug")
    again = says("write_file", path="n.txt", content="y")
    async with serving([first, last, again, last]) as wire:
        await to_thread.run_sync(work)


def test_a_call_says_what_it_changed(here: Lineshaft) -> None:
    done = here("call", "write_file", "path=n.txt", "content=x")
    assert "created   n.txt  +1 -0\n" in done.stderr
    told = json.loads(here("call", "write_file", "path=n.txt", "content=y", "--json").stdout)
    [change] = told["changes"]
    assert (change["path"], change["kind"], told["landed"]) == ("n.txt", "modified", True)
    assert json.loads(here("call", "read_file", "path=n.txt", "--json").stdout)["changes"] == []


OFFLINE = """
from typing import Literal

from lineshaft import kit
from lineshaft.agents import Microagent
from lineshaft.testing import ScriptedModel, call, exit_with

sort = Microagent[Literal["bug", "question"]](
    name="sort", instructions="Say its kind.", tools=[kit.tools("write_file")],
    model=ScriptedModel([call("write_file", path="a.md", content="x"), exit_with("bug")]),
)
"""


def test_the_calls_that_an_agent_makes_for_itself_are_short_lines(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "own.py").write_text(OFFLINE)
    own = ("--tools", "own.py")
    done = lineshaft("agent", "run", "sort", "text=x", *own)
    assert done.stdout == "bug\n"
    shown = lineshaft("show").stdout
    for told in (done.stderr, shown):
        assert "ask_model agents.sort turn 1 · scripted · 77 tokens  " in told
        assert "ask_model agents.sort turn 2 · scripted · " in told
        assert "commit_changes a.md  " in told
        assert "sha256" not in told
    paused = lineshaft("agent", "run", "sort", "text=x", "--mode", "ask", *own)
    assert paused.returncode == 5
    assert "agent: sort\n      turn: 1\n      model: scripted\n" in paused.stderr
    assert "sends: user: ## SAFETY GUIDELINES\n" in paused.stderr
    assert "conversation" not in paused.stderr


def test_a_preview_that_needs_a_model_says_so(lineshaft: Lineshaft, workspace: Path) -> None:
    (workspace / "own.py").write_text(OFFLINE)
    words = ("preview", "-c", 'return await agents.sort(text="x")', "--tools", "own.py")
    done = lineshaft(*words)
    assert done.returncode == 5
    assert "stops before ask_model agents.sort turn 1 · scripted\n" in done.stdout
    assert "a model is needed to know what comes after it; `--with-models` asks it" in done.stdout
    asked = lineshaft(*words, "--with-models")
    assert asked.returncode == 0
    assert "commit_changes a.md\n" in asked.stdout


PAUSED = """
from typing import Literal

from lineshaft import kit
from lineshaft.agents import Microagent
from lineshaft.testing import ScriptedModel, call, exit_with

def label(request):
    return exit_with("bug" if "crash" in request.messages[0].text else "question")

sort = Microagent[Literal["bug", "question"]](
    name="sort", instructions="Say its kind.", tools=[kit.tools("run_command")],
    model=ScriptedModel({"sort": [call("run_command", command="true"), label]}),
)
"""


def test_a_pause_can_be_tried_with_a_model_that_is_written_down(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "own.py").write_text(PAUSED)
    script = "return await asyncio.gather(agents.sort(text='a crash'), agents.sort(text='how?'))"
    paused = lineshaft("run", "-c", script, "--tools", "own.py")
    assert (paused.returncode, paused.stdout) == (5, "")
    done = lineshaft("resume", "--approve", "all")
    assert (done.returncode, done.stdout) == (0, '["bug","question"]\n'), done.stderr


FAULTS = {
    'instructions = "x"\nresult = {}\ntool = ["x"]': "did you mean 'tools'?",
    'instructions = "x"\nresult = {}\ntools = ["read_fil"]': "did you mean 'read_file'?",
    'instructions = "x"\nresult = {type = "string"}': "is not approved yet",
    "instructions = 3": "[agents.a] lacks result",
}


@pytest.mark.parametrize("table", FAULTS)
def test_a_faulty_agent_of_a_project_stops_only_what_uses_agents(
    here: Lineshaft, workspace: Path, table: str
) -> None:
    (workspace / "lineshaft.toml").write_text(f"[agents.a]\n{table}\n")
    done = here("run", "-c", "return 1 + 1", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")
    listed = here("tools", "read_file")
    assert (listed.returncode, "read_file" in listed.stdout) == (0, True)
    [warning] = listed.stderr.splitlines()
    assert "warning: without the agent a: " in warning
    for words in (("run", "-c", "return await agents.a(text='x')"), ("call", "agents.a", "text=x")):
        assert here(*words).returncode == 2
    assert here("config", "show").returncode == 0
    trusted = here("config", "trust", "--yes")
    if "not approved yet" in FAULTS[table]:
        assert (trusted.returncode, "approved a as it is now" in trusted.stderr) == (0, True)
        assert here("agent", "list").returncode == 0
        return
    assert trusted.returncode == 2
    assert "not approved: " in trusted.stderr
    assert FAULTS[table] in trusted.stderr


def test_an_agent_without_a_model_says_how_to_name_one(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    text = MODULE.replace('    model="ollama:none",\n', "")
    (workspace / "own.py").write_text(text)
    done = lineshaft("agent", "run", "agents.sort", "path=a.md", "--tools", "own.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "agent 'sort' has no model" in done.stderr
    assert "`--model M` or the variable LINESHAFT_MODEL" in done.stderr
    assert json.loads(lineshaft("runs", "--json").stdout) == []
    missing = lineshaft("agent", "run", "sort", "path=a.md")
    assert "agents come with `--tools FILE`, or of a pack as PACK.AGENT" in missing.stderr


MESSAGES = """
from typing import TypedDict

from lineshaft.agents import Microagent
from lineshaft.testing import ScriptedModel, exit_with


class Two(TypedDict):
    path: str
    why: str


def agent(name, **more):
    model = ScriptedModel([exit_with("done")])
    return Microagent[str](name=name, instructions="Say done.", model=model, **more)


plain = agent("plain")
two = agent("two", inputs=Two)
"""


def test_a_message_is_the_only_text_and_events_come_before_the_result(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "mine.py").write_text(MESSAGES)
    run = ("agent", "run", "--tools", "mine.py", "--json", "--events", "--origin", "editor")
    done = lineshaft(*run, "plain", "--message", "-", stdin="sort --it\n")
    assert done.returncode == 0, done.stderr
    *events, last = map(json.loads, done.stdout.splitlines())
    assert [each["seq"] for each in events] == list(range(1, len(events) + 1))
    (asked,) = (each for each in events if each["data"].get("tool") == "agents.plain")
    assert asked["data"]["arguments"] == {"text": "sort --it\n"}
    assert asked["data"]["origin"] == "editor"
    assert (last["value"], last["run_id"]) == ("done", events[0]["run_id"])
    (line,) = json.loads(lineshaft("runs", "--json").stdout)
    assert (line["origin"], line["process"]) == ("editor", None)


def test_a_message_that_is_no_input_is_refused_before_a_run(
    lineshaft: Lineshaft, workspace: Path
) -> None:
    (workspace / "mine.py").write_text(MESSAGES)
    run = ("agent", "run", "--tools", "mine.py", "two")
    refused = lineshaft(*run, "--message", "x")
    assert refused.returncode == 2
    assert "a message is no input of the agent 'two': its inputs are path, why" in refused.stderr
    both = lineshaft(*run, "path=p", "why=y", "--message", "x")
    assert (both.returncode, "path, why is given already: leave it out" in both.stderr) == (2, True)
    assert lineshaft(*run, "why=y", "--message", "x").returncode == 0
    no_text = lineshaft(*run, "why=y", "--message", "-", stdin=b"\xff")
    assert (no_text.returncode, "no text in UTF-8" in no_text.stderr) == (2, True)


SLEEPER = """
import asyncio

from lineshaft import tool
from lineshaft.agents import Microagent
from lineshaft.testing import ScriptedModel, call, exit_with


@tool(effect="read")
async def dawdle() -> str:
    "Take its time."
    await asyncio.sleep(600)
    return "late"


sleeper = Microagent[str](
    name="sleeper", instructions="Sleep.", tools=[dawdle],
    model=ScriptedModel([call("dawdle"), exit_with("late")]),
)
"""


def test_a_run_ends_when_nobody_reads_its_events_any_longer(
    lineshaft: Lineshaft, workspace: Path, environ: dict[str, str]
) -> None:
    (workspace / "mine.py").write_text(SLEEPER)
    words = ["agent", "run", "--tools", "mine.py", "sleeper", "text=x", "--events"]
    process = subprocess.Popen(
        [sys.executable, "-m", "lineshaft", *words],
        cwd=workspace,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        while "dawdle" not in process.stdout.readline():
            pass
        process.stdout.close()
        process.wait(timeout=60)
    finally:
        process.kill()
        process.wait()
    (run,) = json.loads(lineshaft("runs", "--json").stdout)
    assert (run["status"], run["process"]) == ("cancelled", None)
