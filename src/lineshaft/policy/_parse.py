"""Parsing of plain data into rules, with errors that name the key, the value and the choices."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, cast

from lineshaft.errors import ConfigError
from lineshaft.policy._lines import table_lines
from lineshaft.policy._modes import MODES, Mode
from lineshaft.policy._rules import Patterns, Rule, kind
from lineshaft.values import Struct, toml_table

_RULE_KEYS = tuple(field.name for field in fields(Rule) if field.name != "source")
_SINGLE = frozenset({"id", "verdict", "reason"})


class Parsed(Struct, frozen=True):
    """The contents of a policy's data."""

    mode: Mode | None
    rules: tuple[Rule, ...]


def parse(data: Mapping[str, object], sources: Sequence[str] = ()) -> Parsed:
    """Read `mode` and `rules`.

    Args:
        data: The two keys.
        sources: The place of each rule, in order; fewer where they are not known.

    Raises:
        ConfigError: A key or value is unknown, of the wrong type, or missing.
    """
    if not isinstance(cast("object", data), Mapping):
        raise ConfigError(f"policy: {kind(data)} given; use a table with `mode` and `rules`")
    _known(data, "policy", ("mode", "rules"))
    mode = data.get("mode")
    if mode is not None and mode not in MODES:
        raise ConfigError(f"policy.mode: {mode!r} is unknown; use {', '.join(MODES)}")
    rules = data.get("rules", [])
    if not isinstance(rules, list | tuple):
        raise ConfigError(f"policy.rules: {kind(rules)} given; use a list of tables")
    given = cast("list[object]", rules)
    return Parsed(
        mode,
        tuple(
            _rule(f"policy.rules[{at}]", rule, source)
            for at, (rule, source) in enumerate(
                zip(given, (*sources, *([""] * len(given))), strict=False)
            )
        ),
    )


def parse_toml(text: str, name: str) -> Parsed:
    """Read the keys of a policy from TOML, from its table `[policy]` where it has one.

    Args:
        text: TOML.
        name: Of its file, for `Rule.source`; empty where it has none.
    """
    try:
        data = toml_table(text)
    except ValueError as error:
        raise ConfigError(f"the policy is not TOML: {error}") from None
    table = data.get("policy", data)
    if not isinstance(table, dict):
        raise ConfigError(f"policy: {kind(table)} given; use a table")
    given = cast("dict[str, object]", table)
    keys = ("policy", "rules") if "policy" in data else ("rules",)
    return parse(given, rule_sources(name, text, keys, given.get("rules")))


def rule_sources(name: str, text: str, keys: tuple[str, ...], rules: object) -> tuple[str, ...]:
    """Return the place of each rule of a file: `FILE:LINE`, or `FILE` if that is not certain.

    Args:
        name: Of the file; empty where it has none.
        text: TOML that parses.
        keys: The place of the rules in it.
        rules: The rules from the parser.
    """
    if not name or not isinstance(rules, list):
        return ()
    count = len(cast("list[object]", rules))
    lines = table_lines(text, *keys)
    if len(lines) != count:
        return (name,) * count
    return tuple(f"{name}:{line}" for line in lines)


def _rule(where: str, given: object, source: str) -> Rule:
    if not isinstance(given, Mapping):
        raise ConfigError(f"{where}: {kind(given)} given; use a table with {', '.join(_RULE_KEYS)}")
    data = cast("Mapping[str, object]", given)
    _known(data, where, _RULE_KEYS)
    for key in ("id", "verdict"):
        if key not in data:
            raise ConfigError(f"{where}: {key} is missing; every rule has an id and a verdict")
    try:
        read = {key: _field(where, data, key) for key in data}
        return Rule(**cast("Any", read), source=source)  # which looks at what the words say
    except ConfigError as error:
        located = error.message if error.message.startswith(where) else f"{where}: {error.message}"
        raise ConfigError(located) from None


def _field(where: str, data: Mapping[str, object], key: str) -> object:
    """Read what a key of a rule says: texts, but for those that are a single one, or a table."""
    if key in _SINGLE:
        return _text(where, key, data[key])
    return _arguments(where, data[key]) if key == "arguments" else _patterns(where, data, key)


def _arguments(where: str, value: object) -> dict[str, Patterns]:
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{where}.arguments: {kind(value)} given; use a table of patterns by name"
        )
    given = cast("Mapping[str, object]", value)
    read = {name: _patterns(f"{where}.arguments", given, name) for name in given}
    return {name: patterns for name, patterns in read.items() if patterns is not None}


def _patterns(where: str, data: Mapping[str, object], key: str) -> Patterns | None:
    """Read one string or a list of strings; None where there is none."""
    value = data.get(key)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        parts = cast("list[object]", value)
        return tuple(_text(where, f"{key}[{at}]", part) for at, part in enumerate(parts))
    raise ConfigError(f"{where}.{key}: {kind(value)} given; use a string or a list of strings")


def _text(where: str, key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{where}.{key}: {kind(value)} given; use a string")
    return value


def _known(data: Mapping[str, object], where: str, keys: tuple[str, ...]) -> None:
    for key in data:
        if key not in keys:
            raise ConfigError(f"{where}.{key}: unknown key; use {', '.join(keys)}")
