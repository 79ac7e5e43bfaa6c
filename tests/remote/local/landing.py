"""Changes of files that are made together, in a folder that no editor shows.

All are looked at before the first is made. Where one fails, those before it are taken back, as far
as their files were not changed since; the rest is named.
"""

import hashlib
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from lineshaft.errors import FileMissing, LineshaftError, StaleFile, WorkspaceError
from lineshaft.remote.protocol import FileEdit, LandAction, LandedFile, LandObservation
from lineshaft.values import Struct
from lineshaft.workspace import Folder


class _Planned(Struct, frozen=True):
    """A change that was looked at."""

    path: str
    """Canonical."""

    before: bytes | None
    """None: there is no file."""

    data: bytes


async def land(
    folder: Folder, action: LandAction, place: Callable[[str], Awaitable[str]]
) -> LandObservation:
    """Make changes and save them: none is undone by an editor.

    Args:
        folder: The folder.
        action: The changes.
        place: Decides where a path leads.

    Raises:
        StaleFile: A file is not as it has to be; nothing landed.
        WorkspaceError: One cannot be made; what was made before is taken back, or named.
    """
    planned = await _looked_at(folder, action.edits, place)
    done: list[tuple[str, Callable[[], Awaitable[object]]]] = []
    view = folder.begin()
    try:
        for each in planned:
            match = None if each.before is None else _sha256(each.before)
            change = await view.write(each.path, each.data, if_match=match)
            back = partial(view.delete, each.path)
            if each.before is not None:
                back = partial(view.write, each.path, each.before, if_match=change.sha256)
            done.append((each.path, back))
    except LineshaftError as error:
        left = [path for path, back in reversed(done) if not await _went(back)]
        stays = f"; these stay changed: {', '.join(left)}" if left else ""
        raise StaleFile(f"{error.message}; nothing landed{stays}") from error
    finally:
        await view.discard()
    files = [LandedFile(path=edit.path, by_editor=False) for edit in action.edits]
    return LandObservation(content=f"{len(files)} files are changed", files=files)


async def _looked_at(
    folder: Folder, edits: Sequence[FileEdit], place: Callable[[str], Awaitable[str]]
) -> list[_Planned]:
    planned: list[_Planned] = []
    wrong: list[str] = []
    for edit in edits:
        path = await place(edit.path)
        try:
            before = (await folder.read(path)).data
        except FileMissing:
            before = None
        if edit.before is None and before is not None:
            wrong.append(f"{path!r} is there by now")
        elif edit.before is not None and (before is None or _sha256(before) != edit.before):
            wrong.append(f"{path!r} {'is gone' if before is None else 'was changed meanwhile'}")
        planned.append(_Planned(path, before, _data(edit)))
    if wrong:
        raise StaleFile(f"{'; '.join(wrong)}; nothing landed")
    return planned


async def _went(back: Callable[[], Awaitable[object]]) -> bool:
    try:
        await back()
    except LineshaftError:
        return False
    return True


def _data(edit: FileEdit) -> bytes:
    try:
        return b64decode(edit.data, validate=True)
    except NotBase64 as error:
        raise WorkspaceError(f"the content for {edit.path!r} is no Base64") from error


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
