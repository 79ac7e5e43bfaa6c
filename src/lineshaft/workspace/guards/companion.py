"""A rule for changes that belong together: a changed source file needs a changed test."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from lineshaft.errors import ConfigError
from lineshaft.values import Change, Finding, Stage, Struct
from lineshaft.workspace.guards.contents import Level, check_level

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

Globs = str | tuple[str, ...]
"""One pattern or several, as in `.gitignore`."""


class Companion(Struct, frozen=True, kw_only=True):
    """A guard for pairs of files: where one changes, the other has to change in the same run.

    Raises:
        ConfigError: A pattern is empty, or the level is none.
    """

    changed: Globs
    """Files that need a companion once they are created or changed: `src/**/*.py`."""

    needs: Globs
    """Pattern of the files of which one has to change: `tests/**`; `{stem}` is the file's name
    without its ending."""

    level: Level = "error"

    def __post_init__(self) -> None:
        """Refuse patterns and levels that are certainly wrong."""
        check_level(self.name, self.level)
        for field, globs in (("changed", self.changed), ("needs", self.needs)):
            if not _several(globs) or not all(glob.strip() for glob in _several(globs)):
                raise ConfigError(f"the guard 'companion': {field} is empty; give a glob")

    @property
    def name(self) -> str:
        """Name in messages."""
        return "companion"

    async def __call__(self, changes: Sequence[Change], stage: Stage) -> Sequence[Finding]:
        """Return the changed files whose companion has not changed."""
        if self.level == "off":
            return []
        source = _spec(_several(self.changed))
        needy = [c.path for c in changes if c.kind != "deleted" and source.match_file(c.path)]
        if not needy:
            return []
        run = {*changes, *await stage.changes()}
        there = {change.path for change in run if change.kind != "deleted"}
        found: list[Finding] = []
        for path in needy:
            globs = self._globs(path)
            spec = _spec(globs)
            if not any(spec.match_file(other) for other in there - {path}):
                found.append(self._finding(path, globs))
        return found

    def _globs(self, path: str) -> tuple[str, ...]:
        stem = "".join(f"\\{c}" if c in "*?[]!\\#" else c for c in PurePosixPath(path).stem)
        return tuple(glob.replace("{stem}", stem) for glob in _several(self.needs))

    def _finding(self, path: str, globs: tuple[str, ...]) -> Finding:
        return Finding(
            code=self.name,
            message=f"it changed, and nothing that matches {' or '.join(map(repr, globs))} did",
            level="error" if self.level == "error" else "warning",
            path=path,
            hint="change a file that matches in the same run",
        )


def _several(globs: Globs) -> tuple[str, ...]:
    return (globs,) if isinstance(globs, str) else globs


def _spec(globs: tuple[str, ...]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec  # noqa: PLC0415  not needed to start

    return GitIgnoreSpec.from_lines(globs, backend="simple")
