"""The question whether the addresses of a README lead somewhere, asked once for all of them."""

from typing import TYPE_CHECKING, Any

from lineshaft import Tool, ToolError, tool
from lineshaft.kit.fetch import LinkState, link_states
from lineshaft.values import Context

if TYPE_CHECKING:
    from lineshaft.kit.fetch.client import Fetching

_SECONDS = 300.0
_MOST = 200


class AskedLinks:
    """What servers have said in the runs of a session."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], LinkState] = {}

    @classmethod
    def of(cls, call: Context) -> "AskedLinks":
        """Return those of a call's session."""
        return call.belongings.hold(cls, cls)

    def keep(self, run_id: str, said: LinkState) -> None:
        """Remember an answer."""
        self._said[run_id, said["address"]] = said

    def said(self, run_id: str, address: str) -> LinkState | None:
        """Return what was said of an address in a run; None where it was not asked for."""
        return self._said.get((run_id, address))

    def close(self) -> None:
        """Forget all."""
        self._said.clear()


def links_tool(*, how: "Fetching | None" = None) -> Tool[..., Any]:
    """Return the tool `azure_sdk.check_links`.

    Args:
        how: How addresses are reached, where it is not as usual.
    """

    @tool(
        name="azure_sdk.check_links",
        effect="external",
        idempotent=True,
        lane=None,
        seconds=_SECONDS,
    )
    async def check_links(addresses: list[str], call: Context) -> list[LinkState]:
        """Ask servers whether addresses are there: give all addresses of a README in one call.

        Only public addresses are reached. A person is asked once for all of them; a yes for the run
        holds for every address that this tool is given in it.

        Args:
            addresses: `https://...` and `http://...`, up to 200.
            call: The call.
        """
        if not addresses or len(addresses) > _MOST:
            message = f"`addresses` has {len(addresses)} addresses: 1 to {_MOST}"
            raise ToolError("E_INVALID_ARGS", message)
        asked = AskedLinks.of(call)
        found = await link_states(addresses, how=how)
        for each in found:
            asked.keep(call.run_id, each)
        return found

    return check_links


check_links = links_tool()
