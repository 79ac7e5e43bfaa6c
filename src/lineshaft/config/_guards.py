"""Conversion of settings to the guards that check changes before they land.

A project's file can add guards and raise their levels; it can neither take any away nor lower them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from msgspec.structs import replace

from lineshaft.config._modules import start
from lineshaft.config._settings import Module, Setting, Settings
from lineshaft.config._trust import Confirm
from lineshaft.errors import ConfigError
from lineshaft.values import Guard
from lineshaft.workspace import Companion, Level, MergeMarkers, Secrets, Syntax

GROUP = "lineshaft.guards"
"""The group of entry points under which packages offer guards."""

LIST = "GUARDS"
"""What a file of guards calls the list of them."""

_BUILT_IN: Mapping[str, Callable[[Level], Guard]] = {
    "guards.syntax": Syntax,
    "guards.merge_markers": MergeMarkers,
    "guards.secrets": Secrets,
}
_FROM_LAX: tuple[Level, ...] = ("off", "warning", "error")


def guards(
    settings: Settings,
    *,
    confirm: Confirm | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[Guard, ...]:
    """Return the guards that the settings describe, the built-in ones at their levels.

    Args:
        settings: What `read_settings` settled.
        confirm: Asks about modules of a project that are not approved; None: refused.
        environ: Variables that say where approvals are kept.

    Raises:
        ConfigError: A rule is not understood, or a module is missing, not approved, or has none.
    """
    built_in = [_BUILT_IN[name](level) for name, level in guard_levels(settings).items()]
    companions = [
        _companion(held, at, cast("dict[str, object]", table))
        for held in settings.values["guards.companion"]
        for at, table in enumerate(cast("list[object]", held.value))
    ]
    own: list[Guard] = []
    for module, attribute in _modules(settings):
        started = start(module, confirm=confirm, environ=environ)
        own += _listed(module, attribute, started)
    return (*built_in, *companions, *own)


def guard_levels(settings: Settings) -> dict[str, Level]:
    """Return the level that holds for each built-in guard, by its key."""
    return {name: _level(settings, name) for name in _BUILT_IN}


def guard_modules(settings: Settings) -> tuple[Module, ...]:
    """Return the modules that own guards come from, those of entry points too.

    Raises:
        ConfigError: There is no such entry point.
    """
    return tuple(module for module, _ in _modules(settings))


def _modules(settings: Settings) -> list[tuple[Module, str]]:
    named = [(module, LIST) for module in settings.modules_of("guards.modules")]
    return [*named, *map(_entry_point, settings.modules_of("guards.plugins"))]


def _entry_point(plugin: Module) -> tuple[Module, str]:
    from importlib import metadata  # noqa: PLC0415  slow, and rarely needed

    offered = {point.name: point for point in metadata.entry_points(group=GROUP)}
    point = offered.get(plugin.name)
    if point is None:
        raise ConfigError(
            f"{plugin.source}: {plugin.key} {plugin.name!r}: no installed package offers it",
            hint=f"offered: {', '.join(sorted(offered)) or 'none'}",
        )
    return replace(plugin, name=point.module), point.attr or LIST


def _level(settings: Settings, name: str) -> Level:
    """Return the person's level, or the project's where that is stricter."""
    held = settings.values[name]
    last = held[-1]
    if last.giver in ("environment", "flag"):
        return cast("Level", last.value)
    own = next(each for each in reversed(held) if each.giver != "project")
    project = [each for each in held if each.giver == "project"]
    levels = [cast("Level", each.value) for each in (own, *project)]
    return _FROM_LAX[max(map(_FROM_LAX.index, levels))]


def _companion(held: Setting, at: int, table: Mapping[str, object]) -> Guard:
    place = held.places[at] if at < len(held.places) else held.source
    try:
        return Companion(
            changed=_globs(table, "changed"),
            needs=_globs(table, "needs"),
            level=cast("Level", table.get("level", "error")),
        )
    except ConfigError as error:
        raise ConfigError(f"{place}: guards.companion: {error.message}", hint=error.hint) from error


def _globs(table: Mapping[str, object], name: str) -> str | tuple[str, ...]:
    unknown = set(table) - {"changed", "needs", "level"}
    if unknown:
        raise ConfigError(f"unknown key {min(unknown)!r}; use changed, needs, level")
    value = table.get(name)
    if isinstance(value, str):
        return value
    items = cast("list[object]", value) if isinstance(value, list) else []
    if items and all(isinstance(item, str) for item in items):
        return tuple(cast("list[str]", items))
    raise ConfigError(f"{name} is {value!r}; give a glob or a list of globs")


def _listed(module: Module, attribute: str, started: object) -> Sequence[Guard]:
    """Return the guards that a module offers under a name: one, or a list of them."""
    value = started
    for part in attribute.split("."):
        value = cast("object", getattr(value, part, None))
    found = list(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else [value]
    if not found or not all(callable(item) for item in found):
        raise ConfigError(
            f"{module.source}: {module.key}: the module {module.name!r} has no guards"
            f" in {attribute!r}",
            hint=f"put functions that take changes and a stage into a list {LIST}",
        )
    return cast("list[Guard]", found)
