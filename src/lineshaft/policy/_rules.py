"""A rule: what it says of which calls, and whether it matches one.

A condition is a field of `Rule`, and what `Matcher` makes of it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import TypeVar, cast, get_args

from lineshaft.errors import ConfigError
from lineshaft.policy._numbers import number_in, spellings
from lineshaft.policy._patterns import path_glob, text_glob
from lineshaft.policy._places import climbs, spellings_of_place
from lineshaft.policy._spellings import composed, folded, is_plain, plainly, with_folded
from lineshaft.policy._subject import Subject
from lineshaft.values import Effect, Origin, ToolSpec, Verdict, VerdictKind

Compiled = re.Pattern[str] | None
Condition = Callable[[Subject, str | None], bool]
"""Asked about a call, and about one of its paths with a `/` after it; None where it has none."""

Patterns = str | list[str] | tuple[str, ...]
"""One pattern or several, of which one must match; a rule keeps a list as a tuple."""

VERDICTS: tuple[VerdictKind, ...] = get_args(VerdictKind)
EFFECTS: tuple[Effect, ...] = get_args(Effect)
ORIGINS: tuple[Origin, ...] = get_args(Origin)

T = TypeVar("T")

_PATTERNS = ("tool", "effect", "namespace", "origin", "path", "command")
"""The fields that are one text or several."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}(:[A-Za-z0-9][A-Za-z0-9._-]{0,63})*")


@dataclass(frozen=True, slots=True)
class Rule:
    """A verdict for the calls that match everything the rule names.

    A rule that names nothing matches every call. Patterns of rules that ask, deny or stop ignore
    case and cover what lies below a matching folder; those of rules that allow do neither: in
    doubt the stricter reading holds.

    Raises:
        ConfigError: A field has a value that it cannot have, or a pattern is malformed.
    """

    id: str
    """Names the rule in verdicts, records and approvals."""

    verdict: VerdictKind
    """What it says of a call that it matches."""

    tool: Patterns | None = None
    """Globs over canonical tool names (`github.*`)."""

    effect: Effect | list[Effect] | tuple[Effect, ...] | None = None
    """The effects that it matches; None: any."""

    namespace: Patterns | None = None
    """Globs over the tool's namespace; an empty string for tools without one."""

    origin: Origin | list[Origin] | tuple[Origin, ...] | None = None
    """The ways in that it matches; None: any."""

    path: Patterns | None = None
    """Globs over workspace paths (`secrets/**`, `*.pem`); a call without paths does not match."""

    command: Patterns | None = None
    """Globs over the command line (`git push *`)."""

    arguments: Mapping[str, Patterns] = field(default_factory=dict[str, Patterns])
    """Globs over arguments by name; `a.b` is the key `b` inside the argument `a`."""

    reason: str = ""
    """Shown to the caller."""

    source: str = field(default="", compare=False)
    """Its place, as `FILE:LINE`; `FILE` where the line is not known."""

    def __post_init__(self) -> None:
        """Refuse values that are certainly wrong."""
        given = cast("object", self.id)
        if not isinstance(given, str) or not _ID.fullmatch(given):
            raise ConfigError(
                f"the rule id {given!r} is not a name; use letters, digits, '.', '_' and '-'"
            )
        self._take_texts()
        for name, value, allowed in (
            ("verdict", self.verdict, VERDICTS),
            *(("effect", effect, EFFECTS) for effect in several(self.effect)),
            *(("origin", origin, ORIGINS) for origin in several(self.origin)),
        ):
            if value not in allowed:
                raise ConfigError(
                    f"rule {self.id!r}: {name} {value!r} is unknown; use {', '.join(allowed)}"
                )
        self._check_patterns()

    def _take_texts(self) -> None:
        """Keep each list as a tuple, and refuse what is no text."""
        for name in ("reason", "source"):
            if not isinstance(given := getattr(self, name), str):
                raise ConfigError(f"rule {self.id!r}: {name}: {kind(given)} given; use a string")
        for name in _PATTERNS:
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, self._taken(name, given))
        given = cast("object", self.arguments)
        if not isinstance(given, Mapping):
            raise ConfigError(
                f"rule {self.id!r}: arguments: {kind(given)} given; use a dict of patterns by name"
            )
        arguments = cast("Mapping[object, object]", given)
        for name in arguments:
            if not isinstance(name, str):
                raise ConfigError(
                    f"rule {self.id!r}: arguments: the name {kind(name)} given; use a string"
                )
        taken = {name: self._taken(f"arguments.{name}", arguments[name]) for name in arguments}
        if taken != arguments:
            object.__setattr__(self, "arguments", taken)

    def _taken(self, name: str, given: object) -> str | tuple[str, ...]:
        """Return one text or several as the rule keeps them."""
        if isinstance(given, str):
            return given
        if not isinstance(given, list | tuple):
            raise ConfigError(
                f"rule {self.id!r}: {name}: {kind(given)} given; use a string or a list of strings"
            )
        texts: list[str] = []
        for at, text in enumerate(cast("Sequence[object]", given)):
            if not isinstance(text, str):
                told = f"{name}[{at}]: {kind(text)} given; use a string"
                raise ConfigError(f"rule {self.id!r}: {told}")
            texts.append(text)
        if not texts:
            text = f"rule {self.id!r}: {name} is empty; leave it out to match any {name}"
            raise ConfigError(text)
        return tuple(texts)

    def _check_patterns(self) -> None:
        patterns = {"tool": self.tool, "command": self.command, "path": self.path}
        for name, given in patterns.items():
            if given is not None and not (given and all(several(given))):
                raise ConfigError(
                    f"rule {self.id!r}: {name} is empty; leave it out to match any {name}"
                )
        texts = (self.tool, self.namespace, self.command, *self.arguments.values())
        try:
            for pattern in several(self.path):
                path_glob(pattern)
            for text in texts:
                for pattern in several(text):
                    text_glob(pattern)
        except ConfigError as error:
            raise ConfigError(f"rule {self.id!r}: {error.message}") from None


def kind(value: object) -> str:
    """Return a wrong value and its type, as messages name them."""
    return f"{value!r} ({type(value).__name__})"


def several(value: T | list[T] | tuple[T, ...] | None) -> tuple[T, ...]:
    """Return one value or several, or none, as a tuple."""
    if isinstance(value, list | tuple):
        return tuple(cast("Sequence[T]", value))
    return () if value is None else (value,)


def _folder(pattern: str) -> str:
    """Return the pattern of the folder below which a pattern matches; itself where it is none."""
    return pattern.removesuffix("/**").removesuffix("/*") or pattern


def _where(text: str) -> tuple[str, ...]:
    """Return where a text with dots leads: its last spelling, which keeps a query."""
    return spellings_of_place(text)[-1:]


def _spellings(path: str) -> tuple[str, ...]:
    """Return the ways to read a path that a rule may forbid; a `/` is after it."""
    if is_plain(path):
        return (path,)
    text = composed(path)
    texts = (text, folded(text)) if folded(text) != text else (text,)
    return tuple(spelling for each in texts for spelling in (each, plainly(each)))


class Matcher:
    """One rule, ready to be asked about many calls."""

    __slots__ = (
        "above",
        "conditions",
        "effects",
        "names_path",
        "namespace",
        "origins",
        "path",
        "strict",
        "tool",
        "verdict",
    )

    def __init__(self, rule: Rule) -> None:
        self.verdict = Verdict(
            kind=rule.verdict, rule=rule.id, reason=rule.reason, source=rule.source
        )
        self.strict = rule.verdict != "allow"
        self.tool = self._texts(rule.tool)
        self.namespace = self._texts(rule.namespace)
        self.effects = frozenset(several(rule.effect)) or None
        self.origins = frozenset(several(rule.origin)) or None
        globs = [path_glob(pattern, short=self.strict) for pattern in several(rule.path)]
        self.path = self._compiled(glob.below if self.strict else glob.exact for glob in globs)
        self.above = self._compiled(glob.above for glob in globs if self.strict and glob.above)
        self.names_path = self._compiled(
            glob.exact for glob in globs if not self.strict and glob.names_a_file
        )
        self.conditions = tuple(self._conditions(rule))
        """What has to hold of a call beside its tool and its origin."""

    def _conditions(self, rule: Rule) -> Iterator[Condition]:
        """Yield the conditions that a rule sets; each is asked in this order."""
        if rule.path is not None:
            yield self._covers
        if rule.command is not None:
            yield partial(self._runs, self._texts(rule.command))
        for name, given in rule.arguments.items():
            numbers = frozenset(map(number_in, several(given))) - {None}
            folders = self._texts(tuple(_folder(pattern) for pattern in several(given)))
            yield partial(self._has, name, (self._texts(given), folders), numbers)

    def _texts(self, patterns: Patterns | None) -> Compiled:
        return self._compiled(text_glob(pattern) for pattern in several(patterns))

    def _compiled(self, expressions: Iterable[str]) -> Compiled:
        given = list(expressions)
        if self.strict:
            given = [with_folded(composed(expression)) for expression in given]
        joined = "|".join(f"(?:{expression})" for expression in given)
        flags = re.DOTALL | (re.IGNORECASE if self.strict else 0)
        return re.compile(joined, flags) if joined else None

    def matches(self, subject: Subject, path: str | None) -> bool:
        """Return whether the rule matches a call, looked at for one of its paths.

        Args:
            subject: The call.
            path: One of its paths with a `/` after it; None where it has none.
        """
        if subject.spec is None or not self.is_about(subject.spec, subject.origins):
            return False
        for holds in self.conditions:  # noqa: SIM110  a generator takes longer, and a walk asks often
            if not holds(subject, path):
                return False
        return True

    def is_about(self, spec: ToolSpec, origins: Iterable[Origin]) -> bool:
        """Return whether the rule matches calls of a tool, for some arguments.

        Args:
            spec: The tool.
            origins: The way in of the call, and those of the container calls around it.
        """
        return (
            (self.origins is None or not self.origins.isdisjoint(origins))
            and (self.effects is None or spec.effect in self.effects)
            and (self.tool is None or any(map(self.tool.fullmatch, self._names(spec))))
            and (self.namespace is None or self.namespace.fullmatch(spec.namespace) is not None)
        )

    def _names(self, spec: ToolSpec) -> tuple[str, ...]:
        """Return what a tool is called; to forbid, what its server calls it counts, too."""
        own = self.strict and spec.own_name
        return (spec.name, f"{spec.namespace}.{spec.own_name}") if own else (spec.name,)

    @property
    def is_conditional(self) -> bool:
        """Whether more than the tool and the origin decide."""
        return bool(self.conditions)

    def names(self, path: str) -> bool:
        """Return whether an allowing rule is about this very file, not just about anything."""
        return self.names_path is not None and self.names_path.fullmatch(path) is not None

    def _covers(self, subject: Subject, path: str | None) -> bool:
        entries = bool(subject.spec and subject.spec.entries)
        return path is not None and self.covers(path, entries=entries)

    def covers(self, path: str, *, entries: bool = False) -> bool:
        """Return whether the rule's path patterns match a path.

        Args:
            path: With a `/` after it.
            entries: Whether the call takes along what lies in a folder.
        """
        above = self.above if entries else None
        for spelled in _spellings(path) if self.strict else (path,):
            if self.path is not None and self.path.fullmatch(spelled):
                return True
            # A folder that is moved or deleted takes along what lies in it.
            if above is not None and above.fullmatch(spelled):
                return True
        return False

    def _runs(self, pattern: Compiled, subject: Subject, _: str | None) -> bool:
        lines = subject.command_lines
        return self._any_or_all(pattern, lines if self.strict else lines[:1])

    def _has(
        self,
        name: str,
        patterns: tuple[Compiled, Compiled],
        numbers: frozenset[Decimal | None],
        subject: Subject,
        _: str | None,
    ) -> bool:
        (pattern, folders), texts = patterns, subject.argument(name)
        if not self.strict:
            climbing = [place for text in texts if climbs(text) for place in _where(text)]
            return self._any_or_all(pattern, [*texts, *climbing])
        found = subject.numbers(name)
        if not numbers.isdisjoint(found):
            return True
        places = [place for text in texts for place in spellings_of_place(text)]
        others = [text for number in found for text in spellings(number)]
        return self._any_or_all(pattern, (*texts, *others, *places)) or self._any_or_all(
            folders, places
        )

    def _any_or_all(self, pattern: Compiled, texts: Iterable[str]) -> bool:
        """To forbid, one value is enough; to allow, every one must match."""
        if self.strict:
            texts = map(composed, texts)
        found = [pattern is not None and pattern.fullmatch(text) is not None for text in texts]
        return any(found) if self.strict else bool(found) and all(found)
