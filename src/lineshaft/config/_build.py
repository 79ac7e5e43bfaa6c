"""From settings to the objects that a user would build by hand."""

import os
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from glob import escape
from pathlib import Path
from typing import cast

from lineshaft import kit
from lineshaft.config._agents import Faulty, configured_agents, with_given_model
from lineshaft.config._guards import guards as guards_of
from lineshaft.config._modules import load_modules
from lineshaft.config._packs import packs
from lineshaft.config._places import PYPROJECT, user_file
from lineshaft.config._providers import Starting, providers
from lineshaft.config._settings import Giver, Settings, read_settings
from lineshaft.config._trust import Confirm
from lineshaft.errors import ConfigError
from lineshaft.files import state_folder
from lineshaft.policy import Mode, Policy, Rule
from lineshaft.session import Session
from lineshaft.store import Store, workspace_folder
from lineshaft.tools import Toolset
from lineshaft.trace import SHORTEST_SECRET
from lineshaft.values import Approver, Elicit, Guard, Limits, Sink, looks_secret
from lineshaft.workspace import Folder, Mount


def load(path: str | Path | None = None) -> Session:
    """Return the session that the configuration describes.

    A warning names variables whose secret values are too short to be masked.

    Args:
        path: A folder, in which and above which the project's file is looked for; or that
            file itself. The current folder where nothing is given.

    Raises:
        ConfigError: Something is unknown, not allowed or not readable, or a project's file
            names a module that is not approved.
    """
    settings = read_settings(path)
    for name in unmasked(settings):
        text = f"the value of {name} is too short to be masked; records and models may see it"
        warnings.warn(text, stacklevel=2)
    return build(settings)


def build(
    settings: Settings,
    *,
    toolset: Iterable[object] | None = None,
    limits: Limits | None = None,
    approver: Approver | None = None,
    elicit: Elicit | None = None,
    sinks: Sequence[Sink] = (),
    store: Store | None = None,
    guards: Sequence[Guard] | None = None,
    secrets: Iterable[str] = (),
) -> Session:
    """Return the session that settings describe.

    Args:
        settings: What `read_settings` settled.
        toolset: Its tools and providers of tools; what the settings say where nothing is given,
            MCP servers among it.
        limits: Of its runs; what the settings say where nothing is given, and what a session
            takes by itself where they are silent.
        approver: Answers what policy asks.
        elicit: Answers what tools ask a person.
        sinks: Take the events of its runs.
        store: Keeps its runs; what the settings say where nothing is given.
        guards: Its guards; what the settings say where nothing is given.
        secrets: Texts that no record and no model may see.

    Raises:
        ConfigError: The settings do not fit together.
    """
    starting = Starting()
    if toolset is None:
        toolset = [tools(settings), *providers(settings, starting=starting)]
    return Session(
        toolset,
        workspace=folder(settings),
        policy=policy(settings),
        engine=settings.engine,
        limits=limits or settings.limits(),
        check=settings.check,
        approver=approver,
        elicit=elicit,
        guards=guards_of(settings) if guards is None else guards,
        atomic=settings.atomic,
        sinks=sinks,
        store=store or store_of(settings),
        scripts=settings.script_enabled,
        python=settings.python,
        secrets=[
            text
            for text in (*secrets, *starting.secrets, *_passed_secrets(settings).values())
            if len(text) >= SHORTEST_SECRET  # the caller names the others: `unmasked`
        ],
    )


def unmasked(settings: Settings) -> tuple[str, ...]:
    """Return the variables that commands get whose secret values are too short to be masked."""
    found = _passed_secrets(settings)
    return tuple(name for name, value in found.items() if len(value) < SHORTEST_SECRET)


def _passed_secrets(settings: Settings) -> dict[str, str]:
    """Return the variables that commands get and whose names say that they are secrets."""
    return {
        name: value
        for name in settings.pass_environment
        if looks_secret(name) and (value := os.environ.get(name))
    }


def store_of(settings: Settings) -> Store:
    """Return the store that the settings describe; nothing is opened.

    Raises:
        ConfigError: It cannot be used.
    """
    where, days, megabytes = settings.store
    return Store(where, keep_days=days, keep_mb=megabytes)


def tools(
    settings: Settings,
    *,
    confirm: Confirm | None = None,
    environ: Mapping[str, str] | None = None,
    faulty: Faulty | None = None,
    needed: Collection[str] = (),
) -> Toolset:
    """Return the kit's tools and those of the modules, packs and agents that the settings name.

    Args:
        settings: What `read_settings` settled.
        confirm: Asks about modules of a project that are not approved; None: refused.
        environ: Variables that say where approvals are kept.
        faulty: Takes the name of each agent of the settings that is not approved or cannot be used,
            and why; it is left out. None: that is an error.
        needed: Names of agents of the settings for which that is an error all the same.

    Raises:
        ConfigError: A module or pack is missing, not approved, does not start, or names clash.
    """
    allow = cast("list[str]", settings.own("fetch.allow").value)
    held = settings.setting("tools.kit")
    try:
        match held.value:
            case True:
                offered = kit.tools()
            case False | []:
                offered = Toolset(())
            case names:
                offered = kit.tools(*cast("list[str]", names), fetch_allow=allow)
    except ConfigError as error:
        raise ConfigError(f"{held.source}: tools.kit: {error.message}", hint=error.hint) from error
    own = load_modules(
        settings.modules,
        confirm=confirm,
        environ=environ,
        shaped=partial(with_given_model, models=settings.models),
    )
    if settings.in_editor:
        from lineshaft.remote.window import editor_tools  # noqa: PLC0415  loads what few need

        own = own.combine(editor_tools(settings.root))
    offered = offered.combine(own).combine(packs(settings, confirm=confirm, environ=environ))
    agents = configured_agents(
        settings, offered, confirm=confirm, environ=environ, faulty=faulty, needed=needed
    )
    return offered.combine(agents)


def folder(settings: Settings) -> Folder:
    """Return the workspace that the settings describe.

    Raises:
        ConfigError: Its folder is missing, or no window shows it.
    """
    root = settings.root
    if not root.is_dir():
        source = settings.setting("workspace.root").source
        raise ConfigError(f"{source}: the workspace {str(root)!r} is not a folder")
    for alias in settings.aliases.values():
        if not alias.path.is_dir():
            raise ConfigError(
                f"{alias.source}: {str(alias.path)!r} is not a folder",
                hint="make it, or take the alias out",
            )
    aliases = {
        name: Mount(alias.path, writable=alias.writable) for name, alias in settings.aliases.items()
    }
    _, days, _ = settings.store
    editor = None
    if settings.in_editor:
        from lineshaft.remote.window import window_over  # noqa: PLC0415  loads what few need

        if not settings.atomic:
            raise ConfigError(
                "changes land together in an editor", hint="leave out --no-atomic and its setting"
            )
        editor = window_over(root)
    return Folder(
        root,
        aliases=aliases,
        allow_env=settings.pass_environment,
        journals=workspace_folder(root),
        keep_days=days,
        editor=editor,
    )


def policy(settings: Settings, *, environ: Mapping[str, str] | None = None) -> Policy:
    """Return the person's policy, tightened by the project's.

    Where a project's file says where the workspace or an alias is, the person's rules and the
    built-in ones hold for what lies there as seen from the project's folder, too.

    A mode given by a variable or a flag is the person's word for this one time: it replaces
    the mode of both, and all rules stay.

    Raises:
        ConfigError: A rule is not understood, or a project's file names a folder that it may not;
            names the file.
    """
    own = _policy_of(settings, "user", silent="auto")
    project = _policy_of(settings, "project", silent="open")
    given = settings.setting("policy.mode")
    if given.giver in ("environment", "flag"):
        own = replace(own, mode=cast("Mode", given.value))
        project = replace(project, mode="open")
    before = (*_private_rules(settings, environ), *_settings_rules(settings, own.mode))
    own = replace(own, rules=(*before, *own.rules), moved=settings.moved)
    return own if project == Policy(mode="open") else own.tightened_by(project)


def _policy_of(settings: Settings, giver: Giver, *, silent: Mode) -> Policy:
    held = {
        name.removeprefix("policy."): setting
        for name in ("policy.mode", "policy.rules")
        for setting in settings.values[name]
        if setting.giver == giver
    }
    try:
        places = held["rules"].places if "rules" in held else ()
        said = {name: setting.value for name, setting in held.items()}
        return Policy.from_dict(said, mode=silent, sources=places)
    except ConfigError as error:
        source = next(iter(held.values())).source
        raise ConfigError(f"{source}: {error.message}", hint=error.hint) from error


def _settings_rules(settings: Settings, mode: Mode) -> tuple[Rule, ...]:
    """Ask about changes of a `pyproject.toml` that has the settings, as of a `lineshaft.toml`."""
    root, file = Path(os.path.realpath(settings.root)), settings.project
    if mode == "open" or file is None or file.name != PYPROJECT:
        return ()
    real = Path(os.path.realpath(file))
    if not real.is_relative_to(root):
        return ()
    return (
        Rule(
            "project-settings",
            "ask",
            effect=("write", "exec", "external"),
            path=f"/{escape(real.relative_to(root).as_posix())}",
            reason="this file has the project's settings of Lineshaft",
            source="built in",
        ),
    )


def _private_rules(settings: Settings, environ: Mapping[str, str] | None) -> tuple[Rule, ...]:
    """Keep records, approvals and the person's settings from tools, should they lie inside."""
    root = os.path.realpath(settings.root)
    rules: list[Rule] = []
    for name, path in (("records", state_folder(environ)), ("settings", user_file(environ).parent)):
        real = os.path.realpath(path)
        if Path(real).is_relative_to(root):
            pattern = f"{escape(Path(real).relative_to(root).as_posix())}/**"
            reason = f"Lineshaft's own {name} are not for tools"
            rules.append(
                Rule(f"own-{name}", "deny", path=pattern, reason=reason, source="built in")
            )
    return tuple(rules)
