"""Two fixed plans for `two-calls`."""

from lineshaft.evals import Plan

SCRIPT = """
return await shop.price(article="lamp") * await bank.rate(currency="NOK")
"""


def steps() -> Plan:
    """Ask both at once."""
    price, rate = yield [
        ("shop__price", {"article": "lamp"}),
        ("bank__rate", {"currency": "NOK"}),
    ]
    return float(price) * float(rate)
