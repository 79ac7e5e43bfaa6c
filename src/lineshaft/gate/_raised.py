"""Errors that tools and middleware raise, as text, and out of the groups that tasks make."""

from collections.abc import Iterator
from typing import cast

_MEMBERS = 5
"""Errors of a group that are told."""


def described(error: BaseException) -> str:
    """Return an error as text: its type, its message, its notes, and the members of a group."""
    kind, text = type(error).__name__, _text(error)
    parts = [f"{kind}: {text}" if text else kind]
    if isinstance(error, BaseExceptionGroup):
        members = list(_members(cast("BaseException", error)))
        told = [described(member) for member in members[:_MEMBERS]]
        if len(members) > len(told):
            told.append(f"and {len(members) - len(told)} more")
        parts.append(f"({'; '.join(told)})")
    return " ".join((*parts, *map(str, getattr(cast("object", error), "__notes__", ()))))


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:  # noqa: BLE001  the tool's own `__str__`
        return f"(its text cannot be had: {type(broken).__name__})"


def only_one(error: BaseException) -> BaseException:
    """Return the one error of which a group is made; the error itself where it is no such group."""
    members = list(_members(error))
    return members[0] if len(members) == 1 else error


def _members(error: BaseException) -> Iterator[BaseException]:
    """Iterate over the errors of a group and of the groups in it; one that is no group is alone."""
    if isinstance(error, BaseExceptionGroup):
        for each in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _members(each)
    else:
        yield error
