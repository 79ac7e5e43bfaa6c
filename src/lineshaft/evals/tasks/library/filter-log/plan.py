"""Two fixed plans for `filter-log`."""

import json
from collections import Counter

from lineshaft.evals import Plan

SCRIPT = """
found, number = {}, 1
while number:
    page = await logs.page(number=number)
    for each in page["entries"]:
        if each["level"] == "error":
            found[each["service"]] = found.get(each["service"], 0) + 1
    number = page["next"]
return found
"""


def steps() -> Plan:
    """Read page after page, and count."""
    found: Counter[str] = Counter()
    number = 1
    while number:
        [text] = yield [("logs__page", {"number": number})]
        page = json.loads(text)
        found.update(each["service"] for each in page["entries"] if each["level"] == "error")
        number = page["next"]
    return dict(found)
