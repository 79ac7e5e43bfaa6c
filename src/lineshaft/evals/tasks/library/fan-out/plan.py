"""Two fixed plans for `fan-out`."""

import json

from lineshaft.evals import Plan

SCRIPT = """
names = await fleet.hosts()
found = await asyncio.gather(*[fleet.status(host=name) for name in names])
return sorted(each["host"] for each in found if each["failed"] > 2)
"""


def steps() -> Plan:
    """Ask five at a time."""
    [listed] = yield [("fleet__hosts", {})]
    names = json.loads(listed)
    bad: list[str] = []
    for at in range(0, len(names), 5):
        texts = yield [("fleet__status", {"host": name}) for name in names[at : at + 5]]
        found = [json.loads(text) for text in texts]
        bad += [each["host"] for each in found if each["failed"] > 2]
    return sorted(bad)
