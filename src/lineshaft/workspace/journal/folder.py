"""The folder that keeps the journals of one workspace.

    lock                held while a process lands, recovers or undoes
    ID.landing          being written, or landing; after a crash it is found here
    done/ID.journal     landed; what `undo` takes back
    done/ID.undone      taken back; empty
    done/ID.expired     kept for its time; empty
    kept/ID/N           contents that were linked, not copied

An id starts with the time in nanoseconds, so that names sort by age, and has a digest of the run
in it, so that a run's journals are found by name.
"""

import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Literal

from lineshaft.errors import WorkspaceError
from lineshaft.files import made_private
from lineshaft.values import Struct
from lineshaft.workspace.journal import storage
from lineshaft.workspace.journal.failpoints import reached
from lineshaft.workspace.journal.lock import locked
from lineshaft.workspace.journal.storage import Header, Journal, Source

_DAY_NS = 86_400 * 10**9
_TOLD_TIMES = 10
"""That a run's changes have expired is known for so many times the time they were kept."""

_WAIT_SECONDS = 30.0
_PRUNE_SECONDS = 3_600

Fate = Literal["journal", "undone", "expired"]


class KeptJournal(Struct, frozen=True):
    """A journal of a landing that is over, by its name alone."""

    id: str
    fate: Fate

    @property
    def made_ns(self) -> int:
        """When it was landed."""
        return int(self.id.partition("-")[0])

    @property
    def digest(self) -> str:
        """The digest of its run."""
        return self.id.split("-")[1]


class Journals:
    """The journals of one workspace.

    Args:
        folder: Their place; made when first needed.
        keep_days: How long a landing can be undone.
    """

    def __init__(self, folder: Path, keep_days: float) -> None:
        self.folder = folder
        self._keep_ns = int(keep_days * _DAY_NS)
        self._done = folder / "done"
        self._pruned: float | None = None

    @contextmanager
    def lock(self) -> Generator[None]:
        """Lock the workspace against other landings, recoveries and undos.

        Raises:
            WorkspaceError: Another process holds it for too long, or journals cannot be kept here.
        """
        with ExitStack() as held:
            with usable():
                made_private(self._done)
                held.enter_context(locked(self.folder / "lock", seconds=_WAIT_SECONDS))
            reached("lock-taken")
            yield

    def unfinished(self) -> list[Path]:
        """Return the journals of landings that are under way, or were when their process died.

        Raises:
            WorkspaceError: The folder of journals cannot be looked at now.
        """
        with usable():
            try:
                with os.scandir(self.folder) as entries:
                    names = [entry.name for entry in entries if entry.name.endswith(".landing")]
            except (FileNotFoundError, NotADirectoryError):
                return []
        return [self.folder / name for name in sorted(names)]

    def new_id(self, run_id: str) -> str:
        """Return the name of a landing that begins now."""
        return f"{time.time_ns():019d}-{_digest(run_id)}-{secrets.token_hex(4)}"

    def commit(self, header: Header, sources: Mapping[str, Source]) -> Journal:
        """Write a journal; once this returns, its steps will be done.

        Raises:
            WorkspaceError: It cannot be written; no part of it is left.
        """
        path, kept = self.folder / f"{header.id}.landing", self._kept(header.id)
        with usable():
            try:
                journal = storage.write(path, header, sources, kept=kept)
            except BaseException:
                self._drop(path)
                raise
            reached("committed")
        return journal

    def load(self, path: Path) -> Journal | None:
        """Read a journal back; None where it was never finished, or is damaged."""
        return storage.load(path, kept=self._kept(path.stem))

    def put_damaged(self, path: Path) -> bool:
        """Keep a damaged journal for its time, so that an undo says so.

        Returns:
            Whether it was ever whole.
        """
        if not storage.is_marked(path):
            return False
        path.rename(self._done / f"{path.stem}.journal")
        return True

    def done(self, journal: Journal) -> None:
        """Note that a landing is over; contents that no undo needs are dropped.

        Raises:
            WorkspaceError: It cannot be noted; the journal stays for recovery, which notes it.
        """
        header = journal.header
        with usable():
            for undone in header.undoes:
                self._forget(KeptJournal(undone, "journal"), "undone")
                reached("undo-marked")
            if header.kind == "undo" or not header.run_id:
                self._drop(journal.path)
            else:
                journal.path.rename(self._done / f"{header.id}.journal")
        reached("journal-done")
        self._prune()

    def _drop(self, path: Path) -> None:
        with suppress(FileNotFoundError):
            path.unlink()
        shutil.rmtree(self._kept(path.stem), ignore_errors=True)

    def drop(self, path: Path) -> None:
        """Forget a landing that was never begun, or was taken back."""
        self._drop(path)
        reached("journal-dropped")

    def of(self, run_id: str) -> list[KeptJournal]:
        """Return the kept landings of a run, the oldest first."""
        digest = _digest(run_id)
        return [kept for kept in self._all() if kept.digest == digest]

    def read(self, kept: KeptJournal) -> Journal | None:
        """Return the journal of a landing that is over."""
        path = self._done / f"{kept.id}.journal"
        return storage.load(path, kept=self._kept(kept.id))

    def expired(self, kept: KeptJournal) -> bool:
        """Whether the time is over for which a landing can be undone."""
        return kept.fate == "expired" or time.time_ns() - kept.made_ns > self._keep_ns

    def _all(self) -> Iterator[KeptJournal]:
        try:
            names = sorted(os.listdir(self._done))  # noqa: PTH208  names alone
        except FileNotFoundError:
            return
        for name in names:
            stem, _, suffix = name.rpartition(".")
            if suffix in ("journal", "undone", "expired") and storage.ID.fullmatch(stem):
                yield KeptJournal(stem, suffix)

    def _prune(self) -> None:
        """Drop expired landings, once in an hour; those that cannot be dropped wait."""
        if self._pruned is None or time.monotonic() - self._pruned > _PRUNE_SECONDS:
            self._pruned = time.monotonic()
            with suppress(OSError):
                self.prune()

    def prune(self, run_ids: Collection[str] = ()) -> int:
        """Drop expired landings; the caller holds the lock.

        Args:
            run_ids: Runs whose landings go at any age.

        Returns:
            The number of landings that can no longer be undone.
        """
        now, digests = time.time_ns(), {_digest(run_id) for run_id in run_ids}
        dropped = 0
        for kept in list(self._all()):
            age = now - kept.made_ns
            if kept.fate == "journal" and (age > self._keep_ns or kept.digest in digests):
                self._forget(kept, "expired")
                dropped += 1
            elif kept.fate != "journal" and age > _TOLD_TIMES * self._keep_ns:
                with suppress(FileNotFoundError):
                    (self._done / f"{kept.id}.{kept.fate}").unlink()
        return dropped

    def _forget(self, kept: KeptJournal, fate: Fate) -> None:
        """Drop the contents of a landing, and keep its outcome."""
        (self._done / f"{kept.id}.{fate}").touch(mode=0o600)
        with suppress(FileNotFoundError):
            (self._done / f"{kept.id}.journal").unlink()
        shutil.rmtree(self._kept(kept.id), ignore_errors=True)

    def _kept(self, id: str) -> Path:  # noqa: A002  the plain word
        return self.folder / "kept" / id


def _digest(run_id: str) -> str:
    return hashlib.sha256(run_id.encode()).hexdigest()[:16]


def forget_landings(folder: Path, *, keep_days: float, run_ids: Collection[str] = ()) -> int:
    """Drop the contents that undo needs, for landings whose time is over.

    Args:
        folder: The folder of a workspace's journals.
        keep_days: As for `Folder`.
        run_ids: Runs that are forgotten: their landings go at any age.

    Returns:
        The number of landings that can no longer be undone.

    Raises:
        WorkspaceError: Another process lands changes for too long, or it cannot be written.
    """
    journals = Journals(folder, keep_days)
    with journals.lock(), usable():
        return journals.prune(run_ids)


@contextmanager
def usable() -> Generator[None]:
    """Turn the error of a journal that cannot be kept into one for the caller."""
    try:
        yield
    except OSError as error:
        raise WorkspaceError(
            f"the journal of changes cannot be kept: {os.strerror(error.errno or 0)};"
            " nothing was changed",
            hint="See to it that the state folder has room and can be written.",
        ) from error
