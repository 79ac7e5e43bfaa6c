"""The world of `two-calls`."""

from lineshaft.evals import World
from lineshaft.tools import tool


@tool(name="shop.price", effect="read")
async def price(article: str) -> float:
    """Return the price of an article, in euros.

    Args:
        article: Its name.
    """
    return {"lamp": 40.0, "desk": 210.0}[article]


@tool(name="bank.rate", effect="read")
async def rate(currency: str) -> float:
    """Return what one euro is in a currency.

    Args:
        currency: Three letters.
    """
    return {"NOK": 11.5, "SEK": 11.25}[currency]


def world() -> World:
    """Return both tools."""
    return World(tools=[price, rate])
