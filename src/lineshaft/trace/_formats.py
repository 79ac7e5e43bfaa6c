"""Forms of secrets in text.

Each expression takes time in proportion to any text: the part before a secret is never scanned
twice, and repeated characters are matched whole or have a bound. An expression is tried only where
one of its signs is in the text.
"""

import re
from collections.abc import Callable

from lineshaft.values import KEY_BLOCK, TOKEN_FORMS, Struct, lazy_pattern

HIDDEN = "[redacted]"
"""The replacement of a secret."""


class Format(Struct, frozen=True):
    """One kind of secret."""

    signs: tuple[str, ...]
    """One of them is in the text, or no such secret is."""

    pattern: Callable[[], re.Pattern[str]]
    """Compiled when a sign is first seen."""

    put: str | Callable[[re.Match[str]], str] = HIDDEN
    """The replacement; may name groups."""

    needs: str = ""
    """One of these characters is in the text as well; then signs are found in any case."""


NAME = (
    r"(?:pass(?:words?|wd|phrase)|(?<![a-z])pwd(?!=/)|secrets?(?:[_-]?key)?|token|credentials?"
    r"|(?:api|access|account|private|signing|encryption|master)[_-]?key|connection[_-]?string"
    r"|(?<![a-z])(?:auth(?:orization)?|dsn|webhook)|(?-i:(?<=[A-Z0-9])_KEY))"
)
# The word ends here: no further letters follow, as in `tokenizer` or `AUTHOR`.
WORD_ENDS = r"(?-i:(?<=[a-z])(?![a-z])|(?<=[A-Z])(?![A-Za-z]))"
ABOUT = (
    r"(?![_.-]?(?:count|type|name|limit|url|uri|path|file|field|len|size|ttl|expir|index|budget"
    r"|usage|policy|prompt|format|provider|store|required))"
)
PLAIN_WORDS = (
    r"(?!(?:none|null|nil|true|false|undefined|str|string|int|integer|float|number|bytes|bool"
    r"|boolean|object|any|optional|required|self|secretstr|basic|bearer|digest|yes|no)(?![\w.+/-]))"
)
_SEPARATOR = r"\\?[\"']?[ \t]{0,8}(?::=|=>|=|:)[ \t]{0,8}"
SCHEME = r"(?:(?:basic|bearer|digest|token|negotiate|apikey)[ \t]{1,8})?+"
OPENING = r"(?:[rbfu]{0,2}(?P<quote>\\?[\"']))?"
_QUOTED = r"(?:(?!(?P=quote))(?:\\.|[^\n\\]))++"
SAME_NAME = r"(?!(?:\w{1,40}\.){0,4}_?(?P=name)(?![\w.+/-]))"
_PLAIN = r"[^\s\"'`,;&<>(){}\[\]|\\]{3,}+(?![(\[])"


SIGNS_OF_NAMES = (
    *("passwo", "passwd", "passphrase", "pwd", "secret", "token", "credential", "key"),
    *("connection", "auth", "dsn", "webhook"),
)

_ASSIGNED = Format(
    SIGNS_OF_NAMES,
    lazy_pattern(
        rf"(?=[_PSTCADWMEpstcadwme])"
        rf"(?P<kept>(?P<name>{NAME}){WORD_ENDS}{ABOUT}[\w.-]{{0,40}}+"
        rf"{_SEPARATOR}{SCHEME}{OPENING})"
        rf"(?(quote){_QUOTED}|{PLAIN_WORDS}{SAME_NAME}{_PLAIN})",
        re.ASCII | re.IGNORECASE,
    ),
    rf"\g<kept>{HIDDEN}",
    needs="=:",
)

_SECRETS = ("password", "passwd", "passphrase", "secret", "token")
SIGNS_OF_FLAGS = (*_SECRETS, "apikey", "api-key", "credential")

HOOKS = Format(
    ("hooks.slack.com/", "/api/webhooks/"),
    lazy_pattern(r"(hooks\.slack\.com/\w{1,20}/|/api/webhooks/\d{1,25}/)[\w/+-]{8,}", re.ASCII),
    rf"\1{HIDDEN}",
)

TOKENS = tuple(Format(form.signs, lazy_pattern(form.pattern, re.ASCII)) for form in TOKEN_FORMS)
"""Each by itself: an expression that begins with a sign is quick."""

JWT = Format(
    ("eyJ",),
    lazy_pattern(r"(?<![\w-])(?>([\w-]*?)eyJ)[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)*+", re.ASCII),
    rf"\1{HIDDEN}",
)

BEARER = Format(
    ("bearer", "basic"),
    lazy_pattern(
        r"(?<![A-Za-z])((?:bearer|basic)[ \t]{1,8})[\w.~+/=-]{16,}", re.ASCII | re.IGNORECASE
    ),
    rf"\1{HIDDEN}",
    needs=" \t",
)

SIGNATURE = Format(
    ("sig=", "signature="),
    lazy_pattern(r"(\bsig(?:nature)?=)[\w%+/=-]{16,}", re.ASCII | re.IGNORECASE),
    rf"\1{HIDDEN}",
    needs="=",
)

OPEN_KEY = re.compile(rf"-----BEGIN {KEY_BLOCK}(?!.*?-----END {KEY_BLOCK})", re.DOTALL)
"""A key block whose end is not there yet."""

FORMATS: tuple[Format, ...] = (
    Format(
        ("-----BEGIN ",),
        lazy_pattern(rf"-----BEGIN {KEY_BLOCK}(?:.*?-----END {KEY_BLOCK}|.*)", re.DOTALL),
    ),
    Format(  # a key whose beginning was cut off
        ("-----END ",),
        lazy_pattern(rf"(?<![\w+/=\s])[\w+/=\s]*+-----END {KEY_BLOCK}", re.ASCII),
    ),
    Format(
        ("://",),
        lazy_pattern(
            r"(://[^\s/:@\"'`<>\\]{0,256}+:)[^\s/\"'`<>\\]+@"
            r"|(://)[^\s/:@\"'`<>\\]{20,256}+@"
        ),
        rf"\1\2{HIDDEN}@",
    ),
    HOOKS,
    _ASSIGNED,
    *TOKENS,
    JWT,
    BEARER,
    Format(
        ("cookie",),
        lazy_pattern(
            r"(?<![A-Za-z])((?:set-)?cookie:[ \t]{0,8}+)[^\r\n]+", re.ASCII | re.IGNORECASE
        ),
        rf"\1{HIDDEN}",
        needs=":",
    ),
    SIGNATURE,
    Format(
        SIGNS_OF_FLAGS,
        lazy_pattern(
            r"((?<![\w-])--?[\w-]{0,40}?(?:pass(?:word|wd|phrase)|secret|token|api-?key|credential)"
            rf"{ABOUT}"
            r"[\w-]{0,20}[ \t]{1,8})(?![-\[])[^\s\"']+",
            re.ASCII | re.IGNORECASE,
        ),
        rf"\1{HIDDEN}",
        needs="-",
    ),
)
"""In the order in which they are looked for."""
