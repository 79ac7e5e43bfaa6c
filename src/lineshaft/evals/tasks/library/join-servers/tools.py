"""The world of `join-servers`."""

from typing import TypedDict

from lineshaft.evals import World
from lineshaft.tools import tool

NAMES = ["Aud", "Bjorn", "Dag", "Eli", "Frida", "Gro", "Hans", "Ida", "Jon", "Kari", "Liv", "Mia"]


class Customer(TypedDict):
    """A customer."""

    id: int
    name: str
    country: str


class ShopOrder(TypedDict):
    """An order of a customer."""

    id: str
    paid: bool
    amount: int
    note: str


@tool(name="crm.customers", effect="read")
async def customers(country: str) -> list[Customer]:
    """Return the customers of a country.

    Args:
        country: Two letters.
    """
    rows: list[Customer] = []
    for number, name in enumerate(NAMES):
        rows.append(
            {"id": 100 + number, "name": name, "country": "SE" if number % 6 == 5 else "NO"}
        )
    return [row for row in rows if row["country"] == country]


@tool(name="shop.orders", effect="read")
async def orders(customer: int) -> list[ShopOrder]:
    """Return the orders of a customer.

    Args:
        customer: The id.
    """
    return [
        {
            "id": f"{customer}-{at}",
            "paid": (customer + at) % 4 != 0,
            "amount": (customer * 31 + at * 17) % 90 + 10,
            "note": "left at the door, as agreed by telephone",
        }
        for at in range(customer % 5 + 6)
    ]


def world() -> World:
    """Return both tools."""
    return World(tools=[customers, orders])
