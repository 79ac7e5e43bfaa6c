"""Authority of a call, which ends with the call: its workspace answers no longer."""

from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import anyio
from msgspec import field

from lineshaft.errors import LineshaftError, OutsideWorkspace, ToolError
from lineshaft.gate._subtree import NAMED
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
    Process,
    Resolved,
    SecretFinder,
    Stage,
    StagedFile,
    Struct,
    Undone,
    Workspace,
    first_few,
)


class CallAuthority(Struct):
    """The authority of a call: the paths that it may see, and whether it is still under way."""

    look: Callable[[], Callable[[str], bool]]
    """Makes the answer to: may the call look at this path? Only asked for when needed."""

    shows: Callable[[str], bool] = bool
    """Answers: may a program of the call see what is staged at this path?"""

    along: Callable[[str], bool] = bool
    """Answers: may the call take this path along, which it was not judged for?"""

    granted: frozenset[str] = frozenset()
    """The paths that the call names, which policy has judged."""

    reads_only: bool = False
    """Its tool says that it changes nothing."""

    over: bool = False
    changed: bool = False
    """The call changed something through its workspace."""

    _visible: Callable[[str], bool] | None = None
    _asking: list[anyio.CancelScope] = field(default_factory=list[anyio.CancelScope])

    def end(self) -> None:
        """End the call's authority, and its open questions."""
        self.over = True
        for scope in self._asking:
            scope.cancel()

    @contextmanager
    def asking(self) -> Generator[anyio.CancelScope]:
        """Ask a question inside the block, no longer than the call lasts."""
        with anyio.CancelScope() as scope:
            self._asking.append(scope)
            try:
                yield scope
            finally:
                self._asking.remove(scope)

    def sees(self, path: str) -> bool:
        """Return whether policy lets the call look at a path."""
        if path in self.granted:
            return True
        if self._visible is None:
            self._visible = self.look()
        return self._visible(path)


class CallWorkspace(Workspace):
    """A run's view of the workspace, as long as the call lasts that it was lent to.

    A path that policy hides from the call is not there in a walk, and is refused by name.
    """

    def __init__(self, view: Stage, authority: CallAuthority) -> None:
        self._view = view
        self._authority = authority

    @property
    def _live(self) -> Stage:
        if self._authority.over:
            raise ToolError("E_DENIED", "the call is over: it can no longer use the workspace")
        return self._view

    @property
    def _changing(self) -> Stage:
        if self._authority.reads_only:
            raise ToolError(
                "E_DENIED",
                "the tool says that it only reads, so it changes no file",
                hint='declare what it does: effect="write"',
            )
        return self._live

    async def _at(self, path: str, *, follow: bool = True) -> str:
        """Return where a path leads now, also one that was judged: it may have been moved since."""
        real = (await self._live.resolve(path, follow=follow)).path
        if not self._authority.sees(real):
            raise ToolError("E_DENIED", f"policy hides {path!r} from this call")
        return real

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities of the workspace."""
        return self._live.capabilities

    async def resolve(self, path: str, *, follow: bool = True) -> Resolved:
        """As `Workspace.resolve`."""
        return await self._live.resolve(path, follow=follow)

    async def stat(self, path: str) -> Entry:
        """As `Workspace.stat`."""
        try:
            await self._at(path)
        except OutsideWorkspace:  # a symlink that leads nowhere is there itself
            await self._at(path, follow=False)
        return await self._live.stat(path)

    async def read(self, path: str, *, noted: bool = True) -> Content:
        """As `Workspace.read`."""
        return await self._live.read(await self._at(path), noted=noted)

    async def read_many(self, paths: Sequence[str]) -> list[Content | LineshaftError]:
        """As `Workspace.read_many`; what policy hides is refused, each path by itself."""
        refused: dict[str, LineshaftError] = {}
        real: list[str] = []
        for path in paths:
            try:
                real.append(await self._at(path))
            except LineshaftError as error:
                refused[path] = error
        answers = iter(await self._live.read_many(real))
        found: list[Content | LineshaftError] = []
        for path in paths:
            answer = refused[path] if path in refused else next(answers, None)
            if answer is None:
                break
            found.append(answer)
        return found

    async def write(
        self, path: str, data: bytes, *, if_match: str | None = None, mode: int | None = None
    ) -> Change:
        """As `Workspace.write`."""
        if not isinstance(cast("object", data), bytes):
            data = _bytes_of(path, data)
        real = await self._at(path)
        change = await self._changing.write(real, data, if_match=if_match, mode=mode)
        self._authority.changed = True
        return change

    async def make_folder(self, path: str, *, mode: int | None = None) -> Change:
        """As `Workspace.make_folder`."""
        change = await self._changing.make_folder(await self._at(path), mode=mode)
        self._authority.changed = True
        return change

    async def link(self, path: str, target: str) -> Change:
        """As `Workspace.link`."""
        change = await self._changing.link(await self._at(path, follow=False), target)
        self._authority.changed = True
        return change

    async def move(
        self, source: str, target: str, *, approve: ApprovePaths | None = None
    ) -> Change:
        """As `Workspace.move`; what policy hides is not moved within a folder either."""
        old, new = await self._at(source, follow=False), await self._at(target, follow=False)

        def also(paths: Sequence[str]) -> None:
            authority = self._authority
            closed = [p for p in paths if p not in authority.granted and not authority.along(p)]
            if closed:
                text = f"policy keeps this call from moving {first_few(closed, NAMED, quoted=True)}"
                raise ToolError("E_DENIED", text)
            if approve is not None:
                approve(paths)

        change = await self._changing.move(old, new, approve=also)
        self._authority.changed = True
        return change

    async def delete(self, path: str) -> Change:
        """As `Workspace.delete`."""
        change = await self._changing.delete(await self._at(path, follow=False))
        self._authority.changed = True
        return change

    async def walk(
        self, root: str = ".", *, ignore: bool = True, depth: int | None = None
    ) -> AsyncIterator[Entry]:
        """As `Workspace.walk`, without what policy hides."""
        async for entry in self._live.walk(root, ignore=ignore, depth=depth):
            if self._authority.sees(entry.path):
                yield entry

    async def run(self, command: Command) -> Process:
        """As `Workspace.run`."""
        return await self._live.run(command)

    async def kept_back(self) -> tuple[StagedFile, ...]:
        """As `Workspace.kept_back`; of what policy hides only the place and the kind."""
        files = await self._live.kept_back()
        return tuple(f if self._authority.shows(f.path) else _withheld(f) for f in files)

    def begin(
        self,
        run_id: str = "",
        *,
        atomic: bool = False,
        packed: bytes | None = None,
        secrets: SecretFinder = NO_SECRETS,
    ) -> Stage:
        """Refused: a call works in its run's view."""
        raise ToolError("E_DENIED", "a tool works in its run's view; it cannot begin another")

    async def recover(self) -> tuple[Finding, ...]:
        """Refused: that is the host's."""
        raise ToolError("E_DENIED", "a tool cannot recover a workspace")

    async def undo(self, run_id: str, *, confirm: ConfirmUndo | None = None) -> Undone:
        """Refused: that is the host's."""
        raise ToolError("E_DENIED", "a tool cannot undo a run")


def _bytes_of(path: str, data: object) -> bytes:
    """Return a copy of the bytes that a tool may change afterwards.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(data, bytearray | memoryview):
        kind = type(data).__name__
        raise TypeError(f"the content of {path!r} must be bytes, not {kind}: text.encode()")
    return bytes(cast("bytearray", data))


def _withheld(file: StagedFile) -> StagedFile:
    """Return a staged file without its content."""

    def refuse() -> Iterator[bytes]:
        raise ToolError("E_DENIED", f"policy hides {file.path!r} from this call")

    return StagedFile(path=file.path, real=file.real, kind=file.kind, parts=refuse)
