"""What is deep but ordinary: CPython's own value or error, which the script may catch."""

import pytest

from engines.guest.conftest import Guest

DEEP: dict[str, tuple[str, object]] = {
    "a cache": (
        (
            "import functools\n@functools.lru_cache(None)\ndef f(n): return n if n < "
            "2 else f(n - 1) + "
            "f(n - 2)\nf(400) % 1_000"
        ),
        675,
    ),
    "an endless repr": (
        (
            "class A:\n    def __repr__(self): return repr(self)\n"
            "try: repr(A())\nexcept RecursionError: r = 'caught'\nr"
        ),
        "caught",
    ),
    "an endless getattr": (
        (
            "class A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\n"
            "try: A().a\nexcept RecursionError: r = 'caught'\nr"
        ),
        "caught",
    ),
    "nodes that are freed": (
        (
            "class N: pass\nh = None\nfor i in range(100_000):\n    n = N()\n    "
            "n.next = h\n    h = n\n"
            "del h, n\n'freed'"
        ),
        "freed",
    ),
    "coroutines": (
        (
            "async def f(n): return 0 if n == 0 else 1 + await f(n - 1)\n"
            "try: await f(5_000)\nexcept RecursionError: r = 'caught'\nr"
        ),
        "caught",
    ),
    "coroutines under a higher limit": (
        (
            "import sys\nsys.setrecursionlimit(20_000)\n"
            "async def f(n): return 0 if n == 0 else 1 + await f(n - 1)\nawait f(5_000)"
        ),
        5_000,
    ),
    "brackets": (
        (
            "try: r = eval('(' * 200 + '1' + ')' * 200)\n"
            "except (MemoryError, SyntaxError, RecursionError): r = 1\nr"
        ),
        1,
    ),
    "JSON": (
        (
            "s = '[' * 2_000 + ']' * 2_000\ntry: r = len(json.dumps(json.loads(s)))\n"
            "except RecursionError: r = 4_000\nr"
        ),
        4_000,
    ),
}


@pytest.mark.parametrize(("source", "value"), DEEP.values(), ids=DEEP)
def test_deep_but_ordinary(guest: Guest, source: str, value: object) -> None:
    assert guest(source).value == value


def test_the_recursion_limit_is_the_order_s(guest: Guest) -> None:
    source = "def f(n): return n if n == 0 else f(n - 1)\nf({})"
    assert guest(source.format(900)).value == 0
    assert guest(source.format(1_100)).error["kind"] == "RecursionError"
    assert guest(source.format(1_100), recursion=3_000).value == 0


def test_brackets_that_the_parser_takes_for_a_lack_of_memory_are_no_limit(guest: Guest) -> None:
    error = guest("eval('[' * 300_000)").error
    assert error["kind"] in ("MemoryError", "SyntaxError", "RecursionError")
