"""Two fixed plans for `filter-metrics`."""

import json

from lineshaft.evals import Plan

SCRIPT = """
names = await metrics.endpoints()
found = await asyncio.gather(*[metrics.samples(endpoint=each) for each in names])
return sorted(each for each, values in zip(names, found) if sorted(values)[94] > 400)
"""


def steps() -> Plan:
    """Ask for three endpoints at a time."""
    [listed] = yield [("metrics__endpoints", {})]
    names = json.loads(listed)
    high: list[str] = []
    for at in range(0, len(names), 3):
        some = names[at : at + 3]
        texts = yield [("metrics__samples", {"endpoint": each}) for each in some]
        found = zip(some, map(json.loads, texts), strict=True)
        high += [each for each, values in found if sorted(values)[94] > 400]
    return sorted(high)
