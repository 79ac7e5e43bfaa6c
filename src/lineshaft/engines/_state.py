"""A suspended run of the small engine, as bytes."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import cast

from lineshaft.errors import EngineCrashed
from lineshaft.values import Call, Done, Failure, Value

_FORMAT = 2
Told = tuple[str, str, str]
"""Code, tool and message of an error that a script was told of."""


@dataclass(slots=True)
class Progress:
    """What a run knows beside the interpreter: goes with it wherever it goes on."""

    script: str
    """Digest of the text that the engine was fed."""

    calls: dict[int, Call] = field(default_factory=dict[int, Call])
    """Announced and not answered, by the interpreter's own number."""

    results: dict[int, Done] = field(default_factory=dict[int, Done])
    """Finished, and not yet told to the script."""

    sleeps: dict[int, float] = field(default_factory=dict[int, float])
    """Seconds to sleep, by the interpreter's own number."""

    told: dict[str, Told] = field(default_factory=dict[str, Told])
    """By the text of the error."""

    refused: dict[int, str] = field(default_factory=dict[int, str])
    """Tools of calls that were answered without being made."""

    lines: dict[int, int] = field(default_factory=dict[int, int])
    """Lines of the calls, where the script itself makes them."""

    raised_at: dict[str, int] = field(default_factory=dict[str, int])
    """Lines of the calls that raised, by the text of the error."""

    count: int = 0
    """Calls so far."""

    dues: dict[int, float] = field(default_factory=dict[int, float])
    """When sleeps will be over, by the interpreter's own number."""

    taken: int = 0
    """Readings of clocks so far."""

    moment: float = 0.0
    """The last one of the clock that sleeps go by."""

    day: float = 0.0
    """The last one of the time of day."""

    slept: float = 0.0
    """Seconds slept so far."""


def digest(text: str) -> str:
    """Return what tells texts apart."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write(progress: Progress, dump: bytes) -> bytes:
    """Return a suspended run as bytes."""
    head = {
        "format": _FORMAT,
        "monty": version("pydantic-monty"),
        "script": progress.script,
        "count": progress.count,
        "calls": {key: asdict(call) for key, call in progress.calls.items()},
        "results": {key: _pack(done) for key, done in progress.results.items()},
        "sleeps": progress.sleeps,
        "told": progress.told,
        "refused": progress.refused,
        "lines": progress.lines,
        "raised_at": progress.raised_at,
        "dues": progress.dues,
        "taken": progress.taken,
        "moment": progress.moment,
        "day": progress.day,
        "slept": progress.slept,
    }
    return json.dumps(head).encode() + b"\n" + dump


def load(state: bytes, script: str) -> tuple[Progress, bytes]:
    """Return what `write` wrote.

    Args:
        state: From `write`, unchanged: who stores it vouches for it.
        script: Digest of the text that is to go on.

    Raises:
        EngineCrashed: It belongs to another script or another version, or is damaged.
    """
    line, _, dump = state.partition(b"\n")
    try:
        head = cast("dict[str, dict[str, object]]", json.loads(line))
        made_by = (head["format"], head["monty"], head["script"])
        if made_by != (_FORMAT, version("pydantic-monty"), script):
            raise EngineCrashed(
                "the suspended run belongs to another script or another version of the engine",
                hint="run the script anew",
            )
        return _progress(head), dump
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EngineCrashed(
            "the suspended run cannot be read: its state is damaged", hint="run the script anew"
        ) from error


def _progress(head: "dict[str, dict[str, object]]") -> Progress:
    return Progress(
        script=cast("str", head["script"]),
        count=cast("int", head["count"]),
        calls={int(key): _call(packed) for key, packed in head["calls"].items()},
        results={int(key): _unpack(packed) for key, packed in head["results"].items()},
        sleeps={int(key): cast("float", left) for key, left in head["sleeps"].items()},
        told={
            key: cast("Told", tuple(cast("list[str]", told))) for key, told in head["told"].items()
        },
        refused={int(key): cast("str", tool) for key, tool in head["refused"].items()},
        raised_at={text: cast("int", line) for text, line in head["raised_at"].items()},
        lines={int(key): cast("int", line) for key, line in head["lines"].items()},
        dues={int(key): cast("float", due) for key, due in head["dues"].items()},
        taken=cast("int", head["taken"]),
        moment=cast("float", head["moment"]),
        day=cast("float", head["day"]),
        slept=cast("float", head["slept"]),
    )


def _call(packed: object) -> Call:
    fields = dict(cast("dict[str, object]", packed))
    fields["positional"] = tuple(cast("list[object]", fields["positional"]))
    return Call(**fields)  # pyright: ignore[reportArgumentType]  as `asdict` took it apart


def _pack(done: Done) -> dict[str, object]:
    return {"failed": isinstance(done, Failure), **asdict(done)}


def _unpack(packed: object) -> Done:
    fields = dict(cast("dict[str, object]", packed))
    if fields.pop("failed"):
        return Failure(**fields)  # pyright: ignore[reportArgumentType]  as `asdict` took it apart
    return Value(fields["value"])
