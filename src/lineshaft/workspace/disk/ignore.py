"""Rules of `.gitignore` files, those of the folders above included."""

import re
from typing import TYPE_CHECKING

from lineshaft.errors import WorkspaceError
from lineshaft.values import Struct
from lineshaft.workspace.disk.mounts import Place
from lineshaft.workspace.disk.tree import DISK, Files

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_MOST_LINES = 5_000
_MOST_CHARACTERS = 200_000
"""Of one file of rules, as far as it is looked at: each rule is compiled."""

_STAR = "[^/]*"
_FOLDERS = "(?:/.+)?"
"""What `*` and an inner `**` are in the expressions that pathspec makes."""

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

        rules = text.decode("utf-8-sig", "replace")
        if len(rules) > _MOST_CHARACTERS:
            rules = rules[:_MOST_CHARACTERS].rpartition("\n")[0]
        lines = rules.splitlines()[:_MOST_LINES]
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
    """Return one rule, or None for a line that says nothing or that git would not take."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415  as above

    try:
        expression, include = GitIgnoreSpecPattern.pattern_to_regex(line)
        if expression is None:
            return None
        return GitIgnoreSpecPattern(re.compile(_linear(expression)), include)
    except (ValueError, re.error):
        return None


def _linear(expression: str) -> str:
    """Return the expression of a rule so that it takes time in proportion to a path's length.

    What stands between two stars is looked for at its first place and never tried again, which is
    right for globs; otherwise one line with many stars could hold up the host for hours.
    """
    *chunks, last = map(_without_retries, expression.split(_FOLDERS))
    if not chunks:
        return last
    first, *inner = chunks
    start = first.replace("^(?:.+/)?", "^(?:.+?/)??", 1)
    deeper = "".join(f"(?>(?:/.+?)??{chunk}(?=/))" for chunk in inner)
    return f"(?>{start}(?=/)){deeper}{_FOLDERS}{last}"


def _without_retries(chunk: str) -> str:
    first, *others = chunk.split(_STAR)
    if not others:
        return first
    middle = "".join(f"(?>{_STAR}?{part})" for part in others[:-1])
    return f"{first}{middle}{_STAR}{others[-1]}"
