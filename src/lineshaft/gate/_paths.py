"""Workspace paths in a call's arguments, and their replacement by decided ones."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import cast

Decide = Callable[[str, bool], Awaitable[str]]
"""Take a path as given and whether to follow a last symlink; return the decided one."""


async def with_paths_decided(
    arguments: Mapping[str, object],
    patterns: Iterable[tuple[str, ...]],
    *,
    entries: Iterable[tuple[str, ...]],
    decide: Decide,
) -> dict[str, object]:
    """Return the arguments with each path replaced by what it really means.

    Args:
        arguments: Validated, JSON-like; a tuple has the forms that a default may have.
        patterns: `ToolSpec.paths`.
        entries: `ToolSpec.entries`: those whose last part is not followed.
        decide: Decides one path.
    """
    not_followed = frozenset(entries)
    result: object = dict(arguments)
    for pattern in patterns:
        result = await _walk(result, pattern, follow=pattern not in not_followed, decide=decide)
    return cast("dict[str, object]", result)


async def _walk(value: object, keys: tuple[str, ...], *, follow: bool, decide: Decide) -> object:
    if isinstance(value, tuple):
        forms = cast("tuple[object, ...]", value)
        return [await _walk(form, keys, follow=follow, decide=decide) for form in forms]
    if not keys:
        return await decide(value, follow) if isinstance(value, str) else value
    key, rest = keys[0], keys[1:]
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        names = list(members) if key == "*" else [key] if key in members else []
        new = {n: await _walk(members[n], rest, follow=follow, decide=decide) for n in names}
        return {**members, **new}
    if key == "*" and isinstance(value, list):
        items = cast("list[object]", value)
        return [await _walk(item, rest, follow=follow, decide=decide) for item in items]
    return value
