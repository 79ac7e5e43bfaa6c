"""Names and numbers in a sentence."""

from lineshaft.values import counted, first_few


def test_the_first_names_are_told_and_the_others_counted() -> None:
    names = ["a", "b", "c"]
    assert first_few(names, 3) == "a, b, c"
    assert first_few(names, 2, quoted=True) == "'a', 'b' and 1 more"
    assert first_few([], 2) == ""


def test_one_thing_and_several() -> None:
    assert [counted(n, "call") for n in (0, 1, 1200)] == ["0 calls", "1 call", "1,200 calls"]
