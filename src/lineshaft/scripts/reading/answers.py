"""Validation of the answers of the guest's reader, which has read an untrusted script."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

from lineshaft.scripts.reading.hints import syntax_hint
from lineshaft.scripts.reading.prepared import Import, NewerSyntax, Prepared
from lineshaft.scripts.reading.tools import ToldTools
from lineshaft.tools import signature
from lineshaft.values import Finding

SIGNATURE = "\x01"
"""Stands in a hint for the signature of the tool that the answer names."""

KEYS = "\x02"
"""Stands in a hint before the name of a record, for its keys."""

_MOST = 1_000
_LONGEST = 2_000
"""Items of a list, and characters of a text."""

_KEYS_TOLD = 40

_Item = TypeVar("_Item")


class BadAnswer(Exception):
    """The reader's answer is not of the agreed form."""


def prepared(
    answer: Mapping[str, object], *, text: str, original: str, name: str, offered: ToldTools
) -> Prepared:
    """Return a script as the reader describes it.

    Args:
        answer: Of the reader.
        text: The script as it was read.
        original: The script as written.
        name: Its name.
        offered: The tools that it may call.

    Raises:
        BadAnswer: The answer is not of the agreed form.
    """
    broken = answer.get("syntax")
    if broken is not None:
        found = syntax_finding(broken, text, offered)
        return Prepared(
            name=name,
            original=original,
            program_source=text,
            read_text=text,
            findings=(found,),
            specs=offered.specs,
            hidden=offered.hidden,
            told=offered.told,
        )
    program = answer.get("program")
    if program is not None and (not isinstance(program, str) or _grew(program, text)):
        raise BadAnswer("program")
    uses_tools = answer.get("uses_tools") is True
    return Prepared(
        name=name,
        original=original,
        program_source=text if program is None else program,
        read_text=text,
        unawaited=findings(answer, "unawaited", offered),
        unknown=findings(answer, "unknown", offered),
        undefined=_each(answer, "undefined", lambda item: _undefined(item, offered)),
        misused=findings(answer, "misused", offered),
        tells=findings(answer, "tells", offered),
        imports=_each(answer, "imports", _import),
        newer=_each(answer, "newer", _newer),
        uses_tools=uses_tools,
        wants_types=uses_tools or answer.get("is_async") is True,
        specs=offered.specs,
        hidden=offered.hidden,
        told=offered.told,
    )


def _grew(program: str, text: str) -> bool:
    """Return whether a repaired script is longer than any repair makes it, or has other lines."""
    return len(program) > 20 * len(text) + 1_000 or program.count("\n") != text.count("\n")


def findings(answer: Mapping[str, object], name: str, offered: ToldTools) -> tuple[Finding, ...]:
    """Return the findings that an answer has under a name.

    Args:
        answer: Of the reader.
        name: The key.
        offered: The tools, whose signatures stand in hints.

    Raises:
        BadAnswer: They are not of the agreed form.
    """
    return _each(answer, name, lambda item: finding(item, offered))


def finding(item: object, offered: ToldTools) -> Finding:
    """Return one finding of an answer.

    Args:
        item: As the reader tells it.
        offered: The tools, whose signatures stand in hints.

    Raises:
        BadAnswer: It is not of the agreed form.
    """
    told = _mapping(item)
    level = told.get("level")
    if level not in ("error", "warning", "info"):
        raise BadAnswer("level")
    hint, spec = _text(told, "hint"), offered.by_name.get(_text(told, "tool"))
    if SIGNATURE in hint:
        hint = hint.replace(SIGNATURE, signature(spec)) if spec else ""
    elif hint.startswith(KEYS):
        keys = offered.keys.get(hint.removeprefix(KEYS), ())[:_KEYS_TOLD]
        hint = f"there: {', '.join(f'`{key}`' for key in keys)}" if keys else ""
    return Finding(
        code=_text(told, "code"),
        message=_text(told, "message"),
        level=level,
        line=_number(told, "line"),
        column=_number(told, "column"),
        hint=hint,
    )


def syntax_finding(item: object, text: str, offered: ToldTools) -> Finding:
    """Return the syntax error of a script.

    Args:
        item: As the reader tells it.
        text: The script as it was read.
        offered: The tools.

    Raises:
        BadAnswer: It is not of the agreed form.
    """
    told = finding(item, offered)
    lines = text.split("\n")
    line = min(told.line or 1, len(lines))
    hint = told.hint or syntax_hint(told.message, lines[line - 1].strip())
    return Finding(
        code="syntax-error",
        message=told.message,
        level="error",
        line=line,
        column=told.column,
        hint=hint,
    )


def _undefined(item: object, offered: ToldTools) -> tuple[str, Finding]:
    return _text(_mapping(item), "name"), finding(item, offered)


def _import(item: object) -> Import:
    module, line, optional, names = _row(item, 4)
    if not isinstance(module, str) or not isinstance(line, int) or not isinstance(names, list):
        raise BadAnswer("import")
    taken = cast("list[object]", names)[:_MOST]
    return Import(
        module=module[:_LONGEST],
        line=line,
        optional=optional is True,
        names=tuple(str(name)[:_LONGEST] for name in taken),
    )


def _newer(item: object) -> NewerSyntax:
    minor, line, what = _row(item, 3)
    if not isinstance(minor, int) or not isinstance(line, int) or not isinstance(what, str):
        raise BadAnswer("newer")
    return NewerSyntax(python=(3, minor), line=line, what=what[:_LONGEST])


def _each(
    answer: Mapping[str, object], name: str, take: Callable[[object], _Item]
) -> tuple[_Item, ...]:
    items = answer.get(name)
    if not isinstance(items, list):
        raise BadAnswer(name)
    return tuple(take(item) for item in cast("list[object]", items)[:_MOST])


def _row(item: object, size: int) -> Sequence[object]:
    if not isinstance(item, list) or len(cast("list[object]", item)) != size:
        raise BadAnswer("row")
    return cast("list[object]", item)


def _mapping(item: object) -> Mapping[str, object]:
    if not isinstance(item, dict):
        raise BadAnswer("finding")
    return cast("dict[str, object]", item)


def _text(told: Mapping[str, object], name: str) -> str:
    value = told.get(name, "")
    if not isinstance(value, str):
        raise BadAnswer(name)
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."


def _number(told: Mapping[str, object], name: str) -> int:
    value = told.get(name)
    if type(value) is not int or not 0 < value < 1 << 31:
        raise BadAnswer(name)
    return value
