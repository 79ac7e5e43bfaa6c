"""The log of a run's calls where nothing takes the steps, or what takes them breaks."""

from collections.abc import Awaitable, Sequence
from typing import Any, cast

import pytest

from lineshaft.errors import StateError
from lineshaft.gate._call_log import CallLog
from lineshaft.trace import Recorder, Redactor
from lineshaft.values import (
    Call,
    Event,
    KeptPause,
    LogRow,
    ReplayInputs,
    RunClaim,
    RunLog,
    ToolSpec,
    Verdict,
)

PAUSE = KeptPause(document={})


class Broken:
    """A log that takes nothing exact."""

    def append(
        self, claim: RunClaim, rows: Sequence[LogRow], *, durable: bool = False
    ) -> Awaitable[None]:
        """Refuse."""
        del claim, rows, durable
        raise StateError("the disk is gone")


def made(recorder: Recorder | None) -> tuple[CallLog, list[Exception]]:
    broken: list[Exception] = []
    return CallLog(recorder, Redactor(), broken=broken.append), broken


async def test_where_nothing_takes_steps_nothing_is_asked_of_it() -> None:
    log, broken = made(None)
    log.keep({"a": 1}, unpausable="", replays=True)
    log.resumed(1)
    await log.paused(PAUSE, ())
    await log.over((), end=None, kept=True)
    assert (broken, log.recording) == ([], False)


async def test_a_pause_that_only_a_sink_takes_is_told() -> None:
    heard: list[Event] = []
    log, _ = made(Recorder("run-1", [heard.append], Redactor()))
    await log.paused(PAUSE, (("run_paused", {"pending": []}),))
    assert [event.kind for event in heard] == ["run_paused"]


def test_what_is_exact_and_cannot_be_kept_is_raised_and_turns_end_the_run() -> None:
    recorder = Recorder("run-1", [], Redactor(), log=cast("RunLog", Broken()))
    log, broken = made(recorder)
    replay = ReplayInputs(seed="00")
    with pytest.raises(StateError):
        log.keep({"a": 1}, unpausable="", replays=True, replay=replay)
    log.keep(None, unpausable="", replays=True, replay=replay)
    entry = log.open(Call(tool="t", arguments={}, origin="script"))
    entry.key, entry.spec = "k", ToolSpec(name="t", effect="write")
    with pytest.raises(StateError):
        log.called(entry)
    passed = cast("Any", replay).passed
    passed([1], b"")
    assert [str(each) for each in broken] == ["the disk is gone"]


def test_verdicts_of_many_kinds_are_all_told() -> None:
    heard: list[Event] = []
    log, _ = made(Recorder("run-1", [heard.append], Redactor()))
    for number in range(120):
        entry = log.open(Call(tool="t", arguments={}, origin="script"))
        entry.verdict = Verdict(kind="allow", rule=f"r{number}", reason="", source="")
        log.called(entry)
    told = [event.data["rule"] for event in heard if event.kind == "verdict"]
    assert told == [f"r{number}" for number in range(120)]
