"""Tokens and cost of the models that a run has asked, of its events. Pure: no terminal."""

from dataclasses import asdict

from lineshaft.cli._shape import counted, dollars
from lineshaft.cli._terminal import one_line
from lineshaft.values import Event, ModelUsage


class ModelsUsed:
    """Adds up the replies of models, their tokens and their cost."""

    def __init__(self) -> None:
        self._models: dict[str, ModelUsage] = {}

    def take(self, event: Event) -> None:
        """Add what an event says was used."""
        if event.kind != "usage":
            return
        used = {name: value for name, value in event.data.items() if name != "model"}
        name = str(event.data["model"])
        before = self._models.get(name, ModelUsage())
        self._models[name] = before.plus(ModelUsage(**used))  # pyright: ignore[reportArgumentType]  as the gate wrote it

    @property
    def facts(self) -> dict[str, dict[str, object]]:
        """Return what was used, by model, as `--json` prints it."""
        return {name: asdict(used) for name, used in self._models.items()}

    @property
    def line(self) -> str:
        """Return one line for a person: `3 turns · 1,204 tokens · $0.0012 · MODEL`, or nothing."""
        if not self._models:
            return ""
        total = ModelUsage()
        for used in self._models.values():
            total = total.plus(used)
        about = "about " if total.estimated else ""
        tokens = f"{about}{total.input_tokens + total.output_tokens:,} tokens"
        cost = "price not known" if total.cost is None else dollars(total.cost)
        names = ", ".join(one_line(name, 80) for name in self._models)
        return f"{counted(total.requests, 'turn')} · {tokens} · {cost} · {names}"
