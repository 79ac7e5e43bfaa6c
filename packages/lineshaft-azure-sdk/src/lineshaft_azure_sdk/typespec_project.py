"""TypeSpec projects: what a folder is, what it describes, and the repository it lies in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import cast
from urllib.parse import urlsplit

import yaml

from lineshaft.errors import ConfigError, FileMissing
from lineshaft.kit.view import origin_of

CONFIG = "tspconfig.yaml"

_RULES = "@azure-tools/typespec-azure-rulesets/resource-manager"
_FOLDER = "azure-resource-provider-folder"
_SPECIFICATION = "specification"
_SPECS = re.compile(r"(?:^|[/:])azure-rest-api-specs(?P<private>-pr)?(?:\.git)?/?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeSpecProject:
    """One project: a folder with `tspconfig.yaml`."""

    folder: Path

    @classmethod
    def at(cls, path: Path) -> "TypeSpecProject":
        """Return the project of a folder, or of a `tspconfig.yaml`.

        Raises:
            FileMissing: There is none.
        """
        if not is_project(path):
            raise FileMissing(
                f"{path.name!r} is no TypeSpec project: it has no {CONFIG}",
                hint=f"name the folder with {CONFIG}, or that file",
            )
        return cls(folder=path.parent if path.name == CONFIG else path)

    @property
    def is_management_plane(self) -> bool:
        """Whether it describes a resource provider, by what its configuration says.

        Raises:
            ConfigError: The configuration is malformed.
        """
        file = self.folder / CONFIG
        try:
            document = cast("object", yaml.safe_load(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
            raise ConfigError(f"{CONFIG} is malformed: {error}") from error
        return any(_speaks_of_management(name, value) for name, value in _pairs(document))

    @property
    def repository(self) -> Path | None:
        """The root of its specification repository: the folder around `specification`."""
        return specification_root(self.folder)

    @property
    def relative_path(self) -> str:
        """Its place in that repository with `/`: `specification/widget/Contoso.Widget`.

        Raises:
            ConfigError: It lies in no specification repository.
        """
        root = self.repository
        folder = self.folder.resolve()
        if root is None or not folder.is_relative_to(root / _SPECIFICATION):
            raise ConfigError(f"{self.folder.name!r} lies below no folder {_SPECIFICATION!r}")
        return folder.relative_to(root).as_posix()


def is_project(path: Path) -> bool:
    """Return whether a path is a project's folder, or its `tspconfig.yaml`."""
    return path.is_file() if path.name == CONFIG else (path / CONFIG).is_file()


def specification_root(path: Path) -> Path | None:
    """Return the root of the specification repository around a path; None where there is none."""
    for folder in (real := path.resolve(), *real.parents):
        if (folder / _SPECIFICATION).is_dir():
            return folder
    return None


def is_specification_repository(repository: Path) -> bool:
    """Return whether the `origin` of a repository is that of specifications, public or not."""
    return _SPECS.search(origin_of(repository)) is not None


def is_public_specification_repository(repository: Path) -> bool:
    """Return whether the `origin` of a repository is that of public specifications."""
    found = _SPECS.search(origin_of(repository))
    return found is not None and found["private"] is None


def is_management_plane_address(url: str) -> bool:
    """Return whether the address of a project speaks of a resource provider.

    Raises:
        ConfigError: It is no address of the web.
    """
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ConfigError(f"{url!r} is no address of the web: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(f"{url!r} is no address of the web")
    names = PurePosixPath(parts.path).parts
    return any(name == "resource-manager" or name.endswith(".Management") for name in names)


def _speaks_of_management(name: str, value: object) -> bool:
    if name == "extends":
        return value == _RULES
    if isinstance(value, dict):
        value = cast("dict[str, object]", value).get("default")
    return name == _FOLDER and isinstance(value, str) and _folder(value) == "resource-manager"


def _folder(text: str) -> str:
    return PurePosixPath(text.rstrip("/")).as_posix().removeprefix("./")


def _pairs(document: object) -> Iterator[tuple[str, object]]:
    """Yield all keys with their values, however deep; items of a list under the list's key.

    A value that stands in many places by an alias, its own inside too, is looked into once a key.
    """
    waiting: list[tuple[str, object]] = [("", document)]
    seen: set[tuple[str, int]] = set()
    while waiting:
        name, value = waiting.pop()
        place = (name, id(value))
        if not isinstance(value, dict | list) or place in seen:
            continue
        seen.add(place)
        if isinstance(value, dict):
            table = cast("dict[object, object]", value)
            pairs = [(str(key), inner) for key, inner in table.items()]
        else:
            pairs = [(name, inner) for inner in cast("list[object]", value)]
        yield from pairs
        waiting += pairs
