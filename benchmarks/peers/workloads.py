"""The workloads: the same scripts for each peer, in the form that Lineshaft takes."""

from dataclasses import dataclass

CALLS = (1, 10, 100, 1_000)
SIZES = {"1 KB": 1_000, "100 KB": 100_000, "5 MB": 5_000_000}
TOOLS = (5, 50, 500)
TOGETHER = 10


def calls(count: int, turn: int) -> str:
    """Return a script of calls one after another, new in each turn, as those of models are."""
    return f"n = {turn}\nfor i in range({count}):\n    n = await add(a=n, b=1)\nreturn n - {turn}"


def result(size: int, turn: int) -> str:
    """Return a script that reads a result of a size and gives back its length."""
    return f"text = await blob(size={size})\nreturn len(text) + {turn} - {turn}"


def computing(turn: int) -> str:
    """Return a script that computes and calls nothing."""
    return (
        f"x = {turn}\n"
        "for i in range(100000):\n"
        "    x = (x * 31 + i) % 1000003\n"
        "words = {}\n"
        "for i in range(10000):\n"
        "    key = 'w' + str(i % 977)\n"
        "    words[key] = words.get(key, 0) + 1\n"
        "return [x >= 0, len(words)]"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A script that does what it should not, and the bounds that it gets."""

    name: str
    code: str
    seconds: float = 60
    memory_mb: int = 256
    bounded: bool = False
    """It ends by its bounds, if at all: a fresh process gets it, and its memory is looked at."""


TRIALS = (
    Trial(
        name="refused call",
        code="try:\n    value = await refused()\nexcept Exception as error:\n"
        "    value = 'caught: ' + str(error)\nreturn value",
    ),
    Trial(name="hang", code="while True:\n    pass\nreturn 0", seconds=2, bounded=True),
    Trial(
        name="memory bomb",
        code="kept = []\nfor i in range(600):\n    kept.append(str(i) + 'x' * 1000000)\n"
        "return len(kept)",
        memory_mb=128,
        bounded=True,
    ),
    Trial(name="hidden tool", code="value = await secret()\nreturn value"),
    Trial(
        name="write, then error",
        code="value = await write_note(text='half done')\nraise ValueError('after the write')\n"
        "return value",
    ),
)
