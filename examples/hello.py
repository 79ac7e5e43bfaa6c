"""One tool, one script, one answer."""

import lineshaft
from lineshaft import tool


@tool(effect="read")
async def temperature(city: str) -> float:
    """Return the temperature in a city, in degrees Celsius."""
    return {"Oslo": 4.0, "Rome": 21.5, "Lima": 18.0}[city]


SCRIPT = """
cities = ["Oslo", "Rome", "Lima"]
values = await asyncio.gather(*[temperature(city=c) for c in cities])
warmest = max(zip(values, cities))
return {"city": warmest[1], "degrees": warmest[0]}
"""

result = lineshaft.run_sync(SCRIPT, tools=[temperature])
print(result.value)
print(f"{len(result.calls)} calls, {result.status}")
