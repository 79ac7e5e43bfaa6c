"""Two fixed plans for `join-stock`."""

import json

from lineshaft.evals import Plan

SCRIPT = """
numbers = await store.articles()
here = await asyncio.gather(*[store.count(article=each) for each in numbers])
there = await asyncio.gather(*[books.count(article=each) for each in numbers])
return [each for each, a, b in zip(numbers, here, there) if a != b]
"""


def steps() -> Plan:
    """Ask both for three articles at a time."""
    [listed] = yield [("store__articles", {})]
    numbers = json.loads(listed)
    found: list[str] = []
    for at in range(0, len(numbers), 3):
        some = numbers[at : at + 3]
        texts = yield [
            (name, {"article": each}) for each in some for name in ("store__count", "books__count")
        ]
        found += [each for i, each in enumerate(some) if texts[2 * i] != texts[2 * i + 1]]
    return found
