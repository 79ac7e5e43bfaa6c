"""Tokens counted on this machine: an encoding out of a package, nothing is fetched."""

import json
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache

from lineshaft.models import CallAnswer, Message, ModelReply, ModelRequest
from lineshaft.values import Struct

_ENCODING = "cl100k_base"
_AT_ONCE = 100_000
_LETTERS = 4
_KEPT = 4_096
_COPIES = "TIKTOKEN_CACHE_DIR"


class Tokeniser(Struct, frozen=True):
    """A way to count, by the name that stands beside every count."""

    name: str
    count: Callable[[str], int]
    is_estimate: bool = False

    def of_request(self, request: ModelRequest) -> int:
        """Return the tokens of all texts of a request, tools included."""
        offered = [
            {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
            for tool in request.tools
        ]
        tools = json.dumps(offered, ensure_ascii=False, separators=(",", ":"))
        return self.count(tools) + sum(map(self.of_message, request.messages))

    def of_message(self, message: Message) -> int:
        """Return the tokens of one message: its text, and the calls in it."""
        own = self.count(message.text)
        if isinstance(message, ModelReply):
            own += sum(self.count(call.name) + self.count(call.arguments) for call in message.calls)
        if isinstance(message, CallAnswer):
            own += self.count(message.name)
        return own


def offline_tokeniser() -> Tokeniser:
    """Return the best way to count that is here.

    Returns:
        `cl100k_base` with the extra `tokens`; otherwise `characters/4`, an estimate.
    """
    try:
        import tiktoken  # noqa: PLC0415  an extra

        with _no_copy():
            encoding = tiktoken.get_encoding(f"{_ENCODING}_offline")
    except (ImportError, ValueError):
        name = f"characters/{_LETTERS}"
        return Tokeniser(name, lambda text: -(-len(text) // _LETTERS), is_estimate=True)

    @lru_cache(maxsize=_KEPT)
    def count(text: str) -> int:
        parts = (text[at : at + _AT_ONCE] for at in range(0, len(text), _AT_ONCE))
        return sum(len(encoding.encode(part, disallowed_special=())) for part in parts)

    return Tokeniser(_ENCODING, count)


@contextmanager
def _no_copy() -> Generator[None]:
    """Keep tiktoken from copying the package's file into the machine's temporary folder."""
    before = os.environ.get(_COPIES)
    os.environ[_COPIES] = ""
    try:
        yield
    finally:
        if before is None:
            del os.environ[_COPIES]
        else:
            os.environ[_COPIES] = before
