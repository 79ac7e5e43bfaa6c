"""Asking guards about changes before they land.

Guards may be any code: an exception or a time-out is a finding that keeps the changes from landing;
the view that they get can be read and not changed. Not covered: a guard runs with the person's
rights, and an asynchronous one that never awaits holds everything up.
"""

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

from anyio import to_thread
from msgspec.structs import replace

from lineshaft.errors import Guarded
from lineshaft.values import NO_SECRETS, Change, Finding, Guard, SecretFinder, Stage, beginning
from lineshaft.workspace.guards.view import Looking

SECONDS = 60.0
"""Each guard gets this long for the changes of one stage."""

_GRACE_SECONDS = 1.0
_MOST_FINDINGS = 200
"""Of one guard; the worst are kept."""

_LISTED = 5
_LONGEST = 1_000
_LEVELS = ("error", "warning", "info")

_left_behind: set[asyncio.Task[object]] = set()


async def guarded(
    guards: Sequence[Guard],
    changes: Sequence[Change],
    stage: Stage,
    *,
    seconds: float = SECONDS,
    secrets: SecretFinder = NO_SECRETS,
) -> tuple[Finding, ...]:
    """Ask each guard, in order, about changes that are to land.

    Args:
        guards: Each sees all changes.
        changes: The changes to land; without any, no guard is asked.
        stage: The view that holds them.
        seconds: What each guard gets.
        secrets: What is not cut in two where a guard says too much.

    Returns:
        Their findings, none of them an error.

    Raises:
        Guarded: A finding is an error; the exception has all findings.
    """
    if not changes:
        return ()
    looking = Looking(stage)
    found: list[Finding] = []
    for guard in guards:
        found += await _asked(guard, tuple(changes), looking, seconds, secrets)
    if any(finding.level == "error" for finding in found):
        raise refusal(found, secrets)
    return tuple(found)


def refusal(findings: Sequence[Finding], secrets: SecretFinder = NO_SECRETS) -> Guarded:
    """Return the error that says which findings keep changes from landing.

    Args:
        findings: All of them.
        secrets: What is not cut in two where a message is too long.
    """
    errors = [finding for finding in findings if finding.level == "error"]
    listed = [_line(finding, secrets) for finding in errors[:_LISTED]]
    if len(errors) > _LISTED:
        listed.append(f"and {len(errors) - _LISTED:,} more")
    return Guarded(
        f"nothing landed: {'; '.join(listed)}",
        findings=tuple(findings),
        hint=next((finding.hint for finding in errors if finding.hint), ""),
    )


def _line(finding: Finding, secrets: SecretFinder) -> str:
    place = [str(part) for part in (finding.path, finding.line) if part is not None]
    said = beginning(finding.message, _LONGEST, secrets=secrets)
    return f"{':'.join(place)}: {said} [{finding.code}]" if place else f"{said} [{finding.code}]"


async def _asked(
    guard: Guard,
    changes: tuple[Change, ...],
    looking: Looking,
    seconds: float,
    secrets: SecretFinder,
) -> list[Finding]:
    """Return what one guard says, whatever it does."""
    task: asyncio.Task[object] = asyncio.ensure_future(_contained(guard, changes, looking, secrets))
    try:
        await asyncio.wait((task,), timeout=seconds)
    finally:
        in_time = task.done()
        if not in_time:
            await _end(task)
    if not in_time:
        return [_failed(guard, f"took longer than {seconds:g} s")]
    if task.cancelled():
        return [_failed(guard, "cancelled itself")]
    said = task.result()
    return [_failed(guard, str(said))] if isinstance(said, _Raised) else _checked(guard, said)


class _Raised(str):
    """The exception of a guard, in words."""

    __slots__ = ()


async def _contained(
    guard: Guard, changes: tuple[Change, ...], looking: Looking, secrets: SecretFinder
) -> object:
    try:
        call: Callable[[], object] = functools.partial(guard, changes, looking)
        said = (
            call() if _is_async(guard) else await to_thread.run_sync(call, abandon_on_cancel=True)
        )
        return await cast("Awaitable[object]", said) if inspect.isawaitable(said) else said
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001  a guard may be anybody's code
        text = beginning(str(error), _LONGEST, secrets=secrets)
        return _Raised(f"raised {type(error).__name__}" + (f": {text}" if text else ""))


def _is_async(guard: Guard) -> bool:
    if isinstance(guard, functools.partial):
        return _is_async(cast("Guard", guard.func))
    return inspect.iscoroutinefunction(guard) or inspect.iscoroutinefunction(
        getattr(guard, "__call__", None)  # noqa: B004  the question is not whether it is callable
    )


async def _end(task: asyncio.Task[object]) -> None:
    """End a guard, or leave it behind."""
    task.cancel()
    _left_behind.add(task)
    task.add_done_callback(_left_behind.discard)
    await asyncio.wait((task,), timeout=_GRACE_SECONDS)


def _checked(guard: Guard, said: object) -> list[Finding]:
    """Return a guard's findings, or that it gave something else."""
    items = cast("Sequence[object]", said)
    if not isinstance(said, Sequence) or isinstance(said, str | bytes):
        return [_failed(guard, f"gave {type(said).__name__}, not a list of findings")]
    wrong = next((item for item in items if not _is_finding(item)), None)
    if isinstance(wrong, Finding):
        levels = ", ".join(_LEVELS)
        return [
            _failed(guard, f"gave a finding of level {wrong.level!r}, which is none of {levels}")
        ]
    if wrong is not None:
        return [_failed(guard, f"gave {type(wrong).__name__} among its findings")]
    found = cast("Sequence[Finding]", items)
    if len(found) <= _MOST_FINDINGS:
        return list(found)
    worst = sorted(found, key=lambda finding: _LEVELS.index(finding.level))
    left = f"{name_of(guard)} found {len(found) - _MOST_FINDINGS:,} more"
    last = replace(worst[0], message=left, line=None, column=None, path=None, hint="")
    return [*worst[:_MOST_FINDINGS], last]


def _is_finding(item: object) -> bool:
    return isinstance(item, Finding) and item.level in _LEVELS


def _failed(guard: Guard, what: str) -> Finding:
    return Finding(
        code="guard-failed",
        level="error",
        message=f"the guard {name_of(guard)!r} {what}",
        hint="mend the guard or remove it: the changes were not checked",
    )


def name_of(guard: object) -> str:
    """Return a guard's name for messages."""
    name: object = getattr(guard, "name", None) or getattr(guard, "__name__", None)
    return name if isinstance(name, str) else type(guard).__name__
