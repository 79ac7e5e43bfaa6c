"""Microagents whose results are verified against their inputs."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import Any, TypeVar

from lineshaft.agents._budget import Budget
from lineshaft.agents._microagent import Microagent
from lineshaft.agents._template import PromptTemplate
from lineshaft.agents._validation import asked, refuse_verifier
from lineshaft.errors import ToolError
from lineshaft.models import Model
from lineshaft.values import Context

R = TypeVar("R")

Verifier = Callable[[R, Mapping[str, object], Context], Awaitable[str | None] | str | None]
"""Takes a result, the agent's inputs and the context of the check, sync or async: None accepts the
result, a text is the reason against it."""

_INPUTS: ContextVar[Mapping[str, object] | None] = ContextVar("inputs of an agent", default=None)


class VerifiedMicroagent(Microagent[R]):
    """A microagent whose check of a result knows what the agent was asked for.

    A result may name the wrong thing: the inputs say what was to be done, whatever the model says.

    Args:
        name: As for `Microagent`.
        instructions: As for `Microagent`.
        verify: Takes each result, the inputs by name and the context of the check; it changes
            nothing.
        programs: Whether `verify` runs programs in views of their own (`lineshaft.kit.view`):
            where no jail works, each check then asks as a process without one does.
        description: As for `Microagent`.
        inputs: As for `Microagent`.
        tools: As for `Microagent`.
        model: As for `Microagent`.
        budget: As for `Microagent`.

    Raises:
        ConfigError: As for `Microagent`.
    """

    def __init__(
        self,
        *,
        name: str,
        instructions: str | PromptTemplate,
        verify: Verifier[R],
        programs: bool = False,
        description: str = "",
        inputs: type | None = None,
        tools: Iterable[object] = (),
        model: str | Model | None = None,
        budget: Budget | None = None,
    ) -> None:
        refuse_verifier(name, verify)

        async def validate(result: R, context: Context) -> object:
            given = _INPUTS.get()
            if given is None:
                raise ToolError("E_DENIED", "only the loop of a microagent has its results checked")
            return await asked(verify, result, given, context)

        self._runs_programs = programs
        super().__init__(
            name=name,
            instructions=instructions,
            description=description,
            inputs=inputs,
            tools=tools,
            model=model,
            budget=budget,
            validate=validate,
        )

    async def _work(
        self,
        context: Context,
        given: Mapping[str, object],
        *rest: Any,  # noqa: ANN401  as above it
        **more: Any,  # noqa: ANN401  as above it
    ) -> object:
        token = _INPUTS.set(given)
        try:
            return await super()._work(context, given, *rest, **more)
        finally:
            _INPUTS.reset(token)
