"""A conversation that another goes on with: each call in it has an answer.

Providers refuse a conversation with a call that nobody answered. The one that ended a microagent is
such a call, and so is every call of a turn in whose middle a budget was used up.
"""

from collections.abc import Iterator, Sequence

from lineshaft.agents._exit import EXIT, GIVE_UP
from lineshaft.models import CallAnswer, Message, ModelReply, RequestedCall

_ENDED = "The work so far ended with this call."
_NO_ANSWER = "No answer: the work so far ended before there was one."


def answered(conversation: Sequence[Message]) -> Iterator[Message]:
    """Yield a conversation, with an answer for each call that has none.

    Args:
        conversation: As a run has left it.
    """
    waiting: dict[str, RequestedCall] = {}
    for message in conversation:
        if isinstance(message, CallAnswer):
            waiting.pop(message.id, None)
        else:
            yield from map(_missing, waiting.values())
            calls = message.calls if isinstance(message, ModelReply) else ()
            waiting = {call.id: call for call in calls}
        yield message
    yield from map(_missing, waiting.values())


def _missing(call: RequestedCall) -> CallAnswer:
    ends = call.name in (EXIT, GIVE_UP)
    return CallAnswer(
        id=call.id, name=call.name, text=_ENDED if ends else _NO_ANSWER, failed=not ends
    )
