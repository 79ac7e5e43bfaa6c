"""Forms of secrets in text that a person decides on: nothing that may act is hidden.

What stands behind a telling name is a secret only where it is one plain word, and no path: a shell
could run anything else. Tokens of known form are words as well. Each expression takes time in
proportion to any text, as in `_formats`.
"""

import re

from lineshaft.trace._formats import (
    ABOUT,
    BEARER,
    HIDDEN,
    HOOKS,
    JWT,
    NAME,
    OPENING,
    PLAIN_WORDS,
    SAME_NAME,
    SCHEME,
    SIGNATURE,
    SIGNS_OF_FLAGS,
    SIGNS_OF_NAMES,
    TOKENS,
    WORD_ENDS,
    Format,
)
from lineshaft.values import KEY_BLOCK, lazy_pattern

_WORD = r"(?![/.~])[A-Za-z0-9+/=_.~-]"
_IS_WORD = re.compile(rf"{_WORD}+")
_ENDS = r"(?=[\s\"'`,;&|<>(){}\[\]]|\\[nrt\"']|\Z)(?![(\[])"
_LINE_ENDS = r"(?![ \t]+[^\s#])"
# A shell takes `NAME= word`, and `NAME=basic word`, for a command.
_TIGHT = r"(?P<tight>\\?[\"']?(?::=|=>|=|:)(?![ \t]))"
_TOLD = rf"\\?[\"']?[ \t]{{0,8}}(?::=|=>|:)[ \t]{{0,8}}{SCHEME}"
_BLANKS = r"\\?[\"']?[ \t]{1,8}=[ \t]{1,8}"

_KEY_LINE = r"[A-Za-z0-9+/=]{40,}+"
_BREAK = r"(?:\r?\n|\\r\\n|\\n| )[+ -]?[ \t]{0,16}"
_HEADERS = rf"(?:{_BREAK}[A-Za-z-]{{1,20}}: [^\r\n\\]{{0,200}}+){{0,4}}+(?:{_BREAK}){{0,3}}?"


def is_word(text: str) -> bool:
    """Return whether a text under a telling name is a secret: one plain word, and no path."""
    return _IS_WORD.fullmatch(text) is not None


def _cookies(match: re.Match[str]) -> str:
    return re.sub(r"=[^;]+", f"={HIDDEN}", match[0])


PLAIN_FORMATS: tuple[Format, ...] = (
    Format(
        ("-----BEGIN ",),
        lazy_pattern(
            rf"(-----BEGIN {KEY_BLOCK}{_HEADERS})"
            rf"{_KEY_LINE}(?:{_BREAK}{_KEY_LINE}){{0,1000}}+(?:{_BREAK}[A-Za-z0-9+/=]{{16,39}}+)?"
        ),
        rf"\1{HIDDEN}",
    ),
    Format(  # a key whose beginning is not in the part that a diff shows
        ("-----END ",),
        lazy_pattern(
            rf"(?<![A-Za-z0-9+/=])(?:{_KEY_LINE}{_BREAK}){{1,8}}+(?:[A-Za-z0-9+/=]{{16,39}}+{_BREAK})?"
            rf"((?:[A-Za-z0-9+/=]{{1,15}}+{_BREAK})?-----END {KEY_BLOCK})"
        ),
        rf"{HIDDEN} \1",
    ),
    Format(
        ("://",),
        lazy_pattern(
            r"(://[\w.~%+-]{0,256}+:)(?:[\w.~%+=:,-]*+@)++|(://)[\w.~%+=-]{20,256}+@", re.ASCII
        ),
        rf"\1\2{HIDDEN}@",
    ),
    HOOKS,
    Format(
        SIGNS_OF_NAMES,
        lazy_pattern(
            rf"(?=[_PSTCADWMEpstcadwme])"
            rf"(?P<kept>(?P<name>{NAME}){WORD_ENDS}{ABOUT}[\w.-]{{0,40}}+"
            rf"(?:{_TIGHT}|{_TOLD}|{_BLANKS}){OPENING})"
            rf"(?(quote){_WORD}++(?=(?P=quote))"
            rf"|{PLAIN_WORDS}{SAME_NAME}{_WORD}{{3,}}+{_ENDS}(?(tight)|{_LINE_ENDS}))",
            re.ASCII | re.IGNORECASE,
        ),
        rf"\g<kept>{HIDDEN}",
        needs="=:",
    ),
    *TOKENS,
    JWT,
    BEARER,
    Format(
        ("cookie",),
        lazy_pattern(
            r"(?<![A-Za-z])(?:set-)?cookie:[ \t]{0,8}+[\w.-]{1,80}+=[\w.%+/=~-]++"
            r"(?:;[ ]?[\w.-]{1,80}+=[\w.%+/=~-]++)*+",
            re.ASCII | re.IGNORECASE,
        ),
        _cookies,
        needs=":",
    ),
    SIGNATURE,
    Format(
        SIGNS_OF_FLAGS,
        lazy_pattern(
            r"((?<![\w-])--?[\w-]{0,40}?(?:pass(?:word|wd|phrase)|secret|token|api-?key|credential)"
            rf"{ABOUT}[\w-]{{0,20}}[ \t]{{1,8}})(?!-){_WORD}++{_ENDS}",
            re.ASCII | re.IGNORECASE,
        ),
        rf"\1{HIDDEN}",
        needs="-",
    ),
)
"""In the order in which they are looked for."""
