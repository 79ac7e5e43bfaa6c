"""A guard's view of a run, which can be read and not changed."""

from collections.abc import AsyncIterator, Sequence
from typing import NoReturn

from lineshaft.errors import ConfigError
from lineshaft.values import (
    NO_SECRETS,
    ApprovePaths,
    Capability,
    Change,
    Command,
    ConfirmUndo,
    Content,
    Entry,
    Finding,
    Guard,
    Process,
    Resolved,
    SecretFinder,
    Stage,
    StagedFile,
    Undone,
)

_KEPT_BYTES = 16_000_000


class Looking(Stage):
    """A run's view without its changing methods; contents are read once for all guards.

    Args:
        stage: The view.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._now: dict[str, Content] = {}
        self._before: dict[str, Content | None] = {}
        self._kept = 0

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The view has no capabilities."""
        return frozenset()

    @property
    def landed(self) -> int:
        """How many times changes have landed."""
        return self._stage.landed

    async def resolve(self, path: str, *, follow: bool = True) -> Resolved:
        """Decide where a path leads."""
        return await self._stage.resolve(path, follow=follow)

    async def stat(self, path: str) -> Entry:
        """Return what is at a path, or raise `FileMissing`."""
        return await self._stage.stat(path)

    async def read(self, path: str, *, noted: bool = True) -> Content:
        """Return the bytes that a file is to have."""
        if path in self._now:
            return self._now[path]
        content = await self._stage.read(path, noted=noted)
        if self._room(content):
            self._now[path] = content
        return content

    async def before(self, path: str) -> Content | None:
        """Return a file's content before; None: there was no file."""
        if path in self._before:
            return self._before[path]
        content = await self._stage.before(path)
        if self._room(content):
            self._before[path] = content
        return content

    def _room(self, content: Content | None) -> bool:
        size = len(content.data) if content else 0
        if self._kept + size > _KEPT_BYTES:
            return False
        self._kept += size
        return True

    def walk(
        self, root: str = ".", *, ignore: bool = True, depth: int | None = None
    ) -> AsyncIterator[Entry]:
        """Return all entries below a folder."""
        return self._stage.walk(root, ignore=ignore, depth=depth)

    async def changes(self) -> tuple[Change, ...]:
        """Return the changes of the run, landed or not."""
        return await self._stage.changes()

    @property
    def abandoned(self) -> tuple[Change, ...]:
        """The changes of layers that were dropped."""
        return self._stage.abandoned

    async def diff(self) -> str:
        """Return the changes that have not landed as one unified diff."""
        return await self._stage.diff()

    async def kept_back(self) -> tuple[StagedFile, ...]:
        """Return what the view has and the disk does not."""
        return await self._stage.kept_back()

    async def recover(self) -> tuple[Finding, ...]:
        """Return an empty list: a guard's view has no landings."""
        return ()

    async def write(
        self, path: str, data: bytes, *, if_match: str | None = None, mode: int | None = None
    ) -> Change:
        """Refuse."""
        _only_looks(path, data, if_match, mode)

    async def make_folder(self, path: str, *, mode: int | None = None) -> Change:
        """Refuse."""
        _only_looks(path, mode)

    async def link(self, path: str, target: str) -> Change:
        """Refuse."""
        _only_looks(path, target)

    async def move(
        self, source: str, target: str, *, approve: ApprovePaths | None = None
    ) -> Change:
        """Refuse."""
        _only_looks(source, target, approve)

    async def delete(self, path: str) -> Change:
        """Refuse."""
        _only_looks(path)

    async def run(self, command: Command) -> Process:
        """Refuse."""
        _only_looks(command)

    def begin(
        self,
        run_id: str = "",
        *,
        atomic: bool = False,
        packed: bytes | None = None,
        secrets: SecretFinder = NO_SECRETS,
    ) -> Stage:
        """Refuse."""
        _only_looks(run_id, atomic, packed, secrets)

    async def undo(self, run_id: str, *, confirm: ConfirmUndo | None = None) -> Undone:
        """Refuse."""
        _only_looks(run_id, confirm)

    async def consult(self, process: str = "") -> tuple[Finding, ...]:
        """Refuse."""
        _only_looks(process)

    async def land(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Refuse."""
        _only_looks(guards)

    async def look(self, guards: Sequence[Guard]) -> tuple[Finding, ...]:
        """Refuse."""
        _only_looks(guards)

    async def discard(self) -> None:
        """Refuse."""
        _only_looks()

    @property
    def touched(self) -> bool:
        """Whether the run has changed anything."""
        return self._stage.touched

    def layer(self, name: str) -> Stage:
        """Refuse."""
        _only_looks(name)

    async def merge(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Refuse."""
        _only_looks(guards)

    def drop(self) -> None:
        """Refuse."""
        _only_looks()

    async def fork(self) -> Stage:
        """Refuse."""
        _only_looks()

    async def pack(self) -> bytes:
        """Refuse."""
        _only_looks()


def _only_looks(*given: object) -> NoReturn:
    del given
    raise ConfigError("a guard can only read the view, not change it")
