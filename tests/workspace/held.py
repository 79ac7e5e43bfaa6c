"""A view of contents that are only held, for tests of guards."""

from collections.abc import Mapping

from lineshaft.errors import FileMissing
from lineshaft.values import Change, ChangeKind, Content, Entry
from lineshaft.workspace.guards.view import Looking


class Held(Looking):
    """What files were, and what they are to be, by path."""

    def __init__(
        self, after: Mapping[str, bytes], before: Mapping[str, bytes] | None = None
    ) -> None:
        super().__init__(self)
        self.after, self.first = after, before or {}
        self.reads: list[str] = []

    @property
    def landed(self) -> int:
        return 0

    async def stat(self, path: str) -> Entry:
        if path not in self.after:
            raise FileMissing(f"there is no file {path!r}")
        return Entry(path=path, kind="file", size=len(self.after[path]))

    async def read(self, path: str, *, noted: bool = True) -> Content:
        self.reads.append(path)
        if path not in self.after:
            raise FileMissing(f"there is no file {path!r}")
        return Content(data=self.after[path], sha256="")

    async def before(self, path: str) -> Content | None:
        data = self.first.get(path)
        return None if data is None else Content(data=data, sha256="")

    async def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(path=path, kind=_kind(path in self.first, path in self.after))
            for path in dict.fromkeys((*self.first, *self.after))
            if self.first.get(path) != self.after.get(path)
        )


def _kind(was: bool, now: bool) -> ChangeKind:
    if not was:
        return "created"
    return "modified" if now else "deleted"
