"""One search through many files, its time bounded."""

import os
import sys
import threading
import time
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from anyio import get_cancelled_exc_class, to_thread

from lineshaft.errors import FileMissing, ToolError
from lineshaft.kit._bounds import Bound
from lineshaft.kit._failures import invalid
from lineshaft.kit._results import Match
from lineshaft.values import Content, Context, beginning, decoded_text, is_costly

if TYPE_CHECKING:
    import regex

DIRECT_MATCHES = 50
SECONDS = 5.0
"""That matching may take, over all files."""

_LONGEST_PATTERN = 1_000
_LONGEST_LINE = 2_000
_BATCH_FILES = 64


class _Turns:
    """Two searches match at a time, of all sessions: what a match remembers may be a gigabyte.

    A search that was given up counts until its time is over.
    """

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Forget threads that were left behind in the process that this one was forked from."""
        self.free = threading.BoundedSemaphore(2)


_TURNS = _Turns()

if sys.platform != "win32":
    os.register_at_fork(after_in_child=_TURNS.renew)


class Search:
    """A regular expression, and the lines that it matched so far.

    Args:
        call: The call that searches.
        pattern: The expression.
        context: Lines before and after each match.
        ignore_case: Whether upper and lower case are the same.

    Raises:
        ToolError: The expression is none.
    """

    def __init__(self, call: Context, pattern: str, *, context: int, ignore_case: bool) -> None:
        self.matches: list[Match] = []
        self.unreadable: list[str] = []
        self._workspace = call.workspace
        self._line = None if call.whole else _LONGEST_LINE
        self._secrets = call.secrets
        self._bound = Bound(
            call, direct=DIRECT_MATCHES, hint="Search a folder further down, or for less."
        )
        self._pattern = _compiled(pattern, ignore_case=ignore_case)
        self._context = context
        self._seconds = SECONDS
        self._given_up = False

    @property
    def truncated(self) -> bool:
        """Whether matches were left out."""
        return self._bound.cut

    async def run(self, path: str) -> None:
        """Search a file, or all files below a folder that are not ignored."""
        workspace = self._workspace
        found = await workspace.stat(path)
        resolved = (await workspace.resolve(path)).path
        if found.kind != "folder":
            content = await workspace.read(path)
            await self._look([(resolved, content.data)])
            return
        batch: list[str] = []
        async for entry in workspace.walk(path):
            if entry.closed or (entry.kind == "other" and not entry.symlink):
                # For `other`: a name that is no text, a pipe, a device.
                self.unreadable.append(entry.path)
            if entry.kind != "file" or entry.symlink:
                continue  # what a link in the workspace leads to is found where it is
            batch.append(entry.path)
            if len(batch) == _BATCH_FILES:
                await self._look_into(batch)
                batch = []
            if self.truncated:
                return
        await self._look_into(batch)

    async def _look_into(self, paths: Sequence[str]) -> None:
        """Search files, but for those that are gone by now or cannot be read."""
        while paths and not self.truncated:
            contents = await self._workspace.read_many(paths)
            readable: list[tuple[str, bytes]] = []
            for path, found in zip(paths, contents, strict=False):
                if isinstance(found, Content):
                    readable.append((path, found.data))
                elif not isinstance(found, FileMissing):
                    self.unreadable.append(path)
            await self._look(readable)
            paths = paths[len(contents) :]

    async def _look(self, files: list[tuple[str, bytes]]) -> None:
        """Search some files in a thread; matching gives the other threads their turn."""
        try:
            await to_thread.run_sync(self._search, files, abandon_on_cancel=True)
        except get_cancelled_exc_class():
            self._given_up = True
            raise

    def _search(self, files: list[tuple[str, bytes]]) -> None:
        with _TURNS.free:
            for path, data in files:
                if self.truncated or self._given_up:
                    return
                text = decoded_text(data)
                if text is not None:
                    self._search_text(path, text.text.replace("\r\n", "\n"))

    def _search_text(self, path: str, text: str) -> None:
        began = time.monotonic()
        lines: list[str] = []
        starts: list[int] = []
        last = -1
        try:
            for match in self._pattern.finditer(text, timeout=max(self._seconds, 0.001)):
                if not lines:
                    lines = text.split("\n")
                    starts = [0, *accumulate(len(line) + 1 for line in lines)]
                number = bisect_right(starts, match.start()) - 1
                if number == last or (number == len(lines) - 1 and not lines[number]):
                    continue
                found = self._match(path, lines, number)
                if not self._bound.takes([path, found["text"], *found["before"], *found["after"]]):
                    return
                last = number
                self.matches.append(found)
        except TimeoutError as error:
            raise ToolError(
                "E_TOOL_TIMEOUT",
                f"the pattern {self._pattern.pattern!r} took more than {SECONDS:g} s; "
                f"it was matched against {path!r}",
                hint="Make it simpler: repetitions inside repetitions take long.",
            ) from error
        except MemoryError as error:
            raise ToolError(
                "E_TOOL_FAILED",
                f"the pattern {self._pattern.pattern!r} needs more memory than there is for one; "
                f"it was matched against {path!r}",
                hint="Make it simpler: repetitions inside repetitions, and recursion, need much.",
            ) from error
        self._seconds -= time.monotonic() - began

    def _match(self, path: str, lines: list[str], number: int) -> Match:
        first = max(0, number - self._context)
        after = lines[number + 1 : number + 1 + self._context]
        if number + 1 + self._context >= len(lines) and after and not after[-1]:
            after.pop()  # what follows the last line break is no line
        return {
            "path": path,
            "line": number + 1,
            "text": self._shown(lines[number]),
            "before": [self._shown(line) for line in lines[first:number]],
            "after": [self._shown(line) for line in after],
        }

    def _shown(self, line: str) -> str:
        if self._line is None or len(line) <= self._line:
            return line
        head = beginning(line, self._line, secrets=self._secrets)
        return f"{head} [... {len(line) - len(head):,} characters more ...]"


def _compiled(pattern: str, *, ignore_case: bool) -> "regex.Pattern[str]":
    import regex  # noqa: PLC0415  not needed to start

    if not pattern or len(pattern) > _LONGEST_PATTERN:
        raise invalid(f"the pattern is empty or longer than {_LONGEST_PATTERN:,} characters")
    if is_costly(pattern):
        raise invalid(
            f"{beginning(pattern, 200)!r} would take too long to compile, or has (?x) or (?V1)",
            "Repeat less often, such as `a+` instead of `a{50000}`, and without nesting.",
        )
    flags = regex.MULTILINE | (regex.IGNORECASE if ignore_case else 0)
    try:
        return regex.compile(pattern, flags)
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        raise invalid(
            f"{pattern!r} is no regular expression: {error}",
            r"Escape characters with a meaning, such as `\(`.",
        ) from error
