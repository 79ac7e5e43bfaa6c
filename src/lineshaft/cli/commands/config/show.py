"""`lineshaft config show`: every setting, and where it comes from."""

import json as json_module
import sys
from pathlib import Path
from typing import cast

from lineshaft.cli._options import json_option, settings_for, workspace_option
from lineshaft.cli._shape import brief
from lineshaft.cli._terminal import one_line, paint, say
from lineshaft.config import (
    KEYS,
    Setting,
    Settings,
    guard_levels,
    guard_modules,
    pack_modules,
    policy,
    unapproved,
    unapproved_agents,
    user_file,
)
from lineshaft.files import state_folder


@workspace_option
@json_option
def command(*, workspace: Path | None, json: bool) -> None:
    """Show the settings that hold in a folder."""
    settings = settings_for(workspace)
    held = {name: _sources(settings, name) for name in KEYS}
    strictest, levels = policy(settings).mode, guard_levels(settings)
    waiting = (
        *unapproved((*settings.modules, *guard_modules(settings), *pack_modules(settings))),
        *unapproved_agents(settings),
    )
    if json:
        facts = {
            "settings": {
                name: [{"value": _shown(name, s), "source": s.source} for s in sources]
                for name, sources in held.items()
            },
            "workspace": str(settings.root),
            "mode": strictest,
            "guards": levels,
            "files": {"project": _text(settings.project), "user": _text(settings.user)},
            "unapproved": [module.name for module in waiting],
        }
        say(json_module.dumps(facts, ensure_ascii=False))
        return
    say(f"workspace: {one_line(str(settings.root))}")
    say(f"project's file: {_text(settings.project) or 'none'}")
    say(f"your file: {_text(settings.user) or f'none ({user_file()})'}")
    say(f"state: {state_folder()}\n")
    for name, sources in held.items():
        for setting in sources:
            value = one_line(f"{name} = {brief(_shown(name, setting))}", 100)
            say(f"{value:<44}  {paint(one_line(setting.source), 'dim', stream=sys.stdout)}")
    if strictest != settings.setting("policy.mode").value:
        say(f"\nmode {strictest} holds: the stricter of yours and the project's")
    for name, level in levels.items():
        if level != settings.setting(name).value:
            say(f"\n{name} {level} holds: a project's file can only make it stricter")
    for module in waiting:
        say(f"\n{one_line(module.name)} is not approved yet: `lineshaft config trust`")


_JOINED = frozenset(
    {
        *(
            "agents",
            "mcp.servers",
            "tools.modules",
            "workspace.aliases",
            "policy.mode",
            "policy.rules",
        ),
        *(name for name in KEYS if name.startswith("guards.")),
    }
)
"""Where the project's and the person's values hold together."""


def _shown(name: str, setting: Setting) -> object:
    """Return a value without what may be secret in it."""
    if name != "mcp.servers":
        return setting.value
    # `config mcp` says more, and shows no secret either.
    return list(cast("dict[str, object]", setting.value))


def _sources(settings: Settings, name: str) -> tuple[Setting, ...]:
    """Return the values that hold: of lists and policy all that were given, else the last."""
    given = settings.values[name]
    joined = name in _JOINED
    if not joined or len(given) == 1:
        return given[-1:]
    return given[1:]


def _text(path: object) -> str | None:
    return None if path is None else one_line(str(path))
