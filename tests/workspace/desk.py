"""An editor of tests: it changes files on the disk, and has texts that are not saved."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lineshaft.errors import StaleFile, WindowRefused
from lineshaft.workspace import EditorEdit, EditorReview, SavedFile, Unsaved


@dataclass
class Desk:
    """An editor of tests, with texts that are not saved."""

    open: dict[str, bytes | None] = field(default_factory=dict[str, bytes | None])
    edits: list[str] = field(default_factory=list[str])
    formats: bool = False
    refuses: bool = False
    forgets: str = ""
    """A file that it says it has changed, and leaves as it is."""

    says_no: bool = False
    reviews: bool = False
    drops: dict[str, str] = field(default_factory=dict[str, str])
    shown: list[tuple[EditorReview, ...]] = field(default_factory=list[tuple[EditorReview, ...]])
    meanwhile: Callable[[], Awaitable[object]] | None = None
    """Done while the person looks."""

    asked: list[tuple[tuple[str, ...], str]] = field(
        default_factory=list[tuple[tuple[str, ...], str]]
    )

    def unsaved(self) -> Mapping[str, Unsaved]:
        return {real: Unsaved(data) for real, data in self.open.items()}

    def look_again(self) -> None:
        """Nothing is kept."""

    async def prepare(self, paths: Sequence[str], process: str = "") -> bool:
        self.asked.append((tuple(paths), process))
        if self.says_no:
            raise WindowRefused("a person refused: unsaved are f")
        return self.reviews

    async def review(self, changes: Sequence[EditorReview]) -> Mapping[str, str]:
        self.shown.append(tuple(changes))
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return {each.path: self.drops[each.path] for each in changes if each.path in self.drops}

    def edit(self, edits: Sequence[EditorEdit]) -> Mapping[str, SavedFile]:
        if self.refuses:
            raise StaleFile("the editor could not edit 'f'")
        for edit in edits:
            now = self._shown(edit.real)
            if (None if now is None else Unsaved(now).sha256) != edit.before:
                raise StaleFile(f"{edit.path!r} was changed meanwhile; nothing landed")
        done: dict[str, SavedFile] = {}
        for edit in edits:
            if edit.path == self.forgets:
                done[edit.real] = SavedFile(data=edit.after, by_editor=True)
                continue
            file = Path(edit.real)
            self.open.pop(edit.real, None)
            self.edits.append(edit.path)
            data = edit.after + b"\n" if self.formats else edit.after
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            done[edit.real] = SavedFile(data=data, by_editor=not edit.path.endswith(".bin"))
        return done

    def _shown(self, real: str) -> bytes | None:
        held = self.open.get(real)
        file = Path(real)
        return held if held is not None or not file.exists() else file.read_bytes()
