"""Half characters in JSON of servers, however its pieces are cut."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lineshaft.mcp.client.surrogates import HalvesFilter, without_halves

TEXTS = st.text(st.sampled_from('\ud83d\ude00\\ud8"\n😀é a'), max_size=12)


def mended(text: str) -> str:
    """Return a text as UTF-16 decoders give it."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@given(TEXTS, st.lists(st.integers(0, 60), max_size=6))
def test_a_text_is_the_same_in_any_pieces(text: str, cuts: list[int]) -> None:
    data = json.dumps(text).encode()
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    found = HalvesFilter()
    pieces = [found.feed(data[start:end]) for start, end in pairwise(places)]
    assert b"".join([*pieces, found.end()]) == without_halves(data)
    assert json.loads(without_halves(data)) == mended(text)


@given(TEXTS)
def test_what_ends_a_message_is_not_held_back(text: str) -> None:
    data = json.dumps({"text": text}).encode() + b"\n\n"
    assert HalvesFilter().feed(data) == without_halves(data)
