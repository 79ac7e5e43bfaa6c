"""What patterns match."""

import fnmatch
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.errors import ConfigError
from lineshaft.policy import BUILT_IN
from lineshaft.policy._patterns import path_glob, text_glob
from lineshaft.policy._rules import several
from lineshaft.policy._sieve import Sieve


def matches(expression: str, text: str) -> bool:
    return re.fullmatch(expression, text, re.DOTALL) is not None


@pytest.mark.parametrize(
    ("pattern", "paths", "others"),
    [
        ("a.txt", "a.txt sub/a.txt", "a.txt/b xa.txt a_txt"),
        ("*.pem", "x.pem .pem a/b/x.pem", "x.pem.bak pem"),
        ("/a.txt", "a.txt", "sub/a.txt"),
        ("./a.txt", "a.txt", "sub/a.txt"),
        ("@project/a.txt", "a.txt", "sub/a.txt @project/a.txt"),
        ("docs/*", "docs/a docs/.hidden", "docs docs/a/b x/docs/a"),
        ("docs/", "docs docs/a docs/a/b x/docs/a", "docsx"),
        ("docs/**", "docs docs/a docs/a/b", "x/docs/a docsx"),
        ("/docs/", "docs docs/a", "x/docs"),
        ("**/x", "x a/x a/b/x", "x/a ax"),
        ("**/x/**", "x a/x/b x/b/c", "ax/b"),
        ("a/**/b", "a/b a/x/b a/x/y/b", "ab a/b/c x/a/b"),
        ("a/**/**/b", "a/b a/x/b", "ab"),
        ("**/a/**/b*c/**/d", "a/bc/d x/a/y/b-c/z/d a/a/bc/bc/d", "a/d bc/d a/b/c/d"),
        ("**", ". a a/b .hidden", ""),
        ("*/x", "a/x", "x a/b/x"),
        ("a?c", "abc", "a/c ac"),
        ("a[bc]d", "abd acd", "aad a/d"),
        ("a[!b]d", "acd", "abd a/d"),
        ("a[a-c0]d", "aad abd a0d", "add a-d"),
        ("a[-b]d", "a-d abd", "aad"),
        ("[[]x[]]", "[x]", "x"),
        ("[]]", "]", "["),
        ("[!]]", "a", "]"),
        ("a**", "a ab", "a/b"),
        ("@pkg/**", "@pkg/a @pkg", "a"),
    ],
)
def test_a_path_pattern_reads_as_in_gitignore(pattern: str, paths: str, others: str) -> None:
    exact = path_glob(pattern).exact
    assert [path for path in paths.split() if not matches(exact, path + "/")] == []
    assert [path for path in others.split() if matches(exact, path + "/")] == []


PARTS = st.text("abA.*?", min_size=1, max_size=4).filter(lambda part: part not in (".", ".."))
PATTERNS = st.lists(PARTS | st.just("**"), min_size=1, max_size=5).map("/".join)
PATHS = st.lists(st.text("abA.\n", min_size=1, max_size=4), min_size=1, max_size=5).map("/".join)


def by_parts(pattern: list[str], path: list[str]) -> bool:
    """Say the same the slow way, trying everything."""
    if not pattern:
        return not path
    if pattern == ["**"] and not path:
        return True
    if pattern[0] == "**":
        return any(by_parts(pattern[1:], path[at:]) for at in range(len(path) + 1))
    return (
        bool(path) and fnmatch.fnmatchcase(path[0], pattern[0]) and by_parts(pattern[1:], path[1:])
    )


@given(PATTERNS, PATHS)
def test_a_path_pattern_matches_what_trying_everything_finds(pattern: str, path: str) -> None:
    parts = pattern.split("/")
    slow = by_parts(parts if "/" in pattern else ["**", *parts], path.split("/"))
    assert matches(path_glob(pattern).exact, path + "/") == slow


@given(PATTERNS, PATHS, PATHS)
def test_below_is_exact_and_everything_in_it(pattern: str, path: str, rest: str) -> None:
    glob = path_glob(pattern)
    parts = path.split("/")
    holders = ["/".join(parts[:end]) + "/" for end in range(1, len(parts) + 1)]
    assert matches(glob.below, path + "/") == any(matches(glob.exact, each) for each in holders)
    if matches(glob.exact, path + "/"):
        assert matches(glob.below, f"{path}/{rest}/")


@given(st.lists(PARTS.filter(lambda part: part != "**"), min_size=2, max_size=5), PATHS)
def test_above_are_the_folders_that_hold_a_match(parts: list[str], path: str) -> None:
    for pattern in ("/".join(parts), "/".join([*parts, "**"])):
        above = path_glob(pattern).above
        holders = path.split("/")[:-1]
        if matches(path_glob("/".join(parts)).exact, path + "/"):
            assert matches(above, "./")
            assert all(
                matches(above, "/".join(holders[: at + 1]) + "/") for at in range(len(holders))
            )
            assert not matches(above, path + "/")


def test_above_a_double_star_nothing_deeper_is_known() -> None:
    above = path_glob("a/b/**/c").above
    assert [path for path in (".", "a", "a/b", "a/b/x", "b") if matches(above, path + "/")] == [
        ".",
        "a",
        "a/b",
    ]
    assert path_glob("**/c").above == ""


@given(st.text("ab*?[]!-", max_size=8), st.text("ab[]!-\n", max_size=8))
def test_a_text_pattern_matches_as_a_shell_would(pattern: str, text: str) -> None:
    try:
        expression = text_glob(pattern)
    except ConfigError:
        return
    if "[" not in pattern:
        assert matches(expression, text) == fnmatch.fnmatchcase(text, pattern)
    re.compile(expression)


def test_a_final_star_after_a_blank_may_stand_for_nothing() -> None:
    assert matches(text_glob("git push *"), "git push")
    assert matches(text_glob("git push *"), "git push -f\nx")
    assert not matches(text_glob("git push *"), "git pushx")


def test_a_hostile_text_costs_no_more_than_its_length() -> None:
    text = "ab" * 500_000
    assert not matches(text_glob("*a*b*a*b*a*b*a*b*c"), text)
    assert not matches(path_glob("**/a*b*a*b*c/**/d").exact, text + "/")
    assert not matches(path_glob("**/a/**/b/**/a/**/b/**/c").exact, "a/b/" * 250_000)


BUILT_IN_PATTERNS = [pattern for rule in BUILT_IN for pattern in several(rule.path)]
NAMES = st.sampled_from([each.strip("*/").replace("*", "x") for each in BUILT_IN_PATTERNS])


@given(st.lists(PARTS | NAMES | NAMES.map(str.upper) | st.just("\u017fecrets.yml"), min_size=1))
def test_the_quick_look_never_misses_a_built_in_pattern(parts: list[str]) -> None:
    path = "/".join(parts)
    found = any(
        re.fullmatch(path_glob(pattern).below, path + "/", re.DOTALL | re.IGNORECASE)
        for pattern in BUILT_IN_PATTERNS
    )
    assert not found or Sieve(BUILT_IN_PATTERNS).holds(path)
