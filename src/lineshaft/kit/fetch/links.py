"""State of addresses of the web: alive, dead or unchecked, under the guards of `fetch_url`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import anyio
from typing_extensions import TypedDict

from lineshaft.errors import ToolError
from lineshaft.tools import web_address

if TYPE_CHECKING:
    from lineshaft.kit.fetch.client import Fetching

_AT_ONCE = 8
_SECONDS = 20.0
_GONE = (404, 410)
_FIRST_ERROR = 400


class LinkState(TypedDict):
    """The state of a link."""

    address: str
    """As it was given."""

    state: Literal["alive", "dead", "unchecked"]
    """`dead`: the server says 404 or 410. `unchecked`: it lets none look now (403, 429,
    500), does not answer in time, leads to another server, or is not on the public network."""

    status: int | None
    """Of HTTP; null where no server answered for the address."""

    reason: str
    """Why it is unchecked; empty otherwise."""


async def link_states(
    addresses: Sequence[str], *, how: "Fetching | None" = None
) -> list[LinkState]:
    """Ask servers for the status of addresses, eight at once, each within 20 s; no body is taken.

    Args:
        addresses: What to ask for; each is asked for once.
        how: How addresses are reached, where it is not as usual: public addresses alone.
    """
    from lineshaft.kit.fetch.client import Fetching  # noqa: PLC0415  heavy, at first use

    reached = how or Fetching()
    found: dict[str, LinkState] = {}
    slots = anyio.Semaphore(_AT_ONCE)

    async def ask(address: str) -> None:
        async with slots:
            found[address] = await _state(address, reached)

    async with anyio.create_task_group() as group:
        for address in dict.fromkeys(addresses):
            group.start_soon(ask, address)
    return [found[address] for address in dict.fromkeys(addresses)]


async def _state(address: str, how: "Fetching") -> LinkState:
    from lineshaft.kit.fetch.client import status_of  # noqa: PLC0415  heavy, at first use

    try:
        with anyio.fail_after(_SECONDS):
            status = await status_of(web_address(address), how)
    except ValueError as error:
        return _unchecked(address, None, str(error))
    except TimeoutError:
        return _unchecked(address, None, "the server did not answer in time")
    except ToolError as error:
        return _unchecked(address, None, error.message)
    if status in _GONE:
        return {"address": address, "state": "dead", "status": status, "reason": ""}
    if status >= _FIRST_ERROR:
        return _unchecked(address, status, f"the server answers {status}")
    return {"address": address, "state": "alive", "status": status, "reason": ""}


def _unchecked(address: str, status: int | None, reason: str) -> LinkState:
    return {"address": address, "state": "unchecked", "status": status, "reason": reason}
