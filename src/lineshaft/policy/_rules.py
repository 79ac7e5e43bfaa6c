"""A rule: what it matches, and what it says."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast, get_args

from lineshaft.errors import ConfigError
from lineshaft.policy._patterns import path_glob, text_glob
from lineshaft.values import Effect, Origin, VerdictKind

Patterns = str | tuple[str, ...]
"""One pattern or several, of which one must match."""

VERDICTS: tuple[VerdictKind, ...] = get_args(VerdictKind)
EFFECTS: tuple[Effect, ...] = get_args(Effect)
ORIGINS: tuple[Origin, ...] = get_args(Origin)

T = TypeVar("T")

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
    tool: Patterns | None = None
    """Globs over canonical tool names (`github.*`)."""

    effect: Effect | tuple[Effect, ...] | None = None
    namespace: Patterns | None = None
    """Globs over the tool's namespace; an empty string for tools without one."""

    origin: Origin | tuple[Origin, ...] | None = None
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
        if not _ID.fullmatch(self.id):
            raise ConfigError(
                f"the rule id {self.id!r} is not a name; use letters, digits, '.', '_' and '-'"
            )
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


def several(value: T | tuple[T, ...] | None) -> tuple[T, ...]:
    """Return one value or several, or none, as a tuple."""
    if isinstance(value, tuple):
        return cast("tuple[T, ...]", value)
    return () if value is None else (value,)
