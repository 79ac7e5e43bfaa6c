"""The world of `join-stock`."""

from lineshaft.evals import World
from lineshaft.tools import tool

ARTICLES = [f"a-{number}" for number in range(1, 21)]


def real(article: str) -> int:
    """Return how many there are."""
    return int(article[2:]) * 37 % 23


@tool(name="store.articles", effect="read")
async def articles() -> list[str]:
    """Return all article numbers."""
    return ARTICLES


@tool(name="store.count", effect="read")
async def shelf(article: str) -> int:
    """Return how many of an article are on the shelf.

    Args:
        article: Its number.
    """
    return real(article)


@tool(name="books.count", effect="read")
async def books(article: str) -> int:
    """Return how many of an article the books have.

    Args:
        article: Its number.
    """
    return real(article) + (int(article[2:]) % 6 == 4)


def world() -> World:
    """Return the tools of both."""
    return World(tools=[articles, shelf, books])
