"""The world of `close-tickets`."""

from typing import TypedDict

from lineshaft.evals import World
from lineshaft.tools import tool


class DeskTicket(TypedDict):
    """A ticket."""

    id: int
    queue: str
    refund: str
    text: str


def ticket_of(number: int) -> DeskTicket:
    """Return the ticket of a number."""
    return {
        "id": number,
        "queue": "returns" if number % 3 else "sales",
        "refund": "paid" if number % 4 == 1 else "open",
        "text": f"Order {number * 31}: the parcel came back on the third of the month.",
    }


def world() -> World:
    """Return the tools of a desk with eighteen tickets."""
    closed: dict[int, str] = {}

    @tool(name="desk.tickets", effect="read")
    async def tickets() -> list[int]:
        """Return the ids of the open tickets."""
        return [number for number in range(1, 19) if number not in closed]

    @tool(name="desk.ticket", effect="read")
    async def ticket(number: int) -> DeskTicket:
        """Return a ticket.

        Args:
            number: Its id.
        """
        return ticket_of(number)

    @tool(name="desk.close", effect="external")
    async def close(number: int, reason: str) -> bool:
        """Close a ticket; return whether it was open.

        Args:
            number: Its id.
            reason: Why.
        """
        was_open = number not in closed
        closed[number] = reason
        return was_open

    return World(tools=[tickets, ticket, close], state=lambda: {"closed": closed})
