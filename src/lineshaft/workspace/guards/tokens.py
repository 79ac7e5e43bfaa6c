"""Search for tokens of well-known forms in a text, made-up ones left out."""

import hashlib
import re
from collections.abc import Iterator
from functools import cache

from lineshaft.values import KEY_BLOCK, TOKEN_FORMS, Struct

_MOST = 50
"""Of one form in one file."""

_FEWEST_CHARACTERS = 8
_SIGN = "-----BEGIN "


class Token(Struct, frozen=True):
    """The place of a token that looks like a secret; without the token itself."""

    what: str
    line: int
    column: int
    digest: bytes
    """A digest that is equal for equal tokens."""


def tokens_in(data: bytes) -> list[Token]:
    """Return the tokens and private keys in a text, without those that only show the form."""
    text = data.decode("latin-1")
    found: list[Token] = []
    for what, signs, pattern in _forms():
        if any(sign in text for sign in signs):
            real = (m for m in pattern.finditer(text) if _SIGN in signs or not _is_made_up(m[0]))
            found += [
                _token(text, match, what) for match, _ in zip(real, range(_MOST), strict=False)
            ]
    return found


@cache
def _forms() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    return tuple(_compiled())


def _compiled() -> Iterator[tuple[str, tuple[str, ...], re.Pattern[str]]]:
    for form in TOKEN_FORMS:
        yield form.name, form.signs, re.compile(form.pattern, re.ASCII)
    # With part of the key after the first line: code that searches for keys has none.
    headers = r"(?:[A-Za-z-]{1,40}:[^\n]{0,200}\n\s*+){0,5}"
    key = rf"{_SIGN}{KEY_BLOCK}(?:\s|\\[nr])*+{headers}[A-Za-z0-9+/]{{32,}}"
    yield "a private key", (_SIGN,), re.compile(key, re.ASCII)


def _token(text: str, match: re.Match[str], what: str) -> Token:
    begin = match.start()
    return Token(
        what=what,
        line=text.count("\n", 0, begin) + 1,
        column=begin - text.rfind("\n", 0, begin),
        digest=hashlib.sha256(match[0].encode("latin-1")).digest(),
    )


def _is_made_up(token: str) -> bool:
    """Return whether a token only shows its form: `ghp_xxxxxxxx`, an example, plain words."""
    body = re.sub(r"^[A-Za-z]+[-_.]", "", token)
    if "EXAMPLE" in token.upper() or len(set(body)) < _FEWEST_CHARACTERS:
        return True
    words = re.search(r"[-_.]", body) is not None or body.isalpha()
    return words and not (re.search(r"\d", body) and re.search(r"[A-Z]", body))
