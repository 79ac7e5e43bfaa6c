"""The world of `fan-out`."""

from typing import TypedDict

from lineshaft.evals import World
from lineshaft.tools import tool


class Status(TypedDict):
    """How a host is."""

    host: str
    failed: int
    load: float
    checks: list[str]


def failed_of(number: int) -> int:
    """Return how many checks of a host fail."""
    return number * 7 % 5


@tool(name="fleet.hosts", effect="read")
async def hosts() -> list[str]:
    """Return the names of all hosts."""
    return [f"host-{number:02}" for number in range(30)]


@tool(name="fleet.status", effect="read")
async def status(host: str) -> Status:
    """Return how a host is.

    Args:
        host: Its name.
    """
    number = int(host.removeprefix("host-"))
    names = ["disk", "memory", "clock", "certificate", "backup"]
    checks = [
        f"{name}: {'failed' if at < failed_of(number) else 'passed'} at 03:{number:02}"
        for at, name in enumerate(names)
    ]
    return {"host": host, "failed": failed_of(number), "load": number / 10, "checks": checks}


def world() -> World:
    """Return both tools."""
    return World(tools=[hosts, status])
