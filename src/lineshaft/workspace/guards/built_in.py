"""The guards that every session has, unless it says otherwise."""

from collections.abc import Sequence
from typing import ClassVar

from anyio import to_thread

from lineshaft.errors import ConfigError
from lineshaft.values import Change, Finding, Guard, Stage, Struct
from lineshaft.workspace.guards.contents import (
    ChangedFile,
    Level,
    check_level,
    content_before,
    contents,
    is_text,
)
from lineshaft.workspace.guards.languages import is_template, language_of
from lineshaft.workspace.guards.tokens import Token, tokens_in

_AT_ONCE_BYTES = 16_000
"""A file of this size is looked through sooner than a thread is there for it."""


class Syntax(Struct, frozen=True):
    """Files parse: Python as the engine `wasm` knows it, JSON, TOML, YAML, known by their names.

    Only files that are new, or parsed before, are errors; a file broken before is a warning.
    """

    name: ClassVar[str] = "syntax"
    level: Level = "error"

    def __post_init__(self) -> None:
        """Refuse a value that is no level."""
        check_level(self.name, self.level)

    async def __call__(self, changes: Sequence[Change], stage: Stage) -> Sequence[Finding]:
        """Return a finding for each file that does not parse."""
        found: list[Finding] = []
        async for file in contents(changes, stage, of=lambda path: language_of(path) is not None):
            finding = await to_thread.run_sync(self._look, file, abandon_on_cancel=True)
            found += [finding] if finding else []
        return found

    def _look(self, file: ChangedFile) -> Finding | None:
        check = language_of(file.path)
        problem = check(file.after) if check else None
        if check is None or problem is None or self.level == "off":
            return None
        broken = file.before is not None and language_of(file.was) == check and check(file.before)
        template = not file.path.endswith((".py", ".pyi", ".pyw")) and is_template(file.after)
        hint = ""
        if template:
            hint = "it may be a template"
        elif broken:
            hint = "it did not parse before this run either"
        return Finding(
            code=self.name,
            message=f"not {problem.language}: {problem.message}",
            level="warning" if hint else self.level,
            path=file.path,
            line=problem.line,
            column=problem.column,
            hint=hint,
        )


class MergeMarkers(Struct, frozen=True):
    """No merge is left half done; files that had such markers before are left alone."""

    name: ClassVar[str] = "merge-markers"
    level: Level = "error"

    def __post_init__(self) -> None:
        """Refuse a value that is no level."""
        check_level(self.name, self.level)

    async def __call__(self, changes: Sequence[Change], stage: Stage) -> Sequence[Finding]:
        """Return the lines on which conflicts begin."""
        if self.level == "off":
            return []
        found: list[Finding] = []
        async for file in contents(changes, stage, of=lambda _: True):
            line = _conflict(file.after)
            if line is None or (file.before is not None and _conflict(file.before) is not None):
                continue
            found.append(
                Finding(
                    code=self.name,
                    message="a merge conflict is left in the file",
                    level=self.level,
                    path=file.path,
                    line=line,
                )
            )
        return found


def _conflict(data: bytes) -> int | None:
    """Return the line on which the first conflict begins: all three markers, in their order."""
    if b"<<<<<<< " not in data or not is_text(data):
        return None
    begun, split = 0, False
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.startswith(b"<<<<<<< "):
            begun, split = number, False
        elif begun and line.rstrip(b"\r") == b"=======":
            split = True
        elif split and line.startswith(b">>>>>>> "):
            return begun
    return None


class Secrets(Struct, frozen=True):
    """No token of a well-known form is added, and no private key.

    A token that one of the changed files had before is not added. Not covered: secrets without a
    form of their own, and files that are not text in a superset of ASCII.
    """

    name: ClassVar[str] = "secrets"
    level: Level = "error"

    def __post_init__(self) -> None:
        """Refuse a value that is no level."""
        check_level(self.name, self.level)

    async def __call__(self, changes: Sequence[Change], stage: Stage) -> Sequence[Finding]:
        """Return the places where a token would be added; never the token itself."""
        if self.level == "off":
            return []
        added: list[tuple[Token, str]] = []
        async for file in contents(changes, stage, of=lambda _: True):
            if file.after != file.before:
                added += [(token, file.path) for token in await _tokens(file.after)]
        if not added:
            return []
        known = await self._known(changes, stage)
        return [
            Finding(
                code=self.name,
                message=f"this looks like {token.what}",
                level=self.level,
                path=path,
                line=token.line,
                column=token.column,
                hint="read it from the environment, or from a file that is not in the workspace",
            )
            for token, path in added
            if token.digest not in known
        ]

    async def _known(self, changes: Sequence[Change], stage: Stage) -> set[bytes]:
        """Return the tokens that the changed files had, deleted ones too."""
        known: set[bytes] = set()
        for path in dict.fromkeys(p for c in changes for p in (c.path, c.moved_from) if p):
            data = await content_before(stage, path)
            known |= {token.digest for token in await _tokens(data or b"")}
        return known


async def _tokens(data: bytes) -> list[Token]:
    if not data or not is_text(data):
        return []
    if len(data) <= _AT_ONCE_BYTES:
        return tokens_in(data)
    return await to_thread.run_sync(tokens_in, data, abandon_on_cancel=True)


BUILT_IN: tuple[Guard, ...] = (Syntax(), MergeMarkers(), Secrets())


def with_built_in(guards: Sequence[Guard] | None) -> tuple[Guard, ...]:
    """Return the built-in guards and the given ones, in the order in which they are asked.

    Args:
        guards: Asked after the built-in ones. One of a built-in kind takes the place of that one:
            `Syntax(level="warning")`. None: no guard at all, not even a built-in one.

    Raises:
        ConfigError: An item is no guard.
    """
    if guards is None:
        return ()
    for guard in guards:
        if not callable(guard):
            raise ConfigError(
                f"{guard!r} is no guard", hint="give a function that takes changes and a stage"
            )
    given = {type(guard) for guard in guards}
    kept = (guard for guard in BUILT_IN if type(guard) not in given)
    return tuple(guard for guard in (*kept, *guards) if not _is_off(guard))


def _is_off(guard: Guard) -> bool:
    return isinstance(guard, Syntax | MergeMarkers | Secrets) and guard.level == "off"
