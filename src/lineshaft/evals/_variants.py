"""Variants: the ways to solve a task that a sweep compares."""

from collections.abc import Iterable, Sequence
from itertools import product

from lineshaft.errors import ConfigError
from lineshaft.values import Struct

_VALUES: dict[str, tuple[str, ...] | None] = {
    "script": ("on", "off"),
    "engine": ("auto", "wasm", "cpython"),
    "mode": ("read", "ask", "auto", "open"),
    "prompt": ("guided", "plain"),
    "model": None,
    "direct": None,
}
"""Axes, and their values; None: any."""


class Variant(Struct, frozen=True, kw_only=True):
    """One way to solve a task."""

    name: str
    """Its axes and values, such as `script=on`."""

    script: bool = True
    engine: str = "auto"
    mode: str = ""
    """Of the policy; empty: the task's."""

    prompt: str = "guided"
    """`guided`: what the session says of its tools stands before the task; `plain`: the task."""

    model: str = ""
    """Empty: the sweep's."""

    direct: str = "all"
    """The tools that the model calls without a script: `all`, `none`, or names with `+` between."""

    @property
    def prefers_direct(self) -> bool:
        """Whether the choice of direct tools is what the variant is about."""
        return self.script and self.direct not in ("all", "none")

    def direct_of(self, names: Iterable[str]) -> list[str]:
        """Return those of a session's tools that the model calls directly."""
        if self.direct == "all":
            return list(names)
        return [] if self.direct == "none" else self.direct.split("+")


def variants_of(axes: Sequence[str]) -> tuple[Variant, ...]:
    """Return all combinations of axes.

    Args:
        axes: Such as `script=on,off`; the axes are `script`, `engine`, `mode`, `prompt`, `model`
            and `direct`.

    Raises:
        ConfigError: An axis or a value is unknown, or a combination leaves a model no tool.
    """
    read = [_axis(text) for text in axes]
    names = [name for name, _ in read]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"the axis {twice[0]!r} is given twice")
    found = tuple(
        _variant(dict(zip(names, values, strict=True)))
        for values in product(*(values for _, values in read))
    )
    for variant in found:
        if variant.direct == "none" and not variant.script:
            raise ConfigError(f"the variant {variant.name!r} leaves the model no tool")
    return found


def _axis(text: str) -> tuple[str, list[str]]:
    name, sign, rest = text.partition("=")
    values = [value.strip() for value in rest.split(",")]
    if not sign or not all(values):
        raise ConfigError(f"{text!r} is no axis", hint="such as script=on,off")
    if name not in _VALUES:
        raise ConfigError(f"there is no axis {name!r}", hint=f"there are {', '.join(_VALUES)}")
    allowed = _VALUES[name]
    for value in values:
        if allowed is not None and value not in allowed:
            raise ConfigError(f"{name} is not {value!r}", hint=f"one of {', '.join(allowed)}")
    if len(set(values)) < len(values):
        raise ConfigError(f"{text!r} has a value twice")
    return name, values


def _variant(chosen: dict[str, str]) -> Variant:
    name = " ".join(f"{axis}={value}" for axis, value in chosen.items()) or "default"
    return Variant(
        name=name,
        script=chosen.get("script", "on") == "on",
        engine=chosen.get("engine", "auto"),
        mode=chosen.get("mode", ""),
        prompt=chosen.get("prompt", "guided"),
        model=chosen.get("model", ""),
        direct=chosen.get("direct", "all"),
    )
