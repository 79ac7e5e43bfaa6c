"""Own tools for the command line.

lineshaft run scripts/warmest.py --tools weather_tools.py --arg limit=2
"""

from typing import TypedDict

from lineshaft import tool

DEGREES = {"Oslo": 4.0, "Rome": 21.5, "Lima": 18.0}


class Weather(TypedDict):
    """The weather in one city."""

    city: str
    degrees: float


@tool(effect="read")
def cities() -> list[str]:
    """Return the cities that have a station."""
    return list(DEGREES)


@tool(effect="read")
async def weather(city: str) -> Weather:
    """Return the weather in a city.

    Args:
        city: One of `cities()`.
    """
    return Weather(city=city, degrees=DEGREES[city])
