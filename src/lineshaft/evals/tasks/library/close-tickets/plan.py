"""Two fixed plans for `close-tickets`."""

import json

from lineshaft.evals import Plan

SCRIPT = """
ids = await desk.tickets()
found = await asyncio.gather(*[desk.ticket(number=each) for each in ids])
wanted = [t["id"] for t in found if t["queue"] == "returns" and t["refund"] == "paid"]
for each in wanted:
    await desk.close(number=each, reason="refunded")
return str(len(wanted))
"""


def steps() -> Plan:
    """Read six at a time, then close those that match."""
    [listed] = yield [("desk__tickets", {})]
    ids = json.loads(listed)
    wanted: list[int] = []
    for at in range(0, len(ids), 6):
        texts = yield [("desk__ticket", {"number": each}) for each in ids[at : at + 6]]
        found = [json.loads(text) for text in texts]
        wanted += [t["id"] for t in found if t["queue"] == "returns" and t["refund"] == "paid"]
    yield [("desk__close", {"number": each, "reason": "refunded"}) for each in wanted]
    return str(len(wanted))
