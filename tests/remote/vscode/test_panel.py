"""The panel: a person's message starts a run of an agent, which is shown, and can be stopped."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lineshaft.files import state_folder
from remote.vscode.editor import VsCode, until, vscode
from remote.vscode.test_person import UNTRUSTED

PANEL = "panel >> "
"""Before a selector, as `browser.py` takes it: in the page of the extension's panel."""

RESULT = "done <img src=x onerror=alert(1)>"
AGENTS = f'''
from typing import TypedDict

from lineshaft import kit, tool
from lineshaft.agents import Microagent
from lineshaft.testing import ScriptedModel, call, exit_with


@tool(effect="read")
async def dawdle() -> str:
    """Take its time."""
    import asyncio
    await asyncio.sleep(600)
    return "late"


writer = Microagent[str](
    name="writer",
    instructions="Write the file.",
    tools=[kit.tools("write_file")],
    model=ScriptedModel([
        call("write_file", path="made.txt", content="<b>made</b>\\n"),
        exit_with("{RESULT}"),
    ]),
)
sleeper = Microagent[str](
    name="sleeper",
    instructions="Sleep.",
    tools=[dawdle, kit.tools("write_file")],
    model=ScriptedModel([
        call("write_file", path="never.txt", content="x"), call("dawdle"), exit_with("late"),
    ]),
)
'''
SAY = f"{PANEL}#say"
LOG = f"{PANEL}#log"


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Generator[VsCode]:
    """An editor whose person has agents of their own, and has chosen one."""
    home = tmp_path_factory.mktemp("talking")
    (home / "agents_of_mine.py").write_text(AGENTS)
    own = home / "config" / "lineshaft" / "lineshaft.toml"
    own.parent.mkdir(parents=True)
    modules = json.dumps([str(home / "agents_of_mine.py")])
    own.write_text(f'[policy]\nmode = "auto"\n[tools]\nmodules = {modules}\n')
    with vscode(home, {"lineshaft.agent": "writer"}) as started:
        started.conversation()
        opened(started)
        yield started


def opened(editor: VsCode) -> None:
    editor.browser("click", '.activitybar .action-label[aria-label="Lineshaft"]')
    editor.browser("wait", SAY)


@contextmanager
def changed(editor: VsCode, settings: dict[str, object]) -> Generator[None]:
    """Change settings as long as the block lasts."""
    files = [editor.home / "data" / level / "settings.json" for level in ("User", "Machine")]
    before = [file.read_text() for file in files]
    for file, text in zip(files, before, strict=True):
        file.write_text(json.dumps({**json.loads(text), **settings}))
    yield
    for file, text in zip(files, before, strict=True):
        file.write_text(text)


def choose(editor: VsCode, agent: str) -> None:
    """Choose an agent, as a person does."""
    editor.browser.command("Lineshaft: Choose an Agent")
    editor.browser("click", f'.quick-input-list .monaco-list-row:has-text("{agent}")')
    until(lambda: f"run of {agent}" in status(editor) or f"{agent} " in status(editor))


def status(editor: VsCode) -> str:
    return str(editor.browser("text", f"{PANEL}#status"))


def said(editor: VsCode) -> str:
    return str(editor.browser("text", LOG))


def send(editor: VsCode, text: str) -> None:
    editor.browser("click", SAY)
    editor.browser("type", text)
    editor.browser("keys", "Control+Enter")


def test_a_message_starts_a_run_whose_calls_and_result_are_shown_as_texts(
    talking: VsCode,
) -> None:
    until(lambda: "run of writer" in status(talking))
    send(talking, "write <i>it</i>")
    until(lambda: "writer is done" in status(talking))
    told = said(talking)
    for text in (
        "write <i>it</i>",
        "agents.writer",
        "write_file",
        "done <img src=x onerror=alert(1)>",
    ):
        assert text in told
    assert "made.txt" in told
    assert talking.browser("count", f"{LOG} img") == 0
    assert talking.browser("count", f"{LOG} i") == 0
    assert (talking.root / "made.txt").read_text() == "<b>made</b>\n"
    assert talking.browser("fits", f"{PANEL}body")
    row = '.pane:has(.pane-header[aria-label^="Runs Section"]) .monaco-list-row:has-text("success")'
    talking.browser("wait", row)
    assert 'origin": "editor"' in json.dumps(_started(talking))


def _started(editor: VsCode) -> dict[str, object]:
    with editor.http() as client:
        (newest, *_) = client.get("/api/runs").json()["results"]
        return dict(newest)


def test_stop_ends_the_run_and_nothing_of_it_is_left(talking: VsCode) -> None:
    choose(talking, "sleeper")
    send(talking, "sleep")
    until(lambda: "dawdle" in said(talking))
    assert "sleeper is at work" in status(talking)
    assert not talking.browser("enabled", f"{PANEL}#send")
    process = _started(talking)["process"]
    assert isinstance(process, int)
    talking.browser("click", f"{PANEL}#stop")
    until(lambda: "sleeper was stopped" in status(talking))
    until(lambda: not Path(f"/proc/{process}").exists())
    until(lambda: _started(talking)["status"] == "cancelled")
    assert not (talking.root / "never.txt").exists()
    choose(talking, "writer")
    send(talking, "again")
    until(lambda: "writer is done" in status(talking))


def test_the_panel_is_worked_by_keys_alone(talking: VsCode) -> None:
    choose(talking, "sleeper")
    talking.browser("focus", SAY)
    talking.browser("type", "sleep")
    talking.browser("keys", "Tab")
    talking.browser("keys", "Enter")  # on Send
    until(lambda: "sleeper is at work" in status(talking))
    talking.browser("focus", f"{PANEL}#stop")
    talking.browser("keys", "Enter")
    until(lambda: "sleeper was stopped" in status(talking))


def test_stop_everything_ends_the_agent_too(talking: VsCode) -> None:
    choose(talking, "sleeper")
    send(talking, "sleep")
    until(lambda: "sleeper is at work" in status(talking))
    until(lambda: _started(talking)["process"])
    talking.browser.command("Lineshaft: Stop Everything")
    until(lambda: "sleeper was stopped" in status(talking))


def test_the_panel_is_readable_in_the_dark_and_at_400_pixels(talking: VsCode) -> None:
    until(lambda: status(talking))
    texts = ["#status", "#say", "#settings", "label", "small", ".person", ".call", ".beside"]

    def readable() -> bool:
        return all(
            talking.browser("contrast", f"{PANEL}{each}") >= 4.5
            for each in texts
            if talking.browser("appears", f"{PANEL}{each}")
        )

    assert readable()
    with changed(talking, {"workbench.colorTheme": "Default Dark Modern"}):
        talking.browser("wait", ".monaco-workbench.vs-dark")
        until(readable)
        talking.browser("size", "400x800")
        until(lambda: talking.browser("fits", f"{PANEL}body"))
        assert talking.browser("enabled", SAY)
    talking.browser("size", "1280x800")


def test_an_agent_that_there_is_not_is_told(talking: VsCode) -> None:
    with changed(talking, {"lineshaft.agent": "nobody"}):
        until(lambda: "nobody" in status(talking))
        send(talking, "hello")
        until(lambda: "there is no agent 'nobody'" in said(talking))
    until(lambda: "nobody" not in status(talking))


def test_in_a_folder_that_is_not_trusted_nothing_starts_and_the_panel_says_so(
    tmp_path: Path,
) -> None:
    with vscode(tmp_path, {**UNTRUSTED, "lineshaft.agent": "writer"}) as editor:
        opened(editor)
        until(lambda: "This folder is not trusted: no agent is started" in status(editor))
        assert not editor.browser("enabled", SAY)
        assert not editor.browser("enabled", f"{PANEL}#send")
        runs = '.pane:has(.pane-header[aria-label^="Runs Section"]) .welcome-view-content'
        assert "not trusted" in editor.browser("text", runs)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
            assert not (state_folder() / "editors").exists()
