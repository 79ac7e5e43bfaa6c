"""The world of `one-call`."""

from lineshaft.evals import World
from lineshaft.tools import tool


@tool(name="weather.temperature", effect="read")
async def temperature(city: str) -> float:
    """Return the temperature in a city, in degrees Celsius.

    Args:
        city: Its name.
    """
    return {"Oslo": -4.5, "Rome": 13.0}[city]


def world() -> World:
    """Return the tool."""
    return World(tools=[temperature])
