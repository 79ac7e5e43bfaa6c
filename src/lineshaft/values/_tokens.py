"""Forms of the tokens of well-known services, for redaction and for the guard on secrets.

Each expression takes time in proportion to any text: repeated characters are matched whole.
"""

from lineshaft.values._struct import Struct


def _starts(sign: str) -> str:
    """Return an expression for a sign that is not in the middle of a word.

    It may stand after an escaped line break or a percent sign's digits. The sign comes first: a
    search looks for that alone.
    """
    return rf"{sign}(?:(?<![A-Za-z0-9]{sign})|(?<=\\[nrt]{sign})|(?<=%[0-9A-Fa-f]{{2}}{sign}))"


class TokenForm(Struct, frozen=True, kw_only=True):
    """One kind of token."""

    name: str
    """In words that follow "looks like ": `a GitHub token`."""

    signs: tuple[str, ...]
    """One of them is in the text, or no such token is."""

    pattern: str
    """A regular expression, for ASCII text."""


def _form(name: str, pattern: str, *signs: str) -> TokenForm:
    return TokenForm(name=name, pattern=pattern, signs=signs)


TOKEN_FORMS: tuple[TokenForm, ...] = (
    _form(
        "an AWS access key",
        r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}",
        *("AKIA", "ASIA", "ABIA", "ACCA"),
    ),
    _form(
        "a GitHub token",
        r"gh[pousr]_[A-Za-z0-9]{20,}",
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    ),
    _form("a GitHub token", r"github_pat_[A-Za-z0-9_]{20,}", "github_pat_"),
    _form(
        "a GitLab token",
        r"gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent)-[\w.-]{16,}",
        *("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glsoat-", "glagent-"),
    ),
    _form("a Slack token", r"(?:xox[a-z]|xapp|xwfp)-[\w-]{10,}", "xox", "xapp-", "xwfp-"),
    _form("an API key of a model provider", rf"{_starts('sk-')}[\w-]{{16,}}", "sk-"),
    _form(
        "a Stripe key",
        r"(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}",
        *("sk_", "rk_", "whsec_"),
    ),
    _form("a Google API key", r"AIza[\w-]{35}", "AIza"),
    _form("a Google access token", r"ya29\.[\w-]{16,}", "ya29."),
    _form("an npm token", rf"{_starts('npm_')}[A-Za-z0-9]{{30,}}", "npm_"),
    _form("a PyPI token", r"pypi-AgE[\w-]{16,}", "pypi-AgE"),
    _form("a Hugging Face token", rf"{_starts('hf_')}[A-Za-z0-9]{{30,}}", "hf_"),
    _form("a SendGrid key", rf"{_starts('SG[.]')}[\w-]{{16,64}}\.[\w-]{{16,}}", "SG."),
    _form("a DigitalOcean token", r"do[opr]_v1_[a-f0-9]{64}", "_v1_"),
    _form("a Vault token", rf"{_starts('hv[sb][.]')}[\w-]{{20,}}", "hvs.", "hvb."),
    _form("a Databricks token", rf"{_starts('dapi')}[a-f0-9]{{32}}", "dapi"),
    _form("an age key", r"AGE-SECRET-KEY-[A-Z0-9]{20,}", "AGE-SECRET-KEY-"),
)
"""In no order."""

KEY_BLOCK = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
"""How the first and last line of a private key go on after `-----BEGIN ` and `-----END `."""
