"""`lineshaft resume`: answers a paused run, and lets it go on."""

import json as json_module
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Literal, cast

import click
from msgspec import field

from lineshaft.cli._ahead import announce
from lineshaft.cli._approver import approver_for
from lineshaft.cli._carry import carry
from lineshaft.cli._display import Display
from lineshaft.cli._elicit import TerminalElicit
from lineshaft.cli._keyboard import can_ask
from lineshaft.cli._needs import words_of_run
from lineshaft.cli._offer import offered_for, refuse_lacks
from lineshaft.cli._options import (
    accept_changed_option,
    guards_for,
    json_option,
    options_again,
    quiet_option,
    run_argument,
    settings_to_look,
    tools_option,
    workspace_option,
)
from lineshaft.cli._records import find_run, source_of
from lineshaft.cli._report import print_run, summary
from lineshaft.cli._shown import display_for, shown, without_secrets
from lineshaft.cli._started import remember, settings_again, started_with
from lineshaft.cli._terminal import note, one_line, paint, result
from lineshaft.cli._waiting import print_waiting
from lineshaft.config import Settings, build
from lineshaft.errors import ConfigError, RunBusy
from lineshaft.session import Session
from lineshaft.store import RunSummary
from lineshaft.tools import Toolset
from lineshaft.values import EXIT_CODES, Answer, Event, Pending, RunResult, Struct

ALL = "all"
ANY = "*"

_WITH_VALUE = frozenset({"--approve", "--deny", "--reason", "--repeat", "--tools", "--workspace"})
"""Options whose value is the next word, whatever that is."""


class ResumeOptions(Struct, frozen=True, kw_only=True):
    """The options of the command line that decide about waiting calls."""

    answers: Mapping[str, Answer]
    repeat: frozenset[str] | None
    """None: nothing was said of calls with an unknown end."""

    whole: bool
    """Arguments and diffs are shown uncut."""


class _Group(Struct):
    """Answers that stand together, and their reason."""

    allow: bool
    ids: frozenset[str] = frozenset()
    reason: str = ""
    over: bool = False
    """Whether a reason came after them."""


class WaitingRun(Struct, frozen=True, kw_only=True):
    """A run that goes on only once it has an answer."""

    run_id: str
    pending: tuple[Pending, ...] = ()
    expires_at: str | None = None
    unknown: Mapping[str, str] = field(default_factory=dict[str, str])
    """Ids and tools of calls that had started when the host died."""


@click.pass_context
@run_argument
@click.option(
    "--approve", multiple=True, metavar="ID", help="A call's id, several with commas, or all."
)
@click.option(
    "--deny", multiple=True, metavar="ID", help="A call's id, several with commas, or all."
)
@click.option(
    "--reason",
    multiple=True,
    metavar="TEXT",
    help="Why, after the answers that it belongs to; the script sees it at a denied call.",
)
@click.option(
    "--for-run", is_flag=True, help="The same for later calls that the same rules ask about."
)
@click.option(
    "--repeat",
    multiple=True,
    metavar="ID",
    help="A call with an unknown end that may be made again; all, or none.",
)
@click.option("--whole", is_flag=True, help="Show arguments and diffs of waiting calls uncut.")
@click.option("--cancel", is_flag=True, help="End the run instead.")
@tools_option
@accept_changed_option
@workspace_option
@quiet_option
@json_option
def command(
    context: click.Context,
    *,
    run: str | None,
    approve: tuple[str, ...],
    deny: tuple[str, ...],
    reason: tuple[str, ...],
    for_run: bool,
    repeat: tuple[str, ...],
    whole: bool,
    cancel: bool,
    tools: tuple[str, ...],
    accept_changed: bool,
    workspace: Path | None,
    quiet: bool,
    json: bool,
) -> None:
    """Answer what a paused run waits for, and let it go on."""
    words = ResumeOptions(
        answers=read_answers(
            said_in_order(cast("Sequence[str]", context.obj), approve, deny, reason),
            scope="run" if for_run else "call",
        ),
        repeat=_several(repeat) - {"none"} if repeat else None,
        whole=whole,
    )
    if cancel:
        if words.answers or words.repeat:
            raise ConfigError("--cancel ends the run; it takes no answers")
        settings = settings_to_look(workspace)
        ended = carry(partial(_cancel, _bare(settings), settings, run))
        if json:
            result(json_module.dumps({"run_id": ended, "status": "cancelled"}))
        else:
            note(f"cancelled {ended}")
        return
    settings = settings_again(run, workspace, tools=tools, accept_changed=accept_changed)
    started = started_with(settings)
    if not quiet:
        announce()
    display = display_for(quiet=quiet or json)
    needs = words_of_run(settings, run)
    offered = offered_for(settings, words=needs)
    refuse_lacks(offered, needs)
    session = build(
        settings,
        toolset=offered.all,
        secrets=offered.secrets,
        guards=guards_for(settings),
        approver=approver_for(settings, display),
        elicit=TerminalElicit(display) if can_ask() else None,
        sinks=[display.take],
    )
    try:
        with redirect_stdout(sys.stderr):  # what tools print, beside the result
            came = carry(partial(_resume, session, settings, run, words=words, display=display))
    finally:  # also where a person did not wait for the end
        display.close()
    if isinstance(came, RunResult):
        remember(came.run_id, started, settings)
    code = came.exit_code if isinstance(came, RunResult) else EXIT_CODES["paused"]
    if json:
        result(came.json() if isinstance(came, RunResult) else _as_json(came))
    elif isinstance(came, RunResult):
        name, script = source_of(settings, came)
        print_run(came, script=script, name=name, options=options_again(workspace))
        if not quiet:
            note(paint(summary(came), "dim"))
    else:
        again = options_again(workspace)
        _tell(came, whole=whole, options=again)
    raise SystemExit(code)


def said_in_order(
    words: Sequence[str],
    approve: Iterable[str],
    deny: Iterable[str],
    reason: Iterable[str],
) -> list[tuple[str, str]]:
    """Return the answers and reasons of a command line in the order in which they stand there.

    Args:
        words: The whole command line.
        approve: What was given to `--approve`, in order.
        deny: What was given to `--deny`.
        reason: What was given to `--reason`.

    Returns:
        Pairs of an option's name and what was given to it.
    """
    given = {"--approve": approve, "--deny": deny, "--reason": reason}
    left = {name: list(values) for name, values in given.items()}
    said: list[tuple[str, str]] = []
    rest = iter(words)
    for word in rest:
        name, sign, _ = word.partition("=")
        if name in _WITH_VALUE and not sign:
            next(rest, "")
        if left.get(name):
            said.append((name, left[name].pop(0)))
    return said


def read_answers(
    said: Sequence[tuple[str, str]], *, scope: Literal["call", "run"] = "call"
) -> dict[str, Answer]:
    """Return answers by call id, `*` for all others.

    A reason belongs to the answers of one kind that stand right before it; where none do, to
    those right after it.

    Args:
        said: Pairs of `--approve`, `--deny` or `--reason` and what was given to it, in order.
        scope: Of all of them.

    Raises:
        ConfigError: A call is both approved and denied, or there is a reason and no answer.
    """
    groups: list[_Group] = []
    early = ""
    for name, value in said:
        if name == "--reason":
            if not groups and not early:
                early = value
            elif not groups or groups[-1].reason:
                raise ConfigError("two reasons stand beside the same answers")
            else:
                groups[-1].reason, groups[-1].over = value, True
            continue
        allow = name == "--approve"
        if not groups or groups[-1].allow != allow or groups[-1].over:
            groups.append(_Group(allow, reason="" if groups else early))
        groups[-1].ids |= _several([value])
    if (early or scope == "run") and not any(group.ids for group in groups):
        raise ConfigError("there is no answer", hint="add --approve or --deny, with ids or all")
    answers: dict[str, Answer] = {}
    for group in groups:
        for call_id in sorted(group.ids):
            if call_id in answers and answers[call_id].allow != group.allow:
                which = "all calls" if call_id == ANY else f"call {call_id!r}"
                raise ConfigError(f"{which} cannot be approved and denied at once")
            answers[call_id] = Answer(group.allow, reason=group.reason, scope=scope)
    return answers


def _several(words: Iterable[str]) -> frozenset[str]:
    ids = {part.strip() for word in words for part in word.split(",")} - {""}
    return frozenset(ANY if name == ALL else name for name in ids)


def _bare(settings: Settings) -> Session:
    """Return a session without a user's code."""
    return build(settings, toolset=Toolset(()), guards=())


async def _found(session: Session, settings: Settings, run: str | None) -> str:
    if session.store is None:
        raise ConfigError("no runs are kept here")
    return await find_run(session.store, settings, run)


async def _cancel(session: Session, settings: Settings, run: str | None) -> str:
    async with session:
        run_id = await _found(session, settings, run)
        await session.cancel(run_id)
        return run_id


async def _resume(
    session: Session, settings: Settings, run: str | None, *, words: ResumeOptions, display: Display
) -> RunResult | WaitingRun:
    async with session:
        run_id = await _found(session, settings, run)
        await _must_stand(session, run_id)
        pending = await session.pending(run_id)
        unknown = await session.undecided(run_id)
        answers = words.answers
        if (pending or unknown) and not answers and words.repeat is None:
            await session.check_resume(run_id)  # nobody is asked about what cannot go on
        asking = approver_for(settings, display, whole=words.whole)
        if pending and not answers and asking is not None:
            # Before the run is taken up: who leaves here leaves it waiting.
            answers = dict(await asking(pending))
        if (pending and not answers) or (unknown and words.repeat is None):
            return await _standing(session, run_id, pending, unknown)
        for event in await _open_calls(session, run_id):
            display.take(event)
        work = partial(session.resume, run_id, answers, repeat=words.repeat or ())
        return without_secrets(session, await shown(display, work))


async def _open_calls(session: Session, run_id: str) -> list[Event]:
    """Return where each call was asked for that has not ended: a display shows how it goes on."""
    events = [] if session.store is None else await session.store.events(run_id)
    ended = {event.call_id for event in events if event.kind == "call_finished"}
    return [e for e in events if e.kind == "call_asked" and e.call_id not in ended]


async def _must_stand(session: Session, run_id: str) -> None:
    """Refuse a run that goes on elsewhere, or is over.

    Raises:
        RunBusy: It is.
    """
    kept = await _summary(session, run_id)
    if kept is None or kept.status in ("paused", "interrupted", "expired"):
        return
    if kept.status == "running":
        raise RunBusy(f"run {run_id} goes on in another process")
    raise RunBusy(
        f"run {run_id} is over: it ended as {kept.status}",
        hint="`lineshaft runs` lists the runs, and what those that are paused wait for",
    )


async def _summary(session: Session, run_id: str) -> RunSummary | None:
    return None if session.store is None else await session.store.summary(run_id)


async def _standing(
    session: Session,
    run_id: str,
    pending: tuple[Pending, ...],
    unknown: Mapping[str, str],
) -> WaitingRun:
    kept = await _summary(session, run_id)
    return WaitingRun(
        run_id=run_id,
        pending=pending,
        expires_at=kept.expires_at if kept else None,
        unknown=unknown,
    )


def _tell(standing: WaitingRun, *, whole: bool, options: str) -> None:
    if standing.pending:
        print_waiting(
            standing.run_id,
            standing.pending,
            standing.expires_at,
            options=options,
            whole=whole,
        )
        return
    note(f"{paint('interrupted', 'yellow')}: it is not known whether these calls took effect")
    for call_id, tool in standing.unknown.items():
        note(f"  {one_line(call_id)}  {one_line(tool)}")
    resume = f"lineshaft resume {standing.run_id}{options}"
    note(paint("go on: with all of them made again, with some, or with none, which the", "dim"))
    note(paint("script is told then:", "dim"))
    note(f"  {resume} --repeat all")
    note(f"  {resume} --repeat {one_line(next(iter(standing.unknown)))}")
    note(f"  {resume} --repeat none")


def _as_json(standing: WaitingRun) -> str:
    unknown = [{"id": id_, "tool": tool} for id_, tool in standing.unknown.items()]
    told = {"status": "paused" if standing.pending else "interrupted", **asdict(standing)}
    return json_module.dumps(told | {"unknown": unknown}, ensure_ascii=False)
