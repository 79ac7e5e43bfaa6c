"""What tests of several rooms share: a counter outside of every sandbox."""

from collections import Counter
from collections.abc import Callable

from lineshaft import Session, Tool
from lineshaft.values import Effect

Make = Callable[..., Session]
"""Makes a session over the kit, a counter's `poke`, and further tools; settings as `Session`'s."""


class Outside:
    """Counts what was really done."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """Calls by tool, and by `tool:argument`."""

    def tool(
        self, name: str = "poke", *, effect: Effect = "write", scriptable: bool = True
    ) -> Tool:
        """Return a tool that counts its calls and returns how many there were."""

        async def poke(what: str = "") -> int:
            """Poke something.

            Args:
                what: The thing.
            """
            self.counts[name] += 1
            self.counts[f"{name}:{what}"] += 1
            return self.counts[name]

        return Tool.from_function(poke, name=name, effect=effect, scriptable=scriptable)

    @property
    def total(self) -> int:
        """Calls of all tools."""
        return sum(count for name, count in self.counts.items() if ":" not in name)
