"""The hostile scripts, as data: a name, what would be seen if it got its way, and its text."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

Sign = Literal[
    "tells", "writes", "connects", "signals", "outlives",
    "spins", "eats", "floods", "breaks", "forges", "calls",
]  # fmt: skip  # words, not one a line
"""What would be seen.

tells: a secret is in what it returns or prints. writes: a file outside is another. connects: a
listener hears it. signals: a process that is not its own is another. outlives: a process of it is
there after its end. spins: it does not end by itself. eats: it takes memory without end. floods:
it prints without end. breaks: what runs it does not come to a proper end. forges: what looks like
a message reaches whoever reads its output and descriptors. calls: a call after its end.
"""

SIGNS: dict[str, Sign] = {sign: sign for sign in get_args(Sign)}

FOLDER = Path(__file__).parent / "cases"


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile script."""

    group: str
    name: str
    sign: Sign
    script: str

    @property
    def id(self) -> str:
        """Group and name."""
        return f"{self.group}-{self.name}"


def groups() -> list[str]:
    """Return the names of the groups."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def cases(group: str) -> list[Case]:
    """Return the cases of a group."""
    text = (FOLDER / f"{group}.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^=== (.+)\n", text, flags=re.M)
    return [_case(group, *pair) for pair in zip(parts[::2], parts[1::2], strict=True)]


def _case(group: str, head: str, body: str) -> Case:
    name, sign, *made = head.split(" | ")
    assert sign in SIGNS, head
    script = eval(body) if made else body  # noqa: S307  a text that is too long to write down
    return Case(group, name, SIGNS[sign], script)
