"""Merging of files, variables and flags into one set of values, each with its origin.

Later wins: what is built in, the project's file, the person's own file, `LINESHAFT_*`, flags.
Policy is the exception: a project's file can only tighten the person's policy.
"""

import hashlib
import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, cast

from msgspec import field
from msgspec.structs import replace

from lineshaft.config._files import (
    SettingsFile,
    named_file,
    project_file,
    project_folder,
    read_toml,
)
from lineshaft.config._keys import (
    KEYS,
    LISTS_OF_TABLES,
    checked,
    flatten,
    from_environment,
    from_text,
    usable,
)
from lineshaft.config._places import user_file
from lineshaft.errors import ConfigError
from lineshaft.policy import built_in_verdict
from lineshaft.values import Limits, PythonOptions, Struct

Giver = Literal["default", "project", "user", "environment", "flag"]

EDITOR = "vscode:"
"""What a workspace begins with that is the window of an editor."""

_NOT_OF_RUNS = ("serve.", "store.", "eval.")
"""Keys of the command line, the front and the gate: no run goes another way for them."""

_PROJECT_PLACES = ("workspace.root", "workspace.aliases")
_OWN_PLACES = (*_PROJECT_PLACES, *(name for name in KEYS if name.startswith("store.")))
"""What says where a run worked, and where it is kept."""


class Setting(Struct, frozen=True, kw_only=True):
    """One value and where it came from."""

    value: object
    giver: Giver
    source: str
    """The file, variable or flag; `default`."""

    base: Path
    """The folder that relative paths in the value start from."""

    places: tuple[str, ...] = ()
    """Of a list of tables in a file: where each is written, as `FILE:LINE`."""


class Alias(Struct, frozen=True, kw_only=True):
    """A folder that is reached as `@NAME/...`."""

    path: Path
    writable: bool
    source: str
    """The file that names it, and its key there."""

    inside: str | None = None
    """The folder from where the project lies, where a project's file named it."""


class Module(Struct, frozen=True, kw_only=True):
    """A file or module whose tools are to be offered."""

    name: str
    """As written: a path (it ends in `.py` or has a `/`), or a dotted name."""

    base: Path
    """The folder that a path starts from."""

    source: str
    """Who named it."""

    project: Path | None = None
    """The project's file, where that named it: then a person must approve it first."""

    key: str = "tools.modules"
    """The setting that it is in."""

    by_hand: bool = False
    """Whether it was named on the command line."""


class Settings(Struct, frozen=True, kw_only=True):
    """All settings, settled."""

    values: Mapping[str, tuple[Setting, ...]]
    """Every value given to a key, by dotted key, the weakest first; never empty."""

    start: Path
    """The folder the search began in."""

    project: Path | None = None
    """The project's file, where there is one."""

    user: Path | None = None
    """The person's own file, where there is one."""

    models: Mapping[str, str] = field(default_factory=dict[str, str])
    """Models given by hand, by the name of the microagent."""

    def setting(self, name: str) -> Setting:
        """Return the value that holds for a key, with its origin."""
        return self.values[name][-1]

    @property
    def root(self) -> Path:
        """Return the workspace's folder."""
        held = self.setting("workspace.root")
        if held.giver == "default":
            return self.project.parent if self.project else self.start
        root = _below(held.base, str(held.value).removeprefix(EDITOR))
        if held.giver == "project":
            _in_project(root, held, "workspace.root", writable=True)
        return root

    @property
    def in_editor(self) -> bool:
        """Return whether the workspace is the window of an editor that shows the folder."""
        return str(self.setting("workspace.root").value).startswith(EDITOR)

    @property
    def aliases(self) -> dict[str, Alias]:
        """Return the folders beside the workspace, by name."""
        found: dict[str, Alias] = {}
        for held in self.values["workspace.aliases"]:
            for name, value in cast("dict[str, object]", held.value).items():
                table: dict[str, object] = {"path": value}
                if isinstance(value, dict):
                    table = cast("dict[str, object]", value)
                path = _below(held.base, str(table["path"]))
                writable = bool(table.get("writable", False))
                inside, key = None, f"workspace.aliases.{name}"
                if held.giver == "project":
                    inside = _in_project(path, held, key, writable=writable)
                found[name] = Alias(
                    path=path, writable=writable, source=f"{held.source}: {key}", inside=inside
                )
        return found

    @property
    def moved(self) -> dict[str, str]:
        """Return the mounts that a project's file placed: `@NAME` or `.`, and where in the project.

        Raises:
            ConfigError: One of them is not for a project to place there.
        """
        held = self.setting("workspace.root")
        found: dict[str, str] = {}
        if held.giver == "project":
            found["."] = _in_project(self.root, held, "workspace.root", writable=True)
        for name, alias in self.aliases.items():
            if alias.inside is not None:
                found[f"@{name.removeprefix('@')}"] = alias.inside
        return {mount: folder for mount, folder in found.items() if mount != folder}

    @property
    def modules(self) -> tuple[Module, ...]:
        """Return what brings own tools: the project's, the person's, then those given by hand."""
        return self.modules_of("tools.modules")

    def modules_of(self, key: str) -> tuple[Module, ...]:
        """Return what a setting names that lists files and modules, or the like."""
        return tuple(
            Module(
                name=name,
                base=held.base,
                source=held.source,
                project=self.project if held.giver == "project" else None,
                key=key,
                by_hand=held.giver == "flag",
            )
            for held in self.values[key]
            for name in cast("list[str]", held.value)
        )

    @property
    def hashes(self) -> dict[str, dict[str, str]]:
        """Return what files say of the runs themselves: the hash of each value, by file and key."""
        found: dict[str, dict[str, str]] = {}
        for key, values in self.values.items():
            for held in values:
                if held.giver in ("project", "user") and not key.startswith(_NOT_OF_RUNS):
                    text = json.dumps(held.value, sort_keys=True, default=str)
                    sha256 = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
                    found.setdefault(held.source, {})[key] = sha256
        return found

    @property
    def atomic(self) -> bool:
        """Return whether changes land whole or not at all.

        Raises:
            ConfigError: A project's file says what only a person may.
        """
        return bool(self.own("workspace.atomic").value)

    @property
    def pass_environment(self) -> tuple[str, ...]:
        """Return the names of the variables that commands get from the host.

        Raises:
            ConfigError: A project's file says what only a person may.
        """
        return tuple(cast("list[str]", self.own("workspace.pass_environment").value))

    @property
    def script_enabled(self) -> bool:
        """Return whether scripts may run."""
        return bool(self.setting("script.enabled").value)

    @property
    def engine(self) -> str:
        """Return the name of the engine, or `auto`."""
        return str(self.setting("engine.name").value)

    @property
    def python(self) -> PythonOptions:
        """Return what the full Python is.

        Raises:
            ConfigError: A project's file says what only a person may.
        """
        path, boundary = (self.own(f"python.{name}") for name in ("path", "boundary"))
        packages, preload = (
            tuple(cast("list[str]", self.setting(f"python.{name}").value))
            for name in ("packages", "preload")
        )
        return PythonOptions(
            path=None if path.value is None else str(_below(path.base, str(path.value))),
            packages=packages,
            preload=preload,
            workspace_imports=bool(self.own("python.workspace_imports").value),
            seconds=float(cast("float", self.setting("python.timeout_seconds").value)),
            boundary=cast("str | None", boundary.value),
        )

    @property
    def store(self) -> tuple[str | None, float, float]:
        """Return where runs are kept (None: in the state folder), how many days and megabytes.

        Raises:
            ConfigError: A project's file says what only a person may.
        """
        url, days = self.own("store.url"), self.own("store.keep_days")
        megabytes = self.own("store.keep_mb")
        where = None if url.value is None else str(url.value)
        if where is not None and "://" not in where:
            where = str(_below(url.base, where))
        return where, float(cast("float", days.value)), float(cast("float", megabytes.value))

    def own(self, name: str) -> Setting:
        """Return a setting that a project's file may not give.

        Raises:
            ConfigError: It does.
        """
        held = self.setting(name)
        if held.giver == "project":
            either = ", or give it as a variable" if KEYS[name].from_text is not None else ""
            raise ConfigError(
                f"{held.source}: {name} is not for a project's file",
                hint=f"put it into your own file{either}",
            )
        return held

    @property
    def check(self) -> Literal["error", "warn", "off"]:
        """Return what findings about a script do."""
        return cast('Literal["error", "warn", "off"]', self.setting("script.check").value)

    def limits(self, *, seconds: float | None = None) -> Limits:
        """Return the limits of a run.

        Args:
            seconds: Time asked for this run alone.

        Raises:
            ConfigError: It is not positive, or more than `script.max_timeout_seconds`.
        """
        most = float(cast("float", self.setting("script.max_timeout_seconds").value))
        if seconds is not None and not 0 < seconds <= most:
            raise ConfigError(
                f"a time-out of {seconds:g} s is not allowed; allowed: above 0, up to {most:g}",
                hint="script.max_timeout_seconds sets the most",
            )
        default = float(cast("float", self.setting("script.timeout_seconds").value))
        numbers = {
            name.removeprefix("limits."): cast("int", self.setting(name).value)
            for name in KEYS
            if name.startswith("limits.")
        }
        taken = min(default, most) if seconds is None else seconds
        return Limits(seconds=taken, most_seconds=most, **numbers)


def read_settings(
    path: str | Path | None = None,
    *,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    places_only: bool = False,
) -> Settings:
    """Read all files and variables, once, and settle what holds.

    Args:
        path: A folder, in which and above which the project's file is looked for; or that
            file itself. The current folder where nothing is given.
        flags: Settings given by hand, by dotted key; a text is read as a variable would be.
        environ: Variables; those of the process where nothing is given.
        places_only: Whether files say nothing but where workspace and store are; what cannot be
            used in them is left out then, and is no error.

    Raises:
        ConfigError: Something is unknown, not allowed, or not readable; names file and key.
    """
    environ = os.environ if environ is None else environ
    here = _here()
    given = from_environment(environ)
    held: dict[str, list[Setting]] = {
        name: [Setting(value=key.default, giver="default", source="default", base=here)]
        for name, key in KEYS.items()
    }
    start, project = _find_project(path, flags or {}, given, lenient=places_only)
    if project is not None:
        _add(held, project, "project", only=_PROJECT_PLACES if places_only else None)
    own = user_file(environ)
    has_own = os.path.lexists(own)
    if has_own:
        with suppress(*([ConfigError] if places_only else [])):
            _add(held, read_toml(own), "user", only=_OWN_PLACES if places_only else None)
    for name, (value, variable) in given.items():
        held[name].append(Setting(value=value, giver="environment", source=variable, base=here))
    for name, value in (flags or {}).items():
        source = _flag(name)
        settled = (
            from_text(name, value, source=source)
            if isinstance(value, str)
            else checked(name, value, source=source)
        )
        held[name].append(Setting(value=settled, giver="flag", source=source, base=here))
    root = held["workspace.root"]
    root[-1] = replace(root[-1], value=_named(str(root[-1].value)))
    settings = Settings(
        values={name: tuple(values) for name, values in held.items()},
        start=start,
        project=project.path if project else None,
        user=own if has_own else None,
    )
    return _with_usable_places(settings) if places_only else settings


def refuse_unusable_store(settings: Settings) -> None:
    """Refuse settings whose places were read alone, and which leave out what the store is to keep.

    Args:
        settings: What `read_settings` settled, with `places_only` or without.

    Raises:
        ConfigError: The person's own file does not say it in a way that can be used.
    """
    if settings.user is not None:
        table = read_toml(settings.user).table
        flatten({"store": table.get("store", {})}, source=str(settings.user))


def _with_usable_places(settings: Settings) -> Settings:
    """Return settings without the places of a project's file that lead where it may not."""
    for name in _PROJECT_PLACES:
        try:
            getattr(settings, name.removeprefix("workspace."))
        except ConfigError:
            kept = tuple(held for held in settings.values[name] if held.giver != "project")
            settings = replace(settings, values={**settings.values, name: kept})
    return settings


def _flag(name: str) -> str:
    """Return the option of the command line that gave a setting."""
    table, _, leaf = name.rpartition(".")
    if table == "limits":
        return f"--limit {leaf}"
    return {
        "engine.name": "--engine",
        "python.timeout_seconds": "--timeout",
        "tools.modules": "--tools",
        "tools.packs": "the pack's name",
        "workspace.root": "--workspace",
    }.get(name, f"--{leaf}")


def _find_project(
    path: str | Path | None,
    flags: Mapping[str, object],
    given: Mapping[str, tuple[object, str]],
    *,
    lenient: bool,
) -> tuple[Path, SettingsFile | None]:
    root = flags.get("workspace.root") or given.get("workspace.root", (None, ""))[0]
    named = _named(str(root or ".")).removeprefix(EDITOR)
    start = Path(str(path or named)).expanduser().absolute()
    if start.is_dir():
        try:
            return start, project_file(start)
        except ConfigError:
            if lenient:
                return project_folder(start), None
            raise
    if path is None or not os.path.lexists(start):
        raise ConfigError(f"there is no folder {str(start)!r}", hint="name an existing folder")
    return start.parent, named_file(start)


def _named(root: str) -> str:
    """Return a workspace with its folder, also where it is that of the only window."""
    if root != EDITOR:
        return root
    from lineshaft.remote.window import only_folder  # noqa: PLC0415  loads what few need

    return f"{EDITOR}{only_folder()}"


def _add(
    held: dict[str, list[Setting]],
    file: SettingsFile,
    giver: Giver,
    *,
    only: Collection[str] | None = None,
) -> None:
    source = str(file.path)
    told = flatten(file.table, source=source) if only is None else usable(file.table, only)
    for name, value in told.items():
        held[name].append(
            Setting(
                value=value,
                giver=giver,
                source=source,
                base=file.path.parent,
                places=file.places(name) if name in LISTS_OF_TABLES else (),
            )
        )


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise ConfigError("the current folder is gone", hint="cd to one that exists") from error


def _below(base: Path, text: str) -> Path:
    try:
        return base / Path(text).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{text!r} names a home folder that is not known") from error


def _in_project(path: Path, held: Setting, name: str, *, writable: bool) -> str:
    """Return where in the project a folder lies that its file names, links followed.

    Raises:
        ConfigError: It lies outside, or a built-in rule of policy closes it or asks about it.
    """
    # `realpath`, since `Path.resolve` raises on symlink loops in some versions.
    real, base = Path(os.path.realpath(path)), Path(os.path.realpath(held.base))
    if not real.is_relative_to(base):
        raise ConfigError(
            f"{held.source}: {name} leads out of the project: {str(path)!r}",
            hint="a project's file can name folders of the project only; "
            "put others into your own file",
        )
    place = real.relative_to(base).as_posix()
    said = built_in_verdict(place, "write" if writable else "read")
    if said is not None:
        raise ConfigError(
            f"{held.source}: {name} is {place!r}, which {said.rule} keeps from tools:"
            f" {said.reason}",
            hint="name another folder there; only your own file or --workspace can open this one",
        )
    return place
