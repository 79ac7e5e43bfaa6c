"""The folder of a sweep: plan, log, a folder for each cell, and room for the record."""

import errno
import json
import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lineshaft.errors import ConfigError
from lineshaft.evals._results import CellResult
from lineshaft.evals.solving import Attempt, Spending
from lineshaft.evals.sweep.growth import grown
from lineshaft.evals.sweep.planning import SweepPlan
from lineshaft.files import lock_file, made_private, remove_tree, write_whole
from lineshaft.values import DecodeError, decode

_RESERVED = 256 * 1024
"""Bytes kept free for the last lines of the log on a disk that is full."""

_NAME = 24


class SweepFolder:
    """The folder of a sweep. Make one for reading; `begun` is for writing.

    Args:
        place: The folder.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self._log = place / "log.jsonl"
        self._reserve = place / ".reserve"

    @contextmanager
    def begun(self, plan: SweepPlan) -> Generator[None]:
        """Write the plan, and be the only one that carries it out.

        Copies that a killed process left are removed. Where a plan stands there already, it may
        grow by repeats. All that is made is for its owner alone: files 0600, folders 0700.

        Raises:
            ConfigError: The folder is another sweep's at the moment, holds something else or
                another plan, or cannot be made or written.
        """
        with self._writable():
            made_private(self.place)
            if not (self.place / "plan.json").exists() and _is_in_use(self.place):
                raise ConfigError(
                    f"the folder {self.place.name!r} is not empty, and no sweep's",
                    hint="name another one by --out",
                )
            handle = os.open(self.place / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                lock_file(handle, wait=False)
            except OSError:
                text = f"another process carries out the sweep in {self.place.name!r}"
                raise ConfigError(text) from None
            with self._writable():
                self._prepare(plan)
            try:
                yield
            finally:
                remove_tree(self.work)
                self._reserve.unlink(missing_ok=True)
        finally:
            os.close(handle)

    def _prepare(self, plan: SweepPlan) -> None:
        if (self.place / "plan.json").exists():
            plan = grown(self.plan(), plan, self.place)
        remove_tree(self.work)
        self.work.mkdir(mode=0o700)
        self._whole_log()
        text = json.dumps(asdict(plan), indent=2, ensure_ascii=False)
        write_whole(self.place / "plan.json", text.encode())
        write_whole(self._reserve, os.urandom(_RESERVED))

    @contextmanager
    def _writable(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise ConfigError(
                f"the folder of the sweep {str(self.place)!r} cannot be written: {error.strerror}",
                hint="name another one by --out",
            ) from error

    def write_report(self, name: str, text: str) -> None:
        """Put a file of the report in its place.

        Raises:
            ConfigError: It cannot be written.
        """
        with self._writable():
            write_whole(self.place / name, text.encode("utf-8", "replace"))

    @property
    def work(self) -> Path:
        """The folder of the copies of running cells."""
        return self.place / "work"

    def plan(self) -> SweepPlan:
        """Return the plan.

        Raises:
            ConfigError: There is none.
        """
        try:
            return decode(SweepPlan, json.loads((self.place / "plan.json").read_bytes()))
        except (OSError, ValueError, DecodeError) as error:
            why = "" if isinstance(error, FileNotFoundError) else f": {error}"
            raise ConfigError(
                f"there is no sweep in {str(self.place)!r}{why}",
                hint="make one: `lineshaft eval run migrate --model scripted`",
            ) from None

    def results(self) -> dict[str, CellResult]:
        """Return what is finished, by key."""
        return {cell.key: cell for cell in read_cells(self._log)} if self._log.exists() else {}

    def write(self, cell: CellResult) -> None:
        """Append a finished cell's line; it is on the disk when this returns.

        Raises:
            OSError: It cannot be written, even in the room that was reserved.
        """
        line = json.dumps(asdict(cell), ensure_ascii=False).encode() + b"\n"
        try:
            _append(self._log, line)
        except OSError:
            self.free_reserve()
            self._whole_log()
            _append(self._log, line)

    def free_reserve(self) -> None:
        """Give up the room that was reserved for the log."""
        self._reserve.unlink(missing_ok=True)

    def spend(self, key: str, spending: Spending) -> None:
        """Note what an attempt has spent so far, in case that it is killed."""
        folder = self.cell(key)
        made_private(folder)
        write_whole(folder / "attempt.json", json.dumps(asdict(spending)).encode())

    def wasted(self, key: str) -> tuple[int, float]:
        """Return the tokens and seconds of attempts at a cell that were killed.

        The last one of them becomes one of the former ones.
        """
        folder = self.cell(key)
        former = _json(folder / "wasted.json")
        tokens, seconds = int(former.get("tokens", 0)), float(former.get("seconds", 0.0))
        killed = _json(folder / "attempt.json")
        if killed:
            tokens += int(killed.get("input_tokens", 0)) + int(killed.get("output_tokens", 0))
            seconds += float(killed.get("seconds", 0.0))
            now = json.dumps({"tokens": tokens, "seconds": seconds})
            write_whole(folder / "wasted.json", now.encode())
            (folder / "attempt.json").unlink()
        return tokens, seconds

    def settle(self, key: str) -> None:
        """Forget what an attempt had spent so far: its line in the log says it."""
        for name in ("attempt.json", "wasted.json"):
            with suppress(OSError):
                (self.cell(key) / name).unlink(missing_ok=True)

    def keep(self, key: str, attempt: Attempt, difference: str) -> str:
        """Keep what an attempt leaves: conversation, scripts, events, difference.

        Returns:
            The folder, below the sweep's.

        Raises:
            OSError: It cannot be written.
        """
        folder = self.cell(key)
        made_private(folder)
        files = {
            "conversation.json": json.dumps(attempt.conversation, indent=1, ensure_ascii=False),
            "changes.diff": difference,
            "events.jsonl": "".join(
                json.dumps(asdict(event), ensure_ascii=False) + "\n" for event in attempt.events
            ),
            **{f"script-{n}.py": text for n, text in enumerate(attempt.scripts, 1)},
        }
        for name, text in files.items():
            write_whole(folder / name, text.encode("utf-8", "replace"))
        return folder.relative_to(self.place).as_posix()

    def cell(self, key: str) -> Path:
        """Return the folder of a cell."""
        return self.place / "cells" / key[:_NAME]

    def _whole_log(self) -> None:
        """Take half a line off the end of the log: its writer was killed."""
        if self._log.exists():
            with self._log.open("rb+") as file:
                text = file.read()
                file.truncate(text.rfind(b"\n") + 1)


def read_cells(log: Path) -> tuple[CellResult, ...]:
    """Return the cells of a log, or of a baseline file; of one key the last.

    Raises:
        ConfigError: It cannot be read, or a line is no cell.
    """
    try:
        lines = log.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise ConfigError(f"the cells in {str(log)!r} cannot be read: {error}") from None
    found: dict[str, CellResult] = {}
    for number, line in enumerate(lines[:-1], 1):  # what follows the last line end is half a line
        try:
            cell = decode(CellResult, json.loads(line))
        except (ValueError, DecodeError) as error:
            raise ConfigError(f"line {number} of {str(log)!r} is no cell: {error}") from None
        found[cell.key] = cell
    return tuple(found.values())


def _append(path: Path, line: bytes) -> None:
    handle = os.open(
        path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600
    )
    with os.fdopen(handle, "ab", buffering=0) as file:
        left = memoryview(line)
        while left:
            written = file.write(left)  # a disk that is nearly full takes a part
            if not written:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            left = left[written:]
        os.fsync(file.fileno())


def _json(path: Path) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found


def _is_in_use(place: Path) -> bool:
    names: Iterable[str] = (path.name for path in place.iterdir())
    return any(not name.startswith(".") for name in names)
