"""The price of a model, and the cost of what it used."""

from msgspec.structs import replace

from lineshaft.models._messages import TokenUsage
from lineshaft.values import Struct

_TOKENS = 1_000_000


class ModelPrice(Struct, frozen=True, kw_only=True):
    """US dollars for a million tokens."""

    input: float
    """Of input tokens."""

    output: float
    """Of output tokens."""

    cached: float | None = None
    """Of input tokens that the provider had from before; None: as others."""

    def charged(self, usage: TokenUsage) -> TokenUsage:
        """Return what was used, with its cost."""
        cached = self.input if self.cached is None else self.cached
        fresh = max(usage.input_tokens - usage.cached_tokens, 0)
        dollars = (
            fresh * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output
        )
        return replace(usage, cost=dollars / _TOKENS)
