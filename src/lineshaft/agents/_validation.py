"""Validators of results: their signature, and their own faults, which no model can mend."""

import inspect
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from functools import partial
from typing import Any, cast, get_args

import pydantic_core
from anyio import to_thread

from lineshaft.errors import ConfigError, ToolError, WorkspaceError
from lineshaft.tools import Tool
from lineshaft.values import Context, Struct

VALIDATE = "validate_result"
FAULT = "E_AGENT_VALIDATOR"
"""The code of a validator's own fault."""


class _Live(Struct, frozen=True):
    result: object


_LIVE: ContextVar[_Live | None] = ContextVar("result under validation", default=None)

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def takes_context(agent: str, validate: object) -> bool:
    """Return whether a validator takes a context beside the result.

    Args:
        agent: The name of the agent.
        validate: The validator.

    Raises:
        ConfigError: It cannot be called with a result, and a context at most.
    """
    hint = "write `def check(result): ...`, or `async def check(result, context: Context): ...`"
    signature = _signature(agent, "validate", validate, hint)
    if signature is None:
        return False
    positional = [each for each in signature.parameters.values() if each.kind in _POSITIONAL]
    second = positional[1] if len(positional) > 1 else None
    with_context = second is not None and (
        second.default is inspect.Parameter.empty or _is_context(second.annotation)
    )
    _refuse_unfit(agent, "validate", validate, 1 + with_context, hint)
    return with_context


def refuse_verifier(agent: str, verify: object) -> None:
    """Refuse a verifier that cannot be called with a result, the inputs and a context.

    Raises:
        ConfigError: It cannot.
    """
    hint = "write `async def check(result, inputs, context): ...`"
    _refuse_unfit(agent, "verify", verify, 3, hint)


def _signature(agent: str, option: str, check: object, hint: str) -> inspect.Signature | None:
    if not callable(check):
        raise ConfigError(f"agent {agent!r}: {option} is {check!r}, no function", hint=hint)
    try:
        return inspect.signature(check)
    except (TypeError, ValueError):  # a builtin that does not say
        return None


def _refuse_unfit(agent: str, option: str, check: object, count: int, hint: str) -> None:
    signature = _signature(agent, option, check, hint)
    try:
        if signature is not None:
            signature.bind(*[None] * count)
    except TypeError as error:
        shown = getattr(check, "__name__", repr(check))
        raise ConfigError(
            f"agent {agent!r}: {option} is `{shown}{signature}`, "
            f"which cannot be called with a result: {error}",
            hint=hint,
        ) from None


def _is_context(annotation: object) -> bool:
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2] == "Context"
    return annotation is Context or Context in get_args(annotation)


@contextmanager
def under_validation(result: object) -> Generator[None]:
    """Give the validator that is called within the block a result, as an object of its type."""
    token = _LIVE.set(_Live(result))
    try:
        yield
    finally:
        _LIVE.reset(token)


async def asked(check: Callable[..., object], *given: object) -> object:
    """Return what a validator says; one that is not async runs in a thread, as such a tool does."""
    if inspect.iscoroutinefunction(check):
        return await cast("Awaitable[object]", check(*given))
    said = await to_thread.run_sync(partial(check, *given), abandon_on_cancel=True)
    return await cast("Awaitable[object]", said) if inspect.isawaitable(said) else said


def validation(
    agent: str,
    validate: Callable[..., object],
    *,
    viewed: bool,
) -> Tool[..., Any]:
    """Return the tool that validates a result, as a call of the gate.

    Args:
        agent: The name of the agent.
        validate: The validator.
        viewed: Whether it runs programs in views of their own.

    Raises:
        ConfigError: The validator cannot be called with a result.
    """
    with_context = takes_context(agent, validate)

    async def validate_result(result: object, context: Context) -> object:
        del result  # what the record shows of it
        live = _LIVE.get()
        if live is None:
            raise ToolError("E_DENIED", "only the loop of a microagent has its results checked")
        given = (context,) if with_context else ()
        try:
            said = await asked(validate, deepcopy(live.result), *given)  # it changes nothing
            return cast("object", pydantic_core.to_jsonable_python(said))
        except (ToolError, WorkspaceError):  # a reason against the result, or of the workspace
            raise
        except pydantic_core.PydanticSerializationError as error:
            text = f"the validator returned what is no reason: {error}"
            raise ToolError(FAULT, text, hint="return None, True or a text") from error
        except (ValueError, AssertionError) as error:  # as pydantic's validators refuse
            raise ToolError("E_INVALID_RESULT", str(error) or type(error).__name__) from error
        except Exception as error:
            raise ToolError(FAULT, f"the validator raised {_told(error)}") from error

    return Tool.from_function(
        validate_result,
        name=VALIDATE,
        description="Validate a result.",
        effect="read",
        scriptable=False,
        viewed=viewed,
    )


def _told(error: Exception) -> str:
    """Return an exception with the line that raised it."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    line = f" (line {place.tb_lineno} of {place.tb_frame.f_code.co_filename})" if place else ""
    text = f": {error}" if str(error) else ""
    return f"{type(error).__name__}{text}{line}"


def is_fault(code: str) -> bool:
    """Return whether the code of a failed validation tells of the host and not of the result."""
    return code in (FAULT, "E_TOOL_FAILED", "E_TOOL_TIMEOUT", "E_DENIED")
