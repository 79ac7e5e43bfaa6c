"""From what a tool asks to what a client is asked, and back."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from lineshaft.errors import ToolError
from lineshaft.mcp._sampling import as_json, listed_roots, sampling_answer, sampling_request
from lineshaft.mcp.front.client import ClientAnswer, ClientQuestion, FilledForm, Question, Said
from lineshaft.mcp.front.questions import question_form, value_of
from lineshaft.values import Ask, Askable, Caller

Put = Callable[[Question], Awaitable[Said]]
"""Puts one question to a client."""

PutAll = Callable[[Sequence[tuple[str, Question]]], Awaitable[Sequence[Said | ToolError]]]
"""Puts several at once, each with the name that the tool has for it."""


def filled_of(said: Said) -> FilledForm:
    """Return what a person said; what is no form was none."""
    return said if isinstance(said, FilledForm) else FilledForm("cancel")


def answering(
    caller: Caller, offers: frozenset[Askable], *, put: Put, put_all: PutAll | None = None
) -> Caller:
    """Return a caller whose tools may ask a client for what it offers.

    Args:
        caller: One who answers nothing.
        offers: What the client offers.
        put: Puts one question to it.
        put_all: Puts several at once, where that can be.
    """

    async def elicit(message: str, schema: Mapping[str, object]) -> object:
        question, read = _form(Ask(kind="elicit", message=message, schema=schema))
        return read(await put(question))

    async def sample(request: Mapping[str, object]) -> Mapping[str, object]:
        return _answered(await put(_for_model(request)))

    async def roots() -> Sequence[Mapping[str, object]]:
        return _told(await put(ClientQuestion("roots")))

    return replace(
        caller,
        elicit=elicit if "elicit" in offers else None,
        sample=sample if "sample" in offers else None,
        roots=roots if "roots" in offers else None,
        together=put_all and partial(_together, put_all),
    )


async def _together(put_all: PutAll, asks: Sequence[Ask]) -> Sequence[object]:
    """Put all that fits to the client at once; what does not fit is refused."""
    fits = [_fit(ask) for ask in asks]
    questions = [
        (ask.key, fit[0])
        for ask, fit in zip(asks, fits, strict=True)
        if not isinstance(fit, ToolError)
    ]
    said = iter(await put_all(questions))
    return [fit if isinstance(fit, ToolError) else _read(fit[1], next(said)) for fit in fits]


def _fit(ask: Ask) -> tuple[Question, Callable[[Said], object]] | ToolError:
    try:
        match ask.kind:
            case "elicit":
                return _form(ask)
            case "sample":
                return _for_model(ask.request), _answered
            case "roots":
                return ClientQuestion("roots"), _told
    except ToolError as error:
        return error


def _read(read: Callable[[Said], object], said: Said | ToolError) -> object:
    try:
        return said if isinstance(said, ToolError) else read(said)
    except ToolError as error:
        return error


def _form(ask: Ask) -> tuple[Question, Callable[[Said], object]]:
    form, wrapped = question_form(ask.message, ask.schema)
    return form, lambda said: value_of(form, filled_of(said), wrapped=wrapped)


def _for_model(request: Mapping[str, object]) -> ClientQuestion:
    return ClientQuestion("sample", sampling_request(request))


def _answered(said: Said) -> dict[str, Any]:
    return as_json(sampling_answer(_given(said)))


def _told(said: Said) -> list[dict[str, Any]]:
    return [as_json(root) for root in listed_roots(_given(said).get("roots")).roots]


def _given(said: Said) -> Mapping[str, object]:
    if not isinstance(said, ClientAnswer):
        raise ToolError("E_DENIED", "the client answered something else than what was asked")
    return said.value
