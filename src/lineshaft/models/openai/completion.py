"""A reply out of JSON of OpenAI's chat completions, whole or in pieces."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from msgspec import field

from lineshaft.models._messages import ModelReply, RequestedCall, StopReason, TokenUsage
from lineshaft.models._model import OnText
from lineshaft.models._schema import call_in
from lineshaft.values import Struct

_STOPS: Mapping[str, StopReason] = {
    "tool_calls": "calls",
    "function_call": "calls",
    "stop": "end",
    "length": "length",
    "content_filter": "filter",
}
_LETTERS = 4
"""Characters of a token, where a provider does not count."""


class NoCompletion(Exception):
    """The answer has another form than a chat completion."""


class _Call(Struct):
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])


class Completion:
    """One answer, as it comes together.

    Args:
        asked: Characters of the request, for an estimate.
        as_schema: Whether the text is a call.
    """

    def __init__(self, *, asked: int, as_schema: bool) -> None:
        self._asked = asked
        self._as_schema = as_schema
        self._text: list[str] = []
        self._calls: list[_Call] = []
        self._latest: dict[int, _Call] = {}
        self._finish: str | None = None
        self._refused = False
        self._usage: Mapping[str, Any] = {}
        self._model = ""

    def take(self, completion: object) -> None:
        """Take a whole completion.

        Raises:
            NoCompletion: It is none.
        """
        told = _table(completion)
        choice = self._choice(told)
        if told.get("error"):
            raise NoCompletion(_error(told["error"]))
        if choice is None:
            raise NoCompletion("it has no choices")
        self._add(_table(choice.get("message")), in_pieces=False)
        self._finish = self._finish or "stop"

    def piece(self, chunk: object, on_text: OnText) -> None:
        """Take one piece of a stream.

        Raises:
            NoCompletion: It is none, or an error.
        """
        told = _table(chunk)
        if told.get("error"):
            raise NoCompletion(_error(told["error"]))
        choice = self._choice(told)
        if choice is not None:
            text = self._add(_table(choice.get("delta") or {}), in_pieces=True)
            if text:
                on_text(text)

    @property
    def is_whole(self) -> bool:
        """Whether its end has come."""
        return self._finish is not None

    def reply(self) -> ModelReply:
        """Return it."""
        text = _whole(self._text)
        firsts = {call.id: at for at, call in reversed([*enumerate(self._calls)])}
        calls = tuple(
            RequestedCall(
                id=_whole(call.id) if call.id and firsts[call.id] == at else f"call_{at}",
                name=_whole(call.name),
                arguments=_whole(call.arguments),
            )
            for at, call in enumerate(self._calls)
        )
        if self._as_schema and not calls and (call := call_in(text)) is not None:
            text, calls = "", (call,)
        stop: StopReason = _STOPS.get(self._finish or "", "end")
        if self._refused:
            stop = "filter"
        elif calls and stop == "end":
            stop = "calls"
        return ModelReply(
            text=text, calls=calls, stop=stop, usage=self._used(text, calls), model=self._model
        )

    def _choice(self, told: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if isinstance(told.get("model"), str):
            self._model = told["model"]
        if isinstance(told.get("usage"), Mapping):
            self._usage = told["usage"]
        choices = _list(told.get("choices"))
        if not choices:
            return None
        choice = _table(choices[0])
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:  # some say "" until it comes
            self._finish = finish
        return choice

    def _add(self, said: Mapping[str, Any], *, in_pieces: bool) -> str:
        text = _words(said.get("content"))
        if isinstance(said.get("refusal"), str) and said["refusal"]:
            text, self._refused = text + said["refusal"], True
        self._text.append(text)
        for at, each in enumerate(_list(said.get("tool_calls"))):
            told = _table(each)
            index = told.get("index") if in_pieces else at
            function = _table(told.get("function") or {})
            call_id, name = (
                value if isinstance(value, str) else ""
                for value in (told.get("id"), function.get("name"))
            )
            call = self._call(index, at, call_id=call_id, name=name)
            call.id, call.name = call.id or call_id, call.name or name
            call.arguments.append(_arguments(function.get("arguments")))
        return text

    def _call(self, index: object, at: int, *, call_id: str, name: str) -> _Call:
        """Return the call that a piece belongs to; some servers number none, or all alike."""
        key = index if isinstance(index, int) else at
        call = self._latest.get(key)
        if call is None or (name and call_id and call.id not in ("", call_id)):
            call = self._latest[key] = _Call()
            self._calls.append(call)
        return call

    def _used(self, text: str, calls: tuple[RequestedCall, ...]) -> TokenUsage:
        asked, answered = self._usage.get("prompt_tokens"), self._usage.get("completion_tokens")
        if not (_is_count(asked) and _is_count(answered)):
            said = len(text) + sum(len(call.name) + len(call.arguments) for call in calls)
            return TokenUsage(
                input_tokens=self._asked // _LETTERS,
                output_tokens=said // _LETTERS,
                estimated=True,
            )
        cached = _table(self._usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        return TokenUsage(
            input_tokens=cast("int", asked),
            output_tokens=cast("int", answered),
            cached_tokens=min(cast("int", cached), cast("int", asked)) if _is_count(cached) else 0,
        )


def error_in(text: str) -> str:
    """Return what a server says of an error, out of the body of its answer."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return " ".join(text.split())
    if isinstance(told, Mapping) and "error" in told:
        return _error(cast("Mapping[str, object]", told)["error"])
    return " ".join(text.split())


def _error(said: object) -> str:
    if isinstance(said, Mapping):
        told = cast("Mapping[str, object]", said)
        return " ".join(str(told.get("message", dict(told))).split())
    return " ".join(str(said).split())


def _list(value: object) -> list[object]:
    if not isinstance(value, list | None):
        raise NoCompletion(f"it has {type(value).__name__} where a list belongs")
    return cast("list[object]", value or [])


def _table(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise NoCompletion(f"it has {type(value).__name__} where an object belongs")
    return cast("Mapping[str, Any]", value)


def _words(content: object) -> str:
    """Return the text of a content: text, parts of which some are text, or nothing."""
    if isinstance(content, list):
        parts = [_table(part).get("text") for part in cast("list[object]", content)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _arguments(said: object) -> str:
    """Return arguments as text: some servers give the object itself."""
    if said is None or isinstance(said, str):
        return said or ""
    try:
        return json.dumps(said)
    except RecursionError:
        raise NoCompletion("its arguments are nested too deeply") from None


def _whole(pieces: Iterable[str]) -> str:
    """Return pieces as one text: a character may be cut in two, and a half of it has no record."""
    text = "".join(pieces)
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
