"""Rules, compiled for matching calls."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from lineshaft.policy._patterns import path_glob, text_glob
from lineshaft.policy._rules import Patterns, Rule, several
from lineshaft.policy._spellings import composed, is_plain, plainly
from lineshaft.values import Call, Origin, ToolSpec, Verdict

Compiled = re.Pattern[str] | None


@dataclass(frozen=True)
class Facts:
    """The facts that rules look at; costly ones are worked out once, and only if needed."""

    spec: ToolSpec
    call: Call

    @cached_property
    def command_lines(self) -> tuple[str, ...]:
        """Return the command line quoted as for a shell, then two plainer readings of it."""
        command = self.call.arguments.get("command")
        if not isinstance(command, str):
            return ()
        words = _words(command, self.call.arguments.get("args"))
        program = words[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
        return (shlex.join(words), " ".join(words), " ".join([program, *words[1:]]))

    def argument(self, name: str) -> list[str]:
        """Return the plain values in an argument as text; its default where it is left out."""
        given = self.call.arguments
        if name in given:
            return list(_leaves(given[name]))
        first, *keys = name.split(".")
        if first in given:
            return list(_leaves(given[first], keys))
        properties = self.spec.input_schema.get("properties")
        schema = _items(properties).get(name)
        return list(_leaves(_items(schema)["default"])) if "default" in _items(schema) else []


def _items(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _words(command: str, args: object) -> list[str]:
    """Return the program and its arguments, as `run_command` understands them."""
    if isinstance(args, list):
        return [command, *map(str, cast("list[object]", args))]
    try:
        return shlex.split(command) or [command]
    except ValueError:
        return command.split() or [command]


def _leaves(value: object, keys: Iterable[str] = ()) -> Iterator[str]:
    """Yield the scalars, as text; lists are searched on the way of the keys.

    A stack and no recursion: nesting is the caller's and may be deep.
    """
    stack: list[tuple[object, tuple[str, ...]]] = [(value, tuple(keys))]
    while stack:
        item, path = stack.pop()
        if isinstance(item, Mapping):
            mapping = cast("Mapping[str, object]", item)
            names = path[:1] or tuple(mapping)
            found = [(mapping[name], path[1:]) for name in names if name in mapping]
        elif isinstance(item, list | tuple):
            found = [(part, path) for part in cast("list[object]", item)]
        else:
            if not path:
                yield item if isinstance(item, str) else json.dumps(item, default=str)
            continue
        stack += reversed(found)
        if not found and not path:
            yield ""


def _spellings(path: str) -> tuple[str, ...]:
    """Return the ways to read a path that a rule may forbid; a `/` is after it."""
    if is_plain(path):
        return (path,)
    text = composed(path)
    return (text, plainly(text))


class Matcher:
    """One rule, ready to be asked about many calls."""

    __slots__ = (
        "above",
        "arguments",
        "command",
        "effects",
        "names_path",
        "namespace",
        "origins",
        "path",
        "strict",
        "tool",
        "verdict",
    )

    def __init__(self, rule: Rule, *, label: str = "") -> None:
        self.verdict = Verdict(
            kind=rule.verdict, rule=label + rule.id, reason=rule.reason, source=rule.source
        )
        self.strict = rule.verdict != "allow"
        self.tool = self._texts(rule.tool)
        self.namespace = self._texts(rule.namespace)
        self.command = self._texts(rule.command)
        self.effects = frozenset(several(rule.effect)) or None
        self.origins = frozenset(several(rule.origin)) or None
        self.arguments = [(name, self._texts(given)) for name, given in rule.arguments.items()]
        globs = [path_glob(pattern, short=self.strict) for pattern in several(rule.path)]
        self.path = self._compiled(glob.below if self.strict else glob.exact for glob in globs)
        self.above = self._compiled(glob.above for glob in globs if self.strict and glob.above)
        self.names_path = self._compiled(
            glob.exact for glob in globs if not self.strict and glob.names_a_file
        )

    def _texts(self, patterns: Patterns | None) -> Compiled:
        return self._compiled(text_glob(pattern) for pattern in several(patterns))

    def _compiled(self, expressions: Iterable[str]) -> Compiled:
        joined = "|".join(f"(?:{expression})" for expression in expressions)
        if self.strict:
            joined = composed(joined)
        flags = re.DOTALL | (re.IGNORECASE if self.strict else 0)
        return re.compile(joined, flags) if joined else None

    def matches(self, facts: Facts, path: str | None) -> bool:
        """Return whether the rule matches a call, looked at for one of its paths.

        Args:
            facts: The call.
            path: One of its paths with a `/` after it; None where it has none.
        """
        return (
            self.is_about(facts.spec, facts.call.origin)
            and (self.path is None or self._covers(facts, path))
            and (self.command is None or self._commands(facts))
            and all(self._has(facts, name, pattern) for name, pattern in self.arguments)
        )

    def is_about(self, spec: ToolSpec, origin: Origin) -> bool:
        """Return whether the rule matches calls of a tool by one way in, for some arguments."""
        return (
            (self.origins is None or origin in self.origins)
            and (self.effects is None or spec.effect in self.effects)
            and (self.tool is None or self.tool.fullmatch(spec.name) is not None)
            and (self.namespace is None or self.namespace.fullmatch(spec.namespace) is not None)
        )

    @property
    def is_conditional(self) -> bool:
        """Whether the arguments of a call decide too."""
        return any((self.path, self.command, self.arguments))

    def names(self, path: str) -> bool:
        """Return whether an allowing rule is about this very file, not just about anything."""
        return self.names_path is not None and self.names_path.fullmatch(path) is not None

    def _covers(self, facts: Facts, path: str | None) -> bool:
        if path is None or self.path is None:
            return False
        above = self.above if facts.spec.entries else None
        for spelled in _spellings(path) if self.strict else (path,):
            if self.path.fullmatch(spelled):
                return True
            # A folder that is moved or deleted takes along its contents.
            if above is not None and above.fullmatch(spelled):
                return True
        return False

    def _commands(self, facts: Facts) -> bool:
        lines = facts.command_lines
        return self._any_or_all(self.command, lines if self.strict else lines[:1])

    def _has(self, facts: Facts, name: str, pattern: Compiled) -> bool:
        return self._any_or_all(pattern, facts.argument(name))

    def _any_or_all(self, pattern: Compiled, texts: Iterable[str]) -> bool:
        """To forbid, one value is enough; to allow, every one must match."""
        if self.strict:
            texts = map(composed, texts)
        found = [pattern is not None and pattern.fullmatch(text) is not None for text in texts]
        return any(found) if self.strict else bool(found) and all(found)
