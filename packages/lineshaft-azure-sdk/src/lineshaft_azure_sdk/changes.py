"""Files that a run has changed and that have not landed, with both contents."""

from collections.abc import Mapping
from dataclasses import dataclass

from anyio import to_thread

from lineshaft.errors import ToolError
from lineshaft.values import Context, StagedFile

_NO_FILE = frozenset({"missing", "folder"})
_MOST_BYTES = 2_000_000
"""Of a file whose contents are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One file, or a symlink, which has no content of its own."""

    before: bytes | None
    """On the disk; None: no file is there, or one that policy hides."""

    after: bytes | None
    """As the run has it; None: it is gone, or policy hides it."""

    @property
    def texts(self) -> tuple[str, str]:
        """Both contents as text; that of no file is empty."""
        old, new = (b"" if data is None else data for data in (self.before, self.after))
        return old.decode("utf-8", "surrogateescape"), new.decode("utf-8", "surrogateescape")


async def changed_files(call: Context) -> Mapping[str, ChangedFile]:
    """Return what a run has changed against the disk, by path.

    Ignored files and those of packages count too. Symlinks are not followed, and of what policy
    hides there is no content: that it was changed is all that is said.

    Raises:
        ToolError: A file is too large to be compared.
        WorkspaceError: A file was changed from outside meanwhile.
    """
    found: dict[str, ChangedFile] = {}
    for staged in await call.workspace.kept_back():
        if staged.was in _NO_FILE and staged.kind == "folder":
            continue
        if staged.was == "folder" and staged.kind == "missing":
            continue
        each = await to_thread.run_sync(_contents, staged)
        if each.before is None or each.before != each.after:
            found[staged.path] = each
    return dict(sorted(found.items()))


def _contents(staged: StagedFile) -> ChangedFile:
    if staged.size > _MOST_BYTES:
        raise _too_large(staged)
    before = staged.before()
    if before is not None and len(before) > _MOST_BYTES:
        raise _too_large(staged)
    return ChangedFile(before=before, after=_after(staged))


def _too_large(staged: StagedFile) -> ToolError:
    most = f"{_MOST_BYTES // 1_000_000} MB"
    return ToolError("E_TOO_LARGE", f"{staged.path!r} is too large to be checked: over {most}")


def _after(staged: StagedFile) -> bytes | None:
    if staged.kind != "file":
        return None
    try:
        return b"".join(staged.parts())
    except ToolError as error:
        if error.code == "E_DENIED":
            return None
        raise
