"""Two fixed plans for `join-servers`."""

import json

from lineshaft.evals import Plan

SCRIPT = """
people = await crm.customers(country="NO")
orders = await asyncio.gather(*[shop.orders(customer=each["id"]) for each in people])
totals = [
    {"name": each["name"], "total": sum(o["amount"] for o in found if o["paid"])}
    for each, found in zip(people, orders)
]
return max(totals, key=lambda each: each["total"])
"""


def steps() -> Plan:
    """Ask for the orders of five customers at a time."""
    [listed] = yield [("crm__customers", {"country": "NO"})]
    people = json.loads(listed)
    totals: dict[str, int] = {}
    for at in range(0, len(people), 5):
        some = people[at : at + 5]
        texts = yield [("shop__orders", {"customer": each["id"]}) for each in some]
        for each, text in zip(some, texts, strict=True):
            totals[each["name"]] = sum(o["amount"] for o in json.loads(text) if o["paid"])
    name = max(totals, key=lambda each: totals[each])
    return {"name": name, "total": totals[name]}
