"""The world of `filter-log`."""

from typing import TypedDict

from lineshaft.evals import World
from lineshaft.tools import tool

SERVICES = ["auth", "cart", "mail", "search"]
PAGES = 6
EACH = 60


class LogLine(TypedDict):
    """A line of the log."""

    at: str
    service: str
    level: str
    text: str


class Page(TypedDict):
    """A part of the log."""

    entries: list[LogLine]
    next: int | None


def entry(number: int) -> LogLine:
    """Return the entry of a number."""
    bad = number % 11 == 3 and number % 4 != 2
    return {
        "at": f"12:{number // 60:02}:{number % 60:02}",
        "service": SERVICES[number % 4],
        "level": "error" if bad else "info",
        "text": f"request {number * 7919} took {number % 97} ms, answered {500 if bad else 200}",
    }


@tool(name="logs.page", effect="read")
async def page(number: int = 1) -> Page:
    """Return a page of the log.

    Args:
        number: From 1.
    """
    first = (number - 1) * EACH
    entries = [entry(each) for each in range(first, first + EACH)]
    return {"entries": entries, "next": number + 1 if number < PAGES else None}


def world() -> World:
    """Return the tool."""
    return World(tools=[page])
