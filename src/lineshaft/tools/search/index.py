"""An index of a catalogue, which finds tools for some words by BM25 over weighted fields.

Pure and in memory. Names and descriptions are only words here: there is no query language that they
could be a part of.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lineshaft.tools.schemas import as_schema
from lineshaft.tools.search.words import asked, indexed, near_to, same_as
from lineshaft.values import ToolSpec

_K1 = 2.0
_LONGEST_TEXT = 4_000
_LONGEST_REQUEST = 2_000
_MOST_PARAMETERS = 60
_MOST_WORDS = 32

_SAME = 0.9
_NEAR = 0.5
_BEGUN = 0.5
_MISSPELT = 0.6

_ENOUGH = 0.2
"""The share of a request that a tool must have, its words weighted by rarity."""


_NEXT_TO_BEST = 0.35
"""A tool that fits so much less than the best one is not named."""


@dataclass(frozen=True, slots=True)
class _Field:
    """A part of a tool's description."""

    weight: float
    """The weight of a word there."""

    length: float
    """How much a long text there is held against it: 0 to 1."""


_FIELDS = (
    _Field(4.0, 0.5),  # its own name
    _Field(3.0, 0.0),  # its namespace
    _Field(2.0, 0.5),  # the first line of its description
    _Field(0.7, 0.7),  # the rest
    _Field(0.8, 0.5),  # names of parameters
    _Field(0.4, 0.7),  # what is said of parameters
)


class Index:
    """An index of tools.

    Args:
        specs: The tools.
    """

    def __init__(self, specs: Sequence[ToolSpec]) -> None:
        self.specs = tuple(specs)
        texts = [_texts(spec) for spec in self.specs]
        means = [
            max(1.0, sum(len(text[field]) for text in texts) / max(1, len(texts)))
            for field in range(len(_FIELDS))
        ]
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for number, text in enumerate(texts):
            for word, weight in _weights(text, means).items():
                self._postings.setdefault(word, []).append((number, weight / (weight + _K1)))
        self._shortened: dict[str, list[str]] = {}

    def search(self, request: str) -> list[ToolSpec] | None:
        """Return the tools that fit a request, the best first; None where it has no words."""
        words = asked(request[:_LONGEST_REQUEST])[:_MOST_WORDS]
        if not words:
            return None
        total = 0.0
        scores: dict[int, float] = {}
        had: dict[int, float] = {}
        for word in words:
            hits = self._hits(word)
            rarity = self._rarity(len(hits))
            total += rarity
            for number, hit in hits.items():
                scores[number] = scores.get(number, 0.0) + hit
                had[number] = had.get(number, 0.0) + rarity
        least = _NEXT_TO_BEST * max(scores.values(), default=0.0)
        found = [n for n in scores if had[n] >= _ENOUGH * total and scores[n] >= least]
        return [self.specs[n] for n in sorted(found, key=lambda n: (-scores[n], n))]

    def _hits(self, word: str) -> dict[int, float]:
        """Return the score of a word for each tool that has it, or a similar word."""
        best: dict[int, float] = {}
        own = self._rarity(len(self._postings.get(word, ())))
        for other, likeness in self._likes(word).items():
            having = self._postings[other]
            factor = likeness * min(own, self._rarity(len(having)))
            for number, weight in having:
                best[number] = max(best.get(number, 0.0), factor * weight)
        return best

    def _rarity(self, having: int) -> float:
        """Return the weight of a word that so many tools have."""
        return math.log(1 + (len(self.specs) - having + 0.5) / (having + 0.5))

    def _likes(self, word: str) -> dict[str, float]:
        """Return the words of the index that may be meant by a word, with how likely that is."""
        likes: dict[str, float] = {}
        if word in self._postings:
            likes[word] = 1.0
        for others, likeness in ((same_as, _SAME), (near_to, _NEAR)):
            for other in others.get(word, ()):
                if other in self._postings:
                    likes.setdefault(other, likeness)
        if word not in self._postings and len(word) >= 3:
            for other, likeness in self._unclear(word):
                likes.setdefault(other, likeness)
        return likes

    def _unclear(self, word: str) -> Iterable[tuple[str, float]]:
        """Return words that begin like an unknown one, or else those that it may be spelt for."""
        begun = [other for other in self._postings if other.startswith(word) or _ends(word, other)]
        if begun:
            return [(other, _BEGUN) for other in begun]
        if len(word) < 5:  # short words are near to too many
            return ()
        if not self._shortened:
            for other in self._postings:
                for short in _shortened(other):
                    self._shortened.setdefault(short, []).append(other)
        meant = {other for short in _shortened(word) for other in self._shortened.get(short, ())}
        return [(other, _MISSPELT) for other in meant if _one_slip(word, other)]


def _ends(word: str, other: str) -> bool:
    """Return whether a word is another with an ending: `warmer`, `warm`."""
    return len(other) >= 4 and len(word) - len(other) <= 3 and word.startswith(other)


def _one_slip(word: str, other: str) -> bool:
    """Return whether one letter is missing, too much, wrong, or changed places with the next."""
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    a, b = word[start:], other[start:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[1::-1] + a[2:] == b and len(a) > 1)


def _shortened(word: str) -> set[str]:
    """Return a word, and it without each of its letters: misspelt words have one in common."""
    if not 4 <= len(word) <= 20:
        return set()
    return {word, *(word[:n] + word[n + 1 :] for n in range(len(word)))}


def _texts(spec: ToolSpec) -> list[list[str]]:
    """Return the words of each field."""
    namespace, _, name = spec.name.rpartition(".")
    first, _, rest = spec.description[:_LONGEST_TEXT].partition("\n")
    given = as_schema(spec.input_schema.get("properties"))
    parameters = list(given)[:_MOST_PARAMETERS]
    said = [str(as_schema(given[name]).get("description", ""))[:300] for name in parameters]
    return [
        indexed(text)
        for text in (name, namespace, first, rest, " ".join(parameters), "\n".join(said))
    ]


def _weights(text: Sequence[Sequence[str]], means: Sequence[float]) -> Mapping[str, float]:
    """Return the weight of each word of a tool, over all its fields."""
    weights: dict[str, float] = {}
    for field, words, mean in zip(_FIELDS, text, means, strict=True):
        share = field.weight / (1 - field.length + field.length * len(words) / mean)
        for word in words:
            weights[word] = weights.get(word, 0.0) + share
    return weights
