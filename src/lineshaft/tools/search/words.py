"""Conversion of text to comparable words: split, without endings, phrases as one word.

The vocabulary of synonyms is `vocabulary.toml`.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypedDict, cast


class Vocabulary(TypedDict):
    """The file of words."""

    same: list[str]
    doing: list[str]
    near: list[str]
    noise: list[str]
    vague: list[str]
    phrases: Mapping[str, str]


_FILE = Path(__file__).with_name("vocabulary.toml")
_VOCABULARY = cast("Vocabulary", tomllib.loads(_FILE.read_text(encoding="utf-8")))
_PHRASES = _VOCABULARY["phrases"]
_NOISE = frozenset(" ".join(_VOCABULARY["noise"]).split())

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LONGEST = 40
"""Longer words are cut: they are data."""

_VOWELS = frozenset("aeiouy")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")


def spelled(text: str) -> list[str]:
    """Return the words of a text as they stand there, `camelCase` and `snake_case` split."""
    return [word[:_LONGEST].casefold() for word in _WORD.findall(_CAMEL.sub(" ", text))]


def indexed(text: str) -> list[str]:
    """Return the words under which a text is found; those of a phrase stand there too."""
    words = spelled(text)
    return _stems(words) + [word for _, _, means in _phrases(words) for word in means]


def asked(text: str) -> list[str]:
    """Return the words of a request, each once; a phrase stands for its own words."""
    words = spelled(text)
    kept: list[str] = []
    at = 0
    for start, end, means in _phrases(words):
        kept += [*_stems(words[at:start]), *means]
        at = end
    kept += _stems(words[at:])
    return list(dict.fromkeys(kept))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return a word without the endings that English gives it.

    Args:
        word: In lower case.
    """
    if len(word) <= 3 or not word.isascii():
        return word
    word = _singular(word)
    word = word.replace("isation", "ization")
    for ending in ("ization", "ation", "ing", "ion", "ed", "ly"):
        start = word.removesuffix(ending)
        if start == word or len(start) < 3 or not _VOWELS & set(start):
            continue
        if ending == "ion" and start[-1] not in "st":
            continue
        if ending in ("ing", "ed"):
            start = _DOUBLED.sub(r"\1", start)
        word = {"ization": f"{start}iz", "ation": f"{start}at"}.get(ending, start)
        break
    if len(word) > 6 and word.endswith("ise"):
        word = f"{word[:-3]}ize"
    if len(word) > 3 and word[-1] == "e":
        return word[:-1]
    return f"{word[:-1]}i" if len(word) > 3 and word[-1] == "y" else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _stems(words: list[str]) -> list[str]:
    return [stem(word) for word in words if word not in _NOISE]


def _phrases(words: list[str]) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return the places of phrases, and their meanings; none within another."""
    found: list[tuple[int, int, tuple[str, ...]]] = []
    at = 0
    while at < len(words):
        for tail, means in _BEGINNINGS.get(words[at], ()):
            end = at + 1 + len(tail)
            if words[at + 1 : end] == tail:
                found.append((at, end, means))
                at = end - 1
                break
        at += 1
    return found


def _beginnings() -> dict[str, list[tuple[list[str], tuple[str, ...]]]]:
    """Return the phrases by their first words, the longest first."""
    table: dict[str, list[tuple[list[str], tuple[str, ...]]]] = {}
    for phrase in sorted(_PHRASES, key=lambda phrase: -len(phrase.split())):
        first, *tail = phrase.split()
        means = tuple(stem(word) for word in _PHRASES[phrase].split())
        table.setdefault(first, []).append((tail, means))
    return table


def _related(groups: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the stems of the other words of its groups, for the stem of each word."""
    others: dict[str, set[str]] = {}
    for group in groups:
        words = [stem(word) for word in group.split()]
        for word in words:
            others.setdefault(word, set()).update(words)
    return {word: frozenset(found - {word}) for word, found in others.items()}


_BEGINNINGS = _beginnings()
same_as = _related(_VOCABULARY["same"])
"""Other forms of a word."""

near_to = _related([*_VOCABULARY["doing"], *_VOCABULARY["near"]])
"""Words that often stand for a word."""

doing = frozenset(stem(word) for word in " ".join(_VOCABULARY["doing"]).split())
"""Words for what a tool does."""

vague = frozenset(stem(word) for word in " ".join(_VOCABULARY["vague"]).split())
"""Words by which no tool is known to fit, or not to fit."""
