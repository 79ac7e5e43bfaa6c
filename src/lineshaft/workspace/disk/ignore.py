"""Rules of `.gitignore` files, those of the folders above included."""

from typing import TYPE_CHECKING

from lineshaft.errors import WorkspaceError
from lineshaft.values import Struct
from lineshaft.workspace.disk.mounts import Place
from lineshaft.workspace.disk.tree import DISK, Files

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_MOST_STARS = 3
_MOST_LINES = 5_000

Parts = tuple[str, ...]


class Ignore(Struct, frozen=True):
    """The rules that hold in one folder, the nearest first."""

    rules: "tuple[tuple[int, GitIgnoreSpec], ...]" = ()
    """The depth of each file of rules, and its rules."""

    files: Files = DISK
    """The reader of the files."""

    def hides(self, parts: Parts, *, folder: bool) -> bool:
        """Whether an entry is left out.

        Args:
            parts: Its path, from the mount.
            folder: Whether it is a folder.
        """
        if parts[-1] == ".git":
            return True
        for depth, spec in self.rules:
            name = "/".join(parts[depth:]) + ("/" if folder else "")
            said = spec.check_file(name).include
            if said is not None:
                return said
        return False

    def within(self, folder: Place) -> "Ignore":
        """Return the rules that hold in a folder below, its own file read."""
        try:
            text = self.files.read(
                Place(folder.root, (*folder.parts, ".gitignore"), writable=False)
            )
        except WorkspaceError:
            return self  # none, or none that can be read: a pipe, a link, a folder
        return self.with_text(text, len(folder.parts))

    def with_text(self, text: bytes, depth: int) -> "Ignore":
        """Return these rules and those of a `.gitignore` file.

        Args:
            text: The file's content.
            depth: How many folders lie above it, from the mount.
        """
        from pathspec import GitIgnoreSpec  # noqa: PLC0415  not needed to start

        lines = text.decode("utf-8-sig", "replace").splitlines()[:_MOST_LINES]
        spec = GitIgnoreSpec(
            [pattern for line in lines if (pattern := _pattern(line)) is not None],
            backend="simple",
        )
        return Ignore(((depth, spec), *self.rules), self.files)

    @classmethod
    def at(cls, folder: Place, files: Files = DISK) -> "Ignore":
        """Return the rules that hold in a folder, those of the folders above included.

        A folder that is itself ignored was asked for by name: rules from above end there.
        """
        rules = cls(files=files)
        for depth in range(len(folder.parts)):
            above = Place(folder.root, folder.parts[:depth], folder.writable)
            rules = rules.within(above)
            if rules.hides(folder.parts[: depth + 1], folder=True):
                rules = cls(files=files)
        return rules.within(folder)


def _pattern(line: str) -> "GitIgnoreSpecPattern | None":
    """Return one rule, or None for a line that git would not take or that takes too long.

    Matching backtracks: with many stars in a row one line could hold up the host for hours.
    """
    stars = max(part.count("*") for part in line.split("/"))
    if stars > _MOST_STARS or line.count("**") > _MOST_STARS:
        return None
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415  as above

    try:
        return GitIgnoreSpecPattern(line)
    except ValueError:
        return None
