"""Tools with state: methods of an object; the object stays in your hands."""

import asyncio
from dataclasses import dataclass, field

from lineshaft import Policy, Session, tool


@dataclass
class Basket:
    """What a customer wants to buy."""

    items: dict[str, int] = field(default_factory=dict[str, int])

    @tool(effect="external")
    async def put(self, name: str, amount: int = 1) -> int:
        """Put something into the basket.

        Args:
            name: What it is.
            amount: How many of it.

        Returns:
            How many of it are in the basket now.
        """
        self.items[name] = self.items.get(name, 0) + amount
        return self.items[name]

    @tool(effect="read")
    def total(self) -> int:
        """Return how many things are in the basket."""
        return sum(self.items.values())


SCRIPT = """
for name in ["apple", "pear", "apple"]:
    await put(name=name, amount=2)
return await total()
"""


async def main() -> None:
    basket = Basket()
    async with Session([basket], policy=Policy(mode="open")) as session:
        result = await session.run(SCRIPT)
    print(result.value, basket.items)


asyncio.run(main())
