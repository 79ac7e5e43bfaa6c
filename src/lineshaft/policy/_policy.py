"""A policy: a mode and rules, a user's, tightened by projects."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from lineshaft.errors import ConfigError
from lineshaft.policy._modes import MODES, Mode
from lineshaft.policy._parse import parse, parse_toml
from lineshaft.policy._rules import Matcher, Rule

_OURS = ("builtin:", "mode:", "project:", "narrowed:")


_ASKS_MODELS = Rule(
    "ask:models", "ask", effect="model", reason="in mode ask models are asked about"
)
"""Stands for mode `ask` where `read` takes its place: `read` is narrower but for models."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A mode and rules, which decide about calls.

    Raises:
        ConfigError: The mode is unknown, or two rules have one id.
    """

    mode: Mode = "auto"
    """Decides where no rule matches."""

    rules: tuple[Rule, ...] = ()
    """In order; the first that matches decides."""

    layers: "tuple[Policy, ...]" = ()
    """The policies that `tightened_by` joined: the user's policy, then projects'; empty where
    alone."""

    moved: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    """Where a project put mounts, as these rules know the folder: `@pkg` or `.` (the root), and
    the folder from where the project lies. What lies in them is judged under both names."""

    label: str = field(default="project", compare=False, repr=False)
    """Stands before the ids of its rules in verdicts, where it tightens another policy."""

    matchers: tuple[Matcher, ...] = field(init=False, repr=False, compare=False)
    """The rules, compiled."""

    def __post_init__(self) -> None:
        """Refuse contradictions, and compile the rules."""
        if self.mode not in MODES:
            raise ConfigError(f"mode {self.mode!r} is unknown; use {', '.join(MODES)}")
        seen = set[str]()
        rules = cast("object", self.rules)
        if not isinstance(rules, Iterable) or not all(
            isinstance(rule, Rule) for rule in cast("Iterable[object]", rules)
        ):
            hint = 'write Policy.from_dict({"mode": "auto", "rules": [{"id": ..., ...}]})'
            raise ConfigError("rules must be a tuple of Rule objects", hint=hint)
        for rule in self.rules:
            if rule.id in seen:
                raise ConfigError(f"two rules have the id {rule.id!r}; give each its own")
            if rule.id.startswith(_OURS):
                raise ConfigError(
                    f"the rule id {rule.id!r} is taken; start it with none of {', '.join(_OURS)}"
                )
            seen.add(rule.id)
        matchers = tuple(Matcher(rule) for rule in self.rules)
        object.__setattr__(self, "matchers", matchers)

    @classmethod
    def from_dict(
        cls, data: Mapping[str, object], *, mode: Mode = "auto", sources: Sequence[str] = ()
    ) -> "Policy":
        """Return the policy that plain data describes.

        Args:
            data: `mode`, and `rules`, a list of tables with the fields of `Rule`.
            mode: The mode where the data names none; `open` for a project's policy, so that
                silence tightens nothing.
            sources: The place of each rule, in order, for `Verdict.source`.

        Raises:
            ConfigError: A key or value in it is unknown, of the wrong type, or missing.
        """
        parsed = parse(data, sources)
        return cls(parsed.mode or mode, parsed.rules)

    @classmethod
    def from_toml(cls, text: str, *, mode: Mode = "auto", name: str = "") -> "Policy":
        """Return the policy that TOML describes: its table `[policy]`, or all of it.

        Args:
            text: The keys of `from_dict`; other tables beside `[policy]` are not looked at.
            mode: As for `from_dict`.
            name: Of the file, for `Verdict.source`.

        Raises:
            ConfigError: It is not TOML, or as for `from_dict`.
        """
        parsed = parse_toml(text, name)
        return cls(parsed.mode or mode, parsed.rules)

    @property
    def own_mode(self) -> Mode:
        """The user's mode, without those of projects."""
        return (self.layers or (self,))[0].mode

    def names_of(self, path: str) -> tuple[str, ...]:
        """Return a path, and the other name under which these rules know it, if it has one.

        Args:
            path: Canonical, with a `/` after it.
        """
        first, _, rest = path.partition("/")
        mount = first if first.startswith("@") else "."
        folder = self.moved.get(mount)
        if folder is None:
            return (path,)
        inside = rest if first == mount else path
        other = inside if folder == "." else f"{folder}/{inside}"
        return (path, f"./{other}" if not other or other.startswith("@") else other)

    def no_wider_than(self, mode: Mode) -> "Policy":
        """Return this policy, with a mode in the place of the user's where that one is wider."""
        user, *projects = self.layers or (self,)
        if MODES.index(user.mode) <= MODES.index(mode):
            return self
        rules = user.rules if user.mode != "ask" else (*user.rules, _ASKS_MODELS)
        own = replace(user, mode=mode, rules=rules)
        return own.tightened_by(replace(self, layers=tuple(projects))) if projects else own

    def tightened_by(self, project: "Policy") -> "Policy":
        """Return this policy, made stricter where a project's is stricter, and never wider.

        Every call is judged by both, each with its own rules and mode, and the stricter verdict
        holds; from wide to strict: allow, ask, deny, stop. So a project's rule that allows
        something only makes an exception from the project's own strictness.

        Args:
            project: The project's policy, or a narrower one for a container's calls; its rules
                appear as `project:ID`, or after its own label, in verdicts.

        Returns:
            A policy with the user's rules and the stricter mode, that asks both.
        """
        layers = (*(self.layers or (self,)), *(project.layers or (project,)))
        modes: list[Mode] = [layer.mode for layer in layers]
        return Policy(min(modes, key=MODES.index), self.rules, layers)
