"""`lineshaft doctor`: what works on this machine, found out by trying it."""

import json as json_module
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

import click
from msgspec.structs import replace

from lineshaft.cli._agents import lack_of
from lineshaft.cli._ahead import make_ahead
from lineshaft.cli._carry import carry
from lineshaft.cli._diagnosis import Diagnosis, State
from lineshaft.cli._options import json_option, settings_for, workspace_option
from lineshaft.cli._stored import shown, stored
from lineshaft.cli._terminal import clean, note, paint, say
from lineshaft.cli.commands.doctor.boundaries import attack, table
from lineshaft.cli.commands.doctor.landing import landing, recovered
from lineshaft.config import (
    Settings,
    agent_settings,
    folder,
    idle_rules,
    policy,
    tools,
    unapproved,
    unapproved_agents,
)
from lineshaft.errors import LineshaftError
from lineshaft.files import private_folder, state_folder
from lineshaft.policy import Policy
from lineshaft.session import Session
from lineshaft.tools import tool
from lineshaft.values import AGENT_NAMESPACE, Limits, PythonOptions, RunResult

if TYPE_CHECKING:
    from lineshaft.sandbox.jail import Boundary

_ROOM = 100_000
"""Bytes that the state folder must have room for: about what a run keeps."""

_COLOURS: dict[State, Literal["green", "yellow", "red"]] = {
    "ok": "green",
    "note": "yellow",
    "fail": "red",
}


@workspace_option
@click.option("--quick", is_flag=True, help="Leave out the attacks on the boundaries.")
@click.option(
    "--recover",
    is_flag=True,
    help="Finish or take back what a crash left half landed; nothing else.",
)
@json_option
def command(
    *,
    workspace: Path | None,
    quick: bool,
    recover: bool,
    json: bool,
) -> None:
    """Try what a run needs; exit 1 where something does not work."""
    if recover:
        _end(list(recovered(settings_for(workspace))), (), json=json)
    checks = list(_checks(workspace))
    boundaries: Sequence[Boundary] = ()
    if not quick:
        if sys.stderr.isatty():
            note("attacking the boundaries of full Python; this takes some seconds ...")
        boundaries, found = attack(_python(workspace))
        checks += found
    _end(checks, boundaries, json=json)


def _end(checks: Sequence[Diagnosis], boundaries: "Sequence[Boundary]", *, json: bool) -> NoReturn:
    failed = any(check.state == "fail" for check in checks)
    if json:
        facts = {"ok": not failed, "checks": [asdict(check) for check in checks]}
        facts["boundaries"] = [asdict(boundary) for boundary in boundaries]
        say(json_module.dumps(facts, ensure_ascii=False))
    else:
        _show(checks, boundaries)
    raise SystemExit(1 if failed else 0)


def _show(checks: Iterable[Diagnosis], boundaries: "Sequence[Boundary]") -> None:
    for check in checks:
        state = paint(f"{check.state:<4}", _COLOURS[check.state], stream=sys.stdout)
        say(f"{state}  {check.name:<10}  {clean(check.text)}")
        if check.hint:
            say(f"{'':<18}{clean(check.hint)}")
    for line in table(boundaries):
        say(clean(line))


def _stored() -> Diagnosis:
    """Say how much is kept outside the workspace, the largest parts by name."""
    found = sorted(stored(), key=lambda each: each.bytes, reverse=True)
    named = "; ".join(f"{shown(e.bytes)} {e.text or e.name}" for e in found[:3] if e.bytes)
    total = shown(sum(each.bytes for each in found))
    text = f"{total} outside the workspace" + (f": {named}" if named else "")
    return Diagnosis(name="stored", state="ok", text=f"{text}; `lineshaft cache` lists all")


def _python(workspace: Path | None) -> PythonOptions:
    try:
        return settings_for(workspace).python
    except LineshaftError:
        return PythonOptions()  # what is wrong is said already


def _checks(workspace: Path | None) -> Iterator[Diagnosis]:
    version = platform.python_version()
    yield Diagnosis(name="python", state="ok", text=f"{version} on {platform.platform(terse=True)}")
    yield from _settings_checks(workspace)
    yield _tried("state", _state)
    yield make_ahead()
    yield _stored()
    python = _python(workspace)
    yield _tried("engine", partial(_engine, "auto", python))
    yield _tried("wasm", partial(_engine, "wasm", python))
    yield _cpython(python)
    yield _tried("limits", _ending)
    yield _tried("check", _checker)
    yield Diagnosis(
        name="boundary",
        state="note",
        text="wasm: all of Python in WebAssembly, in this process; scripts have no system calls,"
        " files or network but through tools",
        hint="it is a boundary of the machine code: no operating system jail is around it, and"
        " tools (run_command too) run with your rights, held by policy alone",
    )


def _settings_checks(workspace: Path | None) -> Iterator[Diagnosis]:
    try:
        settings = settings_for(workspace)
        _ = settings.python, settings.store, settings.limits()  # what a run takes from them
    except LineshaftError as error:
        yield Diagnosis(name="settings", state="fail", text=error.message, hint=error.hint)
        return
    found = [str(path) for path in (settings.project, settings.user) if path is not None]
    yield Diagnosis(
        name="settings", state="ok", text=", ".join(found) or "no files, built-in values"
    )
    yield _tried("workspace", partial(_workspace, settings))
    yield landing(settings)
    yield _tried("policy", lambda: f"mode {policy(settings).mode}")
    yield from _idle(settings)
    yield _modules(settings)
    yield from _agents(settings)
    if not settings.script_enabled:
        source = settings.setting("script.enabled").source
        yield Diagnosis(name="scripts", state="note", text=f"switched off by {source}")


def _tried(name: str, attempt: Callable[[], str]) -> Diagnosis:
    try:
        return Diagnosis(name=name, state="ok", text=attempt())
    except LineshaftError as error:
        return Diagnosis(name=name, state="fail", text=error.message, hint=error.hint)
    except OSError as error:
        return Diagnosis(name=name, state="fail", text=str(error))


def _workspace(settings: Settings) -> str:
    folder(settings)
    if os.access(settings.root, os.W_OK | os.X_OK):
        return str(settings.root)
    return f"{settings.root} (you cannot write there)"


def _idle(settings: Settings) -> Iterator[Diagnosis]:
    """Say which rules of policy fit no tool, as far as the tools are known."""
    found: tuple[str, ...] = ()
    with suppress(LineshaftError):  # what is wrong is said by others
        found = idle_rules(
            settings, tools(settings, faulty=lambda _name, _error: None), of_all=True
        )
    for sentence in found:
        hint = "write the tool's name as `lineshaft tools` lists it"
        yield Diagnosis(name="policy", state="note", text=sentence, hint=hint)


def _modules(settings: Settings) -> Diagnosis:
    try:
        waiting = (*unapproved(settings.modules), *unapproved_agents(settings))
    except LineshaftError as error:
        return Diagnosis(name="modules", state="fail", text=error.message, hint=error.hint)
    if waiting:
        names = ", ".join(module.name for module in waiting)
        return Diagnosis(
            name="modules",
            state="note",
            text=f"not approved yet: {names}",
            hint="read them, then run `lineshaft config trust`",
        )
    return Diagnosis(name="modules", state="ok", text=f"{len(settings.modules)} with own tools")


def _agents(settings: Settings) -> Iterator[Diagnosis]:
    """Say which agents of the settings can work, and what the others lack."""
    faulty: dict[str, LineshaftError] = {}
    names = [each.name for each in agent_settings(settings)]
    if not names:
        return
    try:
        offered = tools(settings, faulty=faulty.__setitem__)
    except LineshaftError as error:  # a module that they may call
        text = f"not known, as tools are missing: {error.message}"
        yield Diagnosis(name="agents", state="note", text=text, hint=error.hint)
        return
    for name in names:
        found = offered.get(f"{AGENT_NAMESPACE}.{name}")
        error = faulty.get(name) or (found and lack_of(found))
        if error is None:
            yield Diagnosis(name="agents", state="ok", text=f"{name} can work")
        else:
            text = f"{name} cannot work: {error.message}"
            yield Diagnosis(name="agents", state="note", text=text, hint=error.hint)


def _state() -> str:
    folder = private_folder(state_folder())
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            file.write(bytes(_ROOM))  # a full disk takes files, and nothing in them
    except OSError as error:
        raise LineshaftError(
            f"nothing can be kept in {folder}: {error.strerror}",
            hint="make room there, or set XDG_STATE_HOME to a folder that can be written",
        ) from error
    return f"{folder} is writable"


def _engine(name: str, python: PythonOptions) -> str:
    script = "return 1 + await doctor_adds(number=1)"
    run = carry(partial(_try, script, engine=name, python=python))
    if run.value != 2:
        raise LineshaftError(f"a script that adds one and one gave {run.value!r}: {_why(run)}")
    chosen = f" ({run.engine_reason})" if name == "auto" else ""
    return f"{run.engine}: a script with one call ran in {run.duration_ms:.0f} ms{chosen}"


def _cpython(python: PythonOptions) -> Diagnosis:
    """Try full Python of this machine, which a machine need not be able to hold."""
    found = _tried("cpython", partial(_engine, "cpython", python))
    return replace(found, state="note") if found.state == "fail" else found


def _ending() -> str:
    run = carry(partial(_try, "while True:\n    pass", seconds=0.5))
    if run.status != "timeout":
        raise LineshaftError(f"an endless script ended as {run.status}: {_why(run)}")
    return f"an endless script was ended after {run.duration_ms:.0f} ms"


def _checker() -> str:
    run = carry(partial(_try, "return await doctor_adds(numbr=1)"))
    if run.error is None or run.error.code != "E_CHECK":
        raise LineshaftError(f"a misspelt argument was not found before the run: {_why(run)}")
    return "a misspelt argument was found before the run"


def _why(run: RunResult) -> str:
    return run.error.message if run.error else run.status


async def _try(
    script: str,
    *,
    seconds: float = 20,
    engine: str = "auto",
    python: PythonOptions | None = None,
) -> RunResult:
    @tool(effect="read", name="doctor_adds")
    async def add(number: int) -> int:
        """Return the number plus nothing."""
        return number

    with tempfile.TemporaryDirectory() as empty:
        session = Session(
            [add],
            workspace=empty,
            policy=Policy(mode="read"),
            limits=Limits(seconds=seconds),
            engine=engine,
            python=python,
        )
        async with session:
            return await session.run(script)
