"""The budget of one microagent, and what it has spent of it."""

from lineshaft.errors import ConfigError
from lineshaft.models import TokenUsage
from lineshaft.values import Struct


class Budget(Struct, frozen=True, kw_only=True):
    """The bounds of one run of a microagent. The first one that is used up ends the run.

    Raises:
        ConfigError: A number is out of range.
    """

    turns: int = 100
    """Replies of its model."""

    failed_exits: int = 10
    """Results that were refused."""

    calls: int = 200
    """Calls of its tools."""

    tokens: int = 500_000
    """Input and output together. The request that passes it is the last."""

    cost: float | None = None
    """US dollars; None: no bound."""

    seconds: float = 600
    """From its beginning; they stand still while a person is asked."""

    def __post_init__(self) -> None:
        """Refuse numbers that allow nothing."""
        for name in self.__struct_fields__:
            value: object = getattr(self, name)
            if name == "cost" and value is None:
                continue
            kinds = (int, float) if name in ("cost", "seconds") else (int,)
            fits = isinstance(value, kinds) and not isinstance(value, bool) and value > 0
            if not fits:
                kind = "a number above 0" if len(kinds) > 1 else "a whole number above 0"
                raise ConfigError(f"budget: {name} must be {kind}, not {value!r}")


class AgentUsage(Struct, kw_only=True):
    """The usage of one run of a microagent."""

    turns: int = 0
    """Replies of its model."""

    requests: int = 0
    """Requests to its model, those that failed and were made again too."""

    failed_exits: int = 0
    """Results that were refused."""

    calls: int = 0
    """Calls of tools that its model asked for."""

    input_tokens: int = 0
    """Tokens of the requests, cached ones included."""

    output_tokens: int = 0
    """Tokens of the replies, reasoning included."""

    cached_tokens: int = 0
    """Those of `input_tokens` that the provider had from before."""

    estimated: bool = False
    """Whether some of the tokens are estimates."""

    cost: float | None = None
    """US dollars; None: no price is known."""

    def take(self, usage: TokenUsage) -> None:
        """Add what one request has used."""
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        self.cached_tokens += usage.cached_tokens
        self.estimated = self.estimated or usage.estimated
        if usage.cost is not None:
            self.cost = (self.cost or 0.0) + usage.cost

    def spent(self, budget: Budget) -> str:
        """Return which part of a budget leaves no further request; empty where none does."""
        if self.turns >= budget.turns:
            return "its only turn" if budget.turns == 1 else f"all {budget.turns} turns"
        if self.input_tokens + self.output_tokens >= budget.tokens:
            return f"all {budget.tokens:,} tokens"
        if budget.cost is not None and (self.cost or 0.0) >= budget.cost:
            return f"all of its {budget.cost:g} dollars"
        return ""
