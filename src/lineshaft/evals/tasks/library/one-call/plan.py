"""Two fixed plans for `one-call`."""

from lineshaft.evals import Plan

SCRIPT = """
return await weather.temperature(city="Oslo")
"""


def steps() -> Plan:
    """Ask."""
    [text] = yield [("weather__temperature", {"city": "Oslo"})]
    return float(text)
