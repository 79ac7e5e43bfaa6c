"""Loading of the packs that the settings name."""

from collections.abc import Mapping

from msgspec.structs import replace

from lineshaft.config._agents import with_given_model
from lineshaft.config._modules import start
from lineshaft.config._settings import Module, Settings
from lineshaft.config._trust import Confirm
from lineshaft.errors import ConfigError
from lineshaft.tools import Toolset

_KEY = "tools.packs"


def pack_modules(settings: Settings) -> tuple[Module, ...]:
    """Return the modules that packs come from; none is imported.

    Raises:
        ConfigError: There is no such pack.
    """
    return tuple(_module(named) for named in settings.modules_of(_KEY))


def packs(
    settings: Settings,
    *,
    confirm: Confirm | None = None,
    environ: Mapping[str, str] | None = None,
) -> Toolset:
    """Return the tools and agents of the packs that the settings name, each pack once.

    Args:
        settings: What `read_settings` settled.
        confirm: Asks about packs that a project names and that are not approved; None: refused.
        environ: Variables that say where approvals are kept.

    Raises:
        ConfigError: A pack is missing, not approved or broken, or names clash.
    """
    tools = Toolset(())
    if not settings.modules_of(_KEY):
        return tools
    from lineshaft.packs import load_pack  # noqa: PLC0415  brings agents and models along

    loaded: set[str] = set()
    for named in settings.modules_of(_KEY):
        module = _module(named)
        if module.project is not None:
            start(module, confirm=confirm, environ=environ)
        if named.name in loaded:
            continue
        loaded.add(named.name)
        try:
            pack = load_pack(named.name)
            agents = [with_given_model(agent, settings.models) for agent in pack.agents]
            tools = tools.combine(Toolset([*pack.tools, *agents]))
        except ConfigError as error:
            raise _of(named, error) from error
    return tools


def _module(named: Module) -> Module:
    from lineshaft.packs import find_pack  # noqa: PLC0415  brings agents and models along

    try:
        return replace(named, name=find_pack(named.name).module)
    except ConfigError as error:
        raise _of(named, error) from error


def _of(named: Module, error: ConfigError) -> ConfigError:
    return ConfigError(f"{named.source}: {named.key}: {error.message}", hint=error.hint)
