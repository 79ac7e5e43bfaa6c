"""What secrets look like in text.

Every expression takes time in proportion to the text, whatever the text is: what comes before a
secret is never scanned twice, and runs are taken whole or have a bound. An expression is tried only
where one of its signs is in the text.
"""

import re
from dataclasses import dataclass

HIDDEN = "[redacted]"
"""Stands where a secret stood."""


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of secret."""

    signs: tuple[str, ...]
    """One of them is in the text, or no such secret is."""

    pattern: re.Pattern[str]
    put: str = HIDDEN
    """What stands there instead; may name groups."""

    needs: str = ""
    """One of these characters is in the text as well; then signs are found in any case."""


# Not in the middle of a word, but after an escaped line break or a percent sign's digits.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"

_PREFIXED: dict[tuple[str, ...], str] = {
    ("AKIA", "ASIA", "ABIA", "ACCA"): r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}",
    ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"): r"gh[pousr]_[A-Za-z0-9]{20,}",
    ("github_pat_",): r"github_pat_[A-Za-z0-9_]{20,}",
    ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glsoat-", "glagent-"): (
        r"gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent)-[\w.-]{16,}"
    ),
    ("xox", "xapp-", "xwfp-"): r"(?:xox[a-z]|xapp|xwfp)-[\w-]{10,}",
    ("sk-",): rf"{_START}sk-[\w-]{{16,}}",
    ("sk_", "rk_", "whsec_"): r"(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}",
    ("AIza",): r"AIza[\w-]{35}",
    ("ya29.",): r"ya29\.[\w-]{16,}",
    ("npm_",): rf"{_START}npm_[A-Za-z0-9]{{30,}}",
    ("pypi-AgE",): r"pypi-AgE[\w-]{16,}",
    ("hf_",): rf"{_START}hf_[A-Za-z0-9]{{30,}}",
    ("SG.",): rf"{_START}SG\.[\w-]{{16,64}}\.[\w-]{{16,}}",
    ("_v1_",): r"do[opr]_v1_[a-f0-9]{64}",
    ("hvs.", "hvb."): rf"{_START}hv[sb]\.[\w-]{{20,}}",
    ("dapi",): rf"{_START}dapi[a-f0-9]{{32}}",
    ("AGE-SECRET-KEY-",): r"AGE-SECRET-KEY-[A-Z0-9]{20,}",
}

_KEY_BLOCK = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"

_NAME = (
    r"(?:pass(?:words?|wd|phrase)|(?<![a-z])pwd(?!=/)|secrets?(?:[_-]?key)?|token|credentials?"
    r"|(?:api|access|account|private|signing|encryption|master)[_-]?key|connection[_-]?string"
    r"|(?<![a-z])(?:auth(?:orization)?|dsn|webhook)|(?-i:(?<=[A-Z0-9])_KEY))"
)
# The word ends here: what follows is no more of it, as in `tokenizer` or `AUTHOR`.
_WORD_ENDS = r"(?-i:(?<=[a-z])(?![a-z])|(?<=[A-Z])(?![A-Za-z]))"
_ABOUT = (
    r"(?![_.-]?(?:count|type|name|limit|url|uri|path|file|field|len|size|ttl|expir|index|budget"
    r"|usage|policy|prompt|format|provider|store|required))"
)
_PLAIN_WORDS = (
    r"(?!(?:none|null|nil|true|false|undefined|str|string|int|integer|float|number|bytes|bool"
    r"|boolean|object|any|optional|required|self|secretstr|basic|bearer|digest|yes|no)(?![\w.+/-]))"
)
_SEPARATOR = r"\\?[\"']?[ \t]{0,8}(?::=|=>|=|:)[ \t]{0,8}"
_SCHEME = r"(?:(?:basic|bearer|digest|token|negotiate|apikey)[ \t]{1,8})?"
_OPENING = r"(?:[rbfu]{0,2}(?P<quote>\\?[\"']))?"
_QUOTED = r"(?:(?!(?P=quote))(?:\\.|[^\n\\]))++"
_SAME_NAME = r"(?!(?:\w{1,40}\.){0,4}_?(?P=name)(?![\w.+/-]))"
_PLAIN = r"[^\s\"'`,;&<>(){}\[\]|\\]{3,}+(?![(\[])"

_ASSIGNED = Format(
    (
        *("passwo", "passwd", "passphrase", "pwd", "secret", "token", "credential", "key"),
        *("connection", "auth", "dsn", "webhook"),
    ),
    re.compile(
        rf"(?=[_PSTCADWMEpstcadwme])"
        rf"(?P<kept>(?P<name>{_NAME}){_WORD_ENDS}{_ABOUT}[\w.-]{{0,40}}+"
        rf"{_SEPARATOR}{_SCHEME}{_OPENING})"
        rf"(?(quote){_QUOTED}|{_PLAIN_WORDS}{_SAME_NAME}{_PLAIN})",
        re.ASCII | re.IGNORECASE,
    ),
    rf"\g<kept>{HIDDEN}",
    needs="=:",
)

OPEN_KEY = re.compile(rf"-----BEGIN {_KEY_BLOCK}(?!.*?-----END {_KEY_BLOCK})", re.DOTALL)
"""A key block whose end is not there yet."""

FORMATS: tuple[Format, ...] = (
    Format(
        ("-----BEGIN ",),
        re.compile(rf"-----BEGIN {_KEY_BLOCK}(?:.*?-----END {_KEY_BLOCK}|.*)", re.DOTALL),
    ),
    Format(
        ("://",),
        re.compile(
            r"(://[^\s/:@\"'`<>\\]{0,256}+:)[^\s/\"'`<>\\]+@"
            r"|(://)[^\s/:@\"'`<>\\]{20,256}+@"
        ),
        rf"\1\2{HIDDEN}@",
    ),
    Format(
        ("hooks.slack.com/", "/api/webhooks/"),
        re.compile(r"(hooks\.slack\.com/\w{1,20}/|/api/webhooks/\d{1,25}/)[\w/+-]{8,}", re.ASCII),
        rf"\1{HIDDEN}",
    ),
    _ASSIGNED,
    Format(
        tuple(sign for signs in _PREFIXED for sign in signs),
        re.compile("|".join(_PREFIXED.values()), re.ASCII),
    ),
    Format(
        ("eyJ",),
        re.compile(r"(?<![\w-])(?>([\w-]*?)eyJ)[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)*+", re.ASCII),
        rf"\1{HIDDEN}",
    ),
    Format(
        ("bearer", "basic"),
        re.compile(
            r"(?<![A-Za-z])((?:bearer|basic)[ \t]{1,8})[\w.~+/=-]{16,}", re.ASCII | re.IGNORECASE
        ),
        rf"\1{HIDDEN}",
        needs=" \t",
    ),
    Format(
        ("cookie",),
        re.compile(r"(?<![A-Za-z])((?:set-)?cookie:[ \t]{0,8}+)[^\r\n]+", re.ASCII | re.IGNORECASE),
        rf"\1{HIDDEN}",
        needs=":",
    ),
    Format(
        ("sig=", "signature="),
        re.compile(r"(\bsig(?:nature)?=)[\w%+/=-]{16,}", re.ASCII | re.IGNORECASE),
        rf"\1{HIDDEN}",
        needs="=",
    ),
    Format(
        ("--",),
        re.compile(
            r"((?<![\w-])--?[\w-]{0,40}?(?:pass(?:word|wd|phrase)|secret|token|api-?key|credential)"
            rf"{_ABOUT}"
            r"[\w-]{0,20}[ \t]{1,8})(?![-\[])[^\s\"']+",
            re.ASCII | re.IGNORECASE,
        ),
        rf"\1{HIDDEN}",
    ),
)
"""In the order in which they are looked for."""
