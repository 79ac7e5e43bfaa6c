"""Finding tools by words."""

import math
import re
from collections.abc import Iterable

from lineshaft.tools._pointers import as_schema
from lineshaft.values import ToolSpec

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def search_specs(specs: Iterable[ToolSpec], words: str, limit: int = 10) -> tuple[ToolSpec, ...]:
    """Return the tools that fit some words best, the best first.

    Args:
        specs: All tools.
        words: What is looked for; without any, the first tools are returned.
        limit: How many at the most.

    Returns:
        Tools that have at least one of the words in name, description or parameters. A rare
        word counts for more than a common one, and the name for more than the rest.
    """
    found = list(specs)
    wanted = list(dict.fromkeys(_words(words)))
    if not wanted:
        return tuple(found[:limit])
    texts = [_weighted(spec) for spec in found]
    scores = [0.0] * len(found)
    for word in wanted:
        hits = [_score(word, text) for text in texts]
        having = sum(1 for hit in hits if hit)
        rarity = math.log(1 + len(found) / (having or 1))
        scores = [score + hit * rarity for score, hit in zip(scores, hits, strict=True)]
    order = sorted(range(len(found)), key=lambda i: (-scores[i], i))
    return tuple(found[i] for i in order[:limit] if scores[i])


def _weighted(spec: ToolSpec) -> dict[str, float]:
    """Return the words of a tool, each with the weight of the best place where it stands."""
    weights: dict[str, float] = {}
    parameters = as_schema(spec.input_schema.get("properties"))
    first, _, rest = spec.description.partition("\n")
    for weight, texts in ((5, [spec.name]), (2, [first]), (1, [rest]), (1, parameters)):
        for text in texts:
            for word in _words(text):
                weights[word] = max(weights.get(word, 0), weight)
    return weights


def _score(word: str, weights: dict[str, float]) -> float:
    """Return how well a word fits: whole, or as the start of a word, or the other way round."""
    exact = weights.get(word, 0.0)
    if exact or len(word) < 3:
        return exact
    near = [
        weight
        for other, weight in weights.items()
        if other.startswith(word) or (len(other) >= 3 and word.startswith(other))
    ]
    return max(near, default=0.0) * 0.5


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", text))]
