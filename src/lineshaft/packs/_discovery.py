"""Discovery of packs in the metadata of installed distributions."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lineshaft.errors import ConfigError

if TYPE_CHECKING:
    from importlib import metadata

GROUP = "lineshaft.packs"
"""The group of entry points under which distributions offer packs."""

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_VALUE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPack:
    """A pack that a distribution offers; nothing of it is imported."""

    name: str
    """What configuration and command line call it: `azure-sdk`."""

    value: str
    """The place of the pack: `module:attribute`."""

    distribution: str
    """The name of its distribution."""

    version: str
    """The version of its distribution."""

    problem: str = ""
    """Why it cannot be loaded, as far as its metadata tells; empty where nothing speaks against
    it."""

    point: "metadata.EntryPoint | None" = field(default=None, repr=False, compare=False)

    @property
    def module(self) -> str:
        """The module that has the pack."""
        return self.value.partition(":")[0]


def discover(*, path: Iterable[str] | None = None) -> tuple[FoundPack, ...]:
    """Return the packs that installed distributions offer, by name.

    Only metadata is read. A pack that cannot be loaded is among them, with the reason.

    Args:
        path: Folders to look into; None: where Python finds its modules.
    """
    from importlib import metadata  # noqa: PLC0415  slow, and few commands look for packs

    if path is None:
        points = metadata.entry_points(group=GROUP)
    else:
        found = metadata.distributions(path=list(path))
        points = [p for each in found for p in each.entry_points if p.group == GROUP]
    packs = [_found(point) for point in points]
    homes: dict[str, list[str]] = {}
    for pack in packs:
        homes.setdefault(pack.name, []).append(pack.distribution)
    told = [_not_alone(pack, homes[pack.name]) for pack in packs]
    return tuple(sorted(told, key=lambda pack: (pack.name, pack.distribution)))


def find_pack(name: str) -> FoundPack:
    """Return the pack of a name; nothing of it is imported.

    Raises:
        ConfigError: No installed distribution offers it, or its metadata are broken.
    """
    offered = discover()
    for pack in offered:
        if pack.name == name:
            if pack.problem:
                raise broken(pack, pack.problem)
            return pack
    names = ", ".join(pack.name for pack in offered)
    raise ConfigError(
        f"there is no pack {name!r}: no installed distribution offers it",
        hint=f"installed: {names}" if names else "pip install the distribution that brings it",
    )


def broken(pack: FoundPack, problem: str) -> ConfigError:
    """Return the error for a pack that cannot be used."""
    return ConfigError(
        f"the pack {pack.name!r} of {pack.distribution} {pack.version} {problem}",
        hint=f"update or uninstall {pack.distribution}; everything else works without it",
    )


def _found(point: "metadata.EntryPoint") -> FoundPack:
    home = point.dist
    problem = ""
    if not _NAME.fullmatch(point.name):
        problem = "has a malformed name: small letters, digits and single dashes"
    elif not _VALUE.fullmatch(point.value):
        problem = f"has no place in its metadata: {point.value!r} is not module:attribute"
    return FoundPack(
        name=point.name,
        value=point.value,
        distribution=home.name if home is not None else "an unknown distribution",
        version=home.version if home is not None else "",
        problem=problem,
        point=point,
    )


def _not_alone(pack: FoundPack, homes: list[str]) -> FoundPack:
    if len(homes) == 1 or pack.problem:
        return pack
    return FoundPack(
        name=pack.name,
        value=pack.value,
        distribution=pack.distribution,
        version=pack.version,
        problem=f"is offered by several distributions: {', '.join(sorted(homes))}",
        point=pack.point,
    )
