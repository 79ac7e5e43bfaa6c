"""One journal: the items of a landing, and the contents before and after.

Above: `journal/folder.py`, which keeps them, and `staging/landing.py`. The file is written once,
from front to end: a header, the contents, a mark that says that it is whole. A journal without the
mark was never begun. Contents may be lost afterwards: a linked one is a file that others may write.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, cast

from msgspec import field

from lineshaft.errors import StateError
from lineshaft.values import Struct, decode
from lineshaft.workspace.disk import FileState, Place, Root
from lineshaft.workspace.journal.failpoints import reached

FORMAT = 1
ID = re.compile(r"[0-9]{1,20}-[0-9a-f]{16}-[0-9a-f]{8}")
"""Of a journal: its file's name is its id and a suffix."""

_MODES = range(0o10000)
_MAGIC = b"lineshaft journal\n"
_WHOLE = b"\nwhole\n"
_CHUNK = 1 << 20
_BUFFER = 1 << 18

Kind = Literal["stage", "undo"]
Json = Mapping[str, object]


class Item(Struct, frozen=True):
    """The change of one path."""

    place: Place
    before: FileState
    after: FileState
    came: Place | None = None
    """The former path of the same file."""

    def back(self, sources: Mapping[str, Place]) -> "Item":
        """Return the item that takes it back.

        Args:
            sources: New paths of files, by their former real paths.
        """
        return Item(self.place, self.after, self.before, sources.get(self.place.real))


class Header(Struct, frozen=True, kw_only=True):
    """All of a journal but contents."""

    id: str
    kind: Kind
    run_id: str
    stage: int
    items: tuple[Item, ...]
    undoes: tuple[str, ...] = ()
    """Journals that this landing takes back."""


class Source(Protocol):
    """A content that a journal is to keep."""

    @property
    def size(self) -> int:
        """How many bytes it has."""
        ...

    def parts(self) -> Iterator[bytes]:
        """Return it piece by piece.

        Raises:
            WorkspaceError: It is no longer what it was.
        """
        ...

    def linked(self, to: Path) -> bool:
        """Give it one more name, where it is a large file that is not written to."""
        ...


class _Blob(Struct, frozen=True):
    """The place of a content."""

    path: Path
    offset: int
    size: int


class Journal(Struct):
    """A journal that is whole on the medium."""

    path: Path
    header: Header
    _blobs: Mapping[str, _Blob] = field(default_factory=dict[str, _Blob])

    def parts(self, sha256: str) -> Iterator[bytes]:
        """Return a content piece by piece.

        Raises:
            StateError: It is missing, or changed.
        """
        blob = self._blobs.get(sha256)
        digest = hashlib.sha256()
        if blob is not None:
            for chunk in _slice(blob):
                digest.update(chunk)
                yield chunk
        if digest.hexdigest() != sha256:
            raise StateError(
                "the journal of these changes is damaged: a content is not what it was"
            )

    def has(self, sha256: str) -> bool:
        """Whether it keeps a content."""
        return sha256 in self._blobs

    def size(self, sha256: str) -> int:
        """Return how many bytes a content has."""
        return self._blobs[sha256].size

    def linked(self, sha256: str, to: Path) -> bool:
        """Give a content that is a file of its own one more name."""
        blob = self._blobs[sha256]
        return blob.path != self.path and hard_link(blob.path, to)

    def lost(self) -> frozenset[str]:
        """Return the contents that are not what they were: a linked one may be written in place."""
        return frozenset(sha256 for sha256 in self._blobs if not self.keeps(sha256))

    def keeps(self, sha256: str) -> bool:
        """Whether it has a content, and that is what it was."""
        try:
            for _ in self.parts(sha256):
                pass
        except (OSError, StateError):
            return False
        return True


def _slice(blob: _Blob) -> Iterator[bytes]:
    with blob.path.open("rb") as file:
        file.seek(blob.offset)
        left = blob.size
        while left and (chunk := file.read(min(left, _CHUNK))):
            left -= len(chunk)
            yield chunk


def hard_link(path: Path, to: Path) -> bool:
    """Give a file one more name; False where that cannot be."""
    try:
        os.link(path, to, follow_symlinks=False)
    except OSError:
        return False
    return True


def write(path: Path, header: Header, sources: Mapping[str, Source], *, kept: Path) -> Journal:
    """Write a journal, sync it to the medium and return it.

    Args:
        path: Its path.
        header: The items.
        sources: The contents, by their sha256.
        kept: A folder for contents that need not be copied, made where needed.
    """
    linked = _link_large(sources, kept)
    inline = [sha256 for sha256 in sources if sha256 not in linked]
    blobs: list[dict[str, object]] = []
    for sha256 in (*inline, *linked):
        link = {"link": linked[sha256]} if sha256 in linked else {}
        blobs.append({"sha256": sha256, "size": sources[sha256].size, **link})
    facts = {**_packed(header), "blobs": blobs}
    head = _MAGIC + json.dumps(facts).encode() + b"\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb", buffering=_BUFFER) as file:
        reached("journal-opened")
        file.write(head)
        _write_contents(file, (sources[sha256] for sha256 in inline))
        file.write(_mark(head))
        file.flush()
        reached("journal-written")
        os.fsync(descriptor)
    reached("journal-synced")
    if linked:
        sync_folder(kept)
    sync_folder(path.parent)
    found, others, _ = _found(facts, path, len(head), kept)
    return Journal(path, header, {**found, **others})


def _write_contents(file: BinaryIO, sources: Iterable[Source]) -> None:
    for number, source in enumerate(sources):
        for chunk in source.parts():
            file.write(chunk)
        if number == 0:
            file.flush()
            reached("journal-half-written")


def _link_large(sources: Mapping[str, Source], kept: Path) -> dict[str, str]:
    linked: dict[str, str] = {}
    for sha256, source in sources.items():
        name = str(len(linked))
        if source.linked(kept / name):
            reached("contents-linked")
            linked[sha256] = name
    return linked


def sync_folder(path: Path) -> None:
    """Sync the names in a folder to the medium, where the system can."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def load(path: Path, *, kept: Path) -> Journal | None:
    """Read a journal back; None where it was never finished, or is damaged.

    Args:
        path: The journal.
        kept: The folder of its linked contents.

    Raises:
        StateError: It was written by another version.
    """
    with path.open("rb") as file:
        head = file.readline() + file.readline()
        offset = file.tell()
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - len(_mark(head)), offset))
        end = file.tell()
        if file.read() != _mark(head):
            return None
    try:
        facts = cast("dict[str, object]", json.loads(head.removeprefix(_MAGIC)))
        _must_be_ours(facts["format"])
        inline, linked, after = _found(facts, path, offset, kept)
        header = _checked(_unpacked(facts), path.stem)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None  # nothing writes this: another program changed it
    return Journal(path, header, {**inline, **linked}) if after == end else None


def _must_be_ours(version: object) -> None:
    if version != FORMAT:
        raise StateError(
            "changes are half landed, and their journal has another format than this version's:"
            f" {version}, not {FORMAT}",
            hint="Recover them with the version of Lineshaft that began to land them.",
        )


def _mark(head: bytes) -> bytes:
    """Return the end of a whole journal; its head counts before the head is read."""
    return hashlib.sha256(head).hexdigest().encode() + _WHOLE


def is_marked(path: Path) -> bool:
    """Whether a journal was finished, though it may be damaged since."""
    with path.open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - len(_WHOLE), 0))
        return file.read() == _WHOLE


def _found(
    facts: Json, path: Path, offset: int, kept: Path
) -> tuple[dict[str, _Blob], dict[str, _Blob], int]:
    inline: dict[str, _Blob] = {}
    linked: dict[str, _Blob] = {}
    for blob in cast("list[dict[str, object]]", facts.get("blobs", [])):
        sha256, size = str(blob["sha256"]), cast("int", blob["size"])
        if "link" in blob:
            linked[sha256] = _Blob(kept / str(blob["link"]), 0, size)
        else:
            inline[sha256] = _Blob(path, offset, size)
            offset += size
    return inline, linked, offset


def _packed(header: Header) -> dict[str, object]:
    return {
        "format": FORMAT,
        "id": header.id,
        "kind": header.kind,
        "run_id": header.run_id,
        "stage": header.stage,
        "undoes": header.undoes,
        "items": [
            {
                "place": place_facts(item.place),
                "before": thing_facts(item.before),
                "after": thing_facts(item.after),
                "came": None if item.came is None else place_facts(item.came),
            }
            for item in header.items
        ],
    }


def _unpacked(facts: Json) -> Header:
    told = decode(_HeaderFacts, {k: v for k, v in facts.items() if k not in ("format", "blobs")})
    return Header(
        id=told.id,
        kind=told.kind,
        run_id=told.run_id,
        stage=told.stage,
        undoes=told.undoes,
        items=tuple(
            Item(
                place=place_from(item.place),
                before=item.before,
                after=item.after,
                came=None if item.came is None else place_from(item.came),
            )
            for item in told.items
        ),
    )


def _checked(header: Header, name: str) -> Header:
    """Refuse what no version writes, such as a path that leads out of its mount.

    Raises:
        ValueError: It is there.
    """
    places = [place for each in header.items for place in (each.place, each.came) if place]
    modes = {state.mode for each in header.items for state in (each.before, each.after)} - {None}
    if (
        header.id != name
        or not all(ID.fullmatch(each) for each in header.undoes)
        or not all(map(_is_inside, places))
        or not all(mode in _MODES for mode in modes)
    ):
        raise ValueError(name)
    return header


def _is_inside(place: Place) -> bool:
    """Return whether each part of a place is the name of something in the one before it."""
    return Path(place.root.real).is_absolute() and not any(
        part in ("", ".", "..") or "\0" in part or Path(part).name != part for part in place.parts
    )


class _PlaceFacts(Struct, frozen=True):
    """A place, as a journal has it."""

    alias: str
    root: str
    parts: tuple[str, ...]


class _ItemFacts(Struct, frozen=True):
    """An item, as a journal has it."""

    place: object
    before: FileState
    after: FileState
    came: object


class _HeaderFacts(Struct, frozen=True):
    """A header, as a journal has it."""

    id: str
    kind: Kind
    run_id: str
    stage: int
    undoes: tuple[str, ...]
    items: tuple[_ItemFacts, ...]


def place_facts(place: Place) -> Json:
    """Return a place as JSON-like data."""
    root = place.root
    return {"alias": root.alias, "root": root.real, "parts": place.parts}


def place_from(facts: object) -> Place:
    """Return the place again; its writer was allowed to change it."""
    told = decode(_PlaceFacts, facts)
    return Place(Root(told.alias, told.root, writable=True), told.parts, writable=True)


def thing_facts(thing: FileState) -> Json:
    """Return a state as JSON-like data."""
    facts: dict[str, object] = {"kind": thing.kind, "mode": thing.mode}
    if thing.kind == "file":
        facts |= {"sha256": thing.sha256, "size": thing.size}
    if thing.target is not None:
        facts["target"] = thing.target
    return facts
