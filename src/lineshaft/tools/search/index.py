"""An index of a catalogue, which finds tools for some words by BM25 over weighted fields.

Pure and in memory. Names and descriptions are only words here: there is no query language that they
could be a part of.
"""

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from lineshaft.tools.schemas import as_schema
from lineshaft.tools.search.words import (
    asked,
    doing,
    indexed,
    near_to,
    same_as,
    spelled,
    vague,
)
from lineshaft.values import Struct, ToolSpec

_K1 = 2.0
_LONGEST_TEXT = 4_000
_LONGEST_REQUEST = 2_000
_MOST_PARAMETERS = 60
_MOST_WORDS = 32


class _Likeness(NamedTuple):
    """How likely a word of the index is meant by a word of a request: 0 to 1."""

    ranked: float
    """For the order of tools."""

    fitting: float
    """For whether any tool fits at all: a near word does, a misspelt one hardly."""


_EXACT = _Likeness(1.0, 1.0)
_SAME = _Likeness(0.9, 0.9)
_NEAR = _Likeness(0.5, 0.7)
_BEGUN = _Likeness(0.5, 0.5)
_BEGUN_SHORT = _Likeness(0.5, 0.25)
"""Short words are the beginning of too many."""

_NAMED = _Likeness(0.9, 0.5)
"""The beginning of a namespace: `mongo`, `mongodb`."""

_MISSPELT = _Likeness(0.6, 0.4)

_ENOUGH = 0.2
"""The share of a request that a tool must have, its words weighted by rarity."""

_FITS = 0.32
"""The share that one of the best tools must have, or nothing fits the request."""

_BEST = 5

_VAGUE = 0.5
"""The weight of a word that stands in any request."""

_SHARE = 0.6
"""How much a tool loses by what it has not of a request: 0 to 1."""

_OTHERWISE = 0.7
"""The weight of a tool whose name says that it does something else than the request asks for."""

_LOOKING = frozenset({"list", "get"})
"""What a question asks for, and a request without a word for what is done."""

_QUESTIONS = frozenset({"which", "what", "whose", "who", "how", "is", "are", "where", "when"})

_NEXT_TO_BEST = 0.35
"""A tool that fits so much less than the best one is not named."""


class _Field(Struct, frozen=True):
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
        self._named = [frozenset(text[1]) - doing for text in texts]
        self._namespaces = frozenset[str]().union(*self._named)
        self._does = [next((word for word in text[0] if word in doing), None) for text in texts]

    def search(self, request: str) -> list[ToolSpec] | None:
        """Return the tools that fit a request, the best first; None where it has no words.

        Nothing fits where the best tools have too little of the request. A request that names a
        namespace always fits, and so does one word that is the beginning of another.
        """
        request = request[:_LONGEST_REQUEST]
        words = asked(request)[:_MOST_WORDS]
        if not words:
            return None
        total = 0.0
        scores: dict[int, float] = {}
        had: dict[int, float] = {}
        named: set[str] = set()
        for word in words:
            likes = self._likes(word)
            named.update(self._namespaces.intersection(likes))
            hits = self._hits(word, likes)
            rarity = 0.0 if word in vague else self._rarity(max(1, len(hits)))
            counts = _VAGUE if word in vague else 1.0
            total += rarity
            for number, (score, fitting) in hits.items():
                scores[number] = scores.get(number, 0.0) + counts * score
                had[number] = had.get(number, 0.0) + rarity * fitting
        least = _NEXT_TO_BEST * max(scores.values(), default=0.0)
        close = {number for number, score in scores.items() if score >= least}
        meant = _meant(request, words)
        for number in scores:
            share = had[number] / total if total else 1.0
            had[number] = share
            scores[number] *= 1 - _SHARE + _SHARE * share
            does = self._does[number]
            if does is not None and does not in meant:
                scores[number] *= _OTHERWISE
        ranked = sorted(scores, key=lambda n: (-scores[n], n))
        sure = bool(named) or len(words) == 1
        if not sure and max((had[n] for n in ranked[:_BEST]), default=0.0) < _FITS:
            return []
        found = [n for n in ranked if n in close and (had[n] >= _ENOUGH or named & self._named[n])]
        return [self.specs[n] for n in found]

    def _hits(self, word: str, likes: Mapping[str, _Likeness]) -> dict[int, tuple[float, float]]:
        """Return the score and the fitting of a word for each tool that has it, or a like word."""
        best: dict[int, tuple[float, float]] = {}
        own = self._rarity(len(self._postings.get(word, ())))
        for other, likeness in likes.items():
            having = self._postings[other]
            factor = likeness.ranked * min(own, self._rarity(len(having)))
            for number, weight in having:
                score, fitting = best.get(number, (0.0, 0.0))
                best[number] = max(score, factor * weight), max(fitting, likeness.fitting)
        return best

    def _rarity(self, having: int) -> float:
        """Return the weight of a word that so many tools have."""
        return math.log(1 + (len(self.specs) - having + 0.5) / (having + 0.5))

    def _likes(self, word: str) -> dict[str, _Likeness]:
        """Return the words of the index that may be meant by a word, with how likely that is."""
        likes: dict[str, _Likeness] = {}
        if word in self._postings:
            likes[word] = _EXACT
        for others, likeness in ((same_as, _SAME), (near_to, _NEAR)):
            for other in others.get(word, ()):
                if other in self._postings:
                    likes.setdefault(other, likeness)
        if word not in self._postings:
            for other, likeness in self._unclear(word):
                likes.setdefault(other, likeness)
        if len(word) > 3:
            likes.update(
                (name, _NAMED)
                for name in self._namespaces
                if name != word and name.startswith(word)
            )
        return likes

    def _unclear(self, word: str) -> Iterable[tuple[str, _Likeness]]:
        """Return words that begin like an unknown one, or else those that it may be spelt for."""
        if len(word) < 3:
            return ()
        begun = [other for other in self._postings if other.startswith(word) or _ends(word, other)]
        if begun:
            likeness = _BEGUN if len(word) > 3 else _BEGUN_SHORT
            return [(other, likeness) for other in begun]
        if len(word) < 5:  # and near to too many
            return ()
        if not self._shortened:
            for other in self._postings:
                for short in _shortened(other):
                    self._shortened.setdefault(short, []).append(other)
        meant = {other for short in _shortened(word) for other in self._shortened.get(short, ())}
        return [(other, _MISSPELT) for other in meant if _one_slip(word, other)]


def _meant(request: str, words: Sequence[str]) -> Set[str]:
    """Return the words for what a request asks to do."""
    asked_for = {word for word in words if word in doing}
    if not asked_for or (spelled(request) or [""])[0] in _QUESTIONS:
        asked_for |= _LOOKING
    others = (table.get(word, frozenset()) for word in asked_for for table in (same_as, near_to))
    return asked_for.union(*others)


def _ends(word: str, other: str) -> bool:
    """Return whether a word is another with an ending: `warmer`, `warm`."""
    return len(other) >= 4 and len(word) - len(other) <= 2 and word.startswith(other)


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
