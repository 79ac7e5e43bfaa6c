"""Draws `docs/picture.svg`: what a model reads of twelve calls, one by one and by one script.

The figures are those of a run that is made here and of the same calls made directly: characters,
which are the same on every machine. `--check` compares the picture with the file, and writes none.
"""

import asyncio
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lineshaft import Policy, Session, kit

PICTURE = Path(__file__).parent.parent / "docs" / "picture.svg"
NAMES = [f"service-{number:02}" for number in range(1, 13)]
SCRIPT = """
files = [f"service-{n:02}.json" for n in range(1, 13)]
texts = await asyncio.gather(*[read_file(path=name) for name in files])
late = [json.loads(text["content"]) for text in texts]
return [each["name"] for each in late if each["version"] < 3]
"""

ROW, TOP, WIDTH, BAR = 22, 76, 860, 250
INK, FAINT, READ, KEPT = "#1f2933", "#9aa5b1", "#c2410c", "#0f766e"


@dataclass(frozen=True, slots=True)
class Row:
    """One call, and the characters of it that a model would read."""

    name: str
    characters: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was measured."""

    rows: list[Row]
    script: int
    """Characters of the script, which a model writes."""

    answer: int
    """Characters of its answer, which a model reads."""


async def recorded(folder: Path) -> Recorded:
    """Make the calls directly, then by one script, and return what a model reads of them."""
    for number, name in enumerate(NAMES):
        notes = [f"{name}: note {line} of what was changed" for line in range(12 + number % 5 * 6)]
        data = {"name": name, "version": 2 + (number % 4 > 0), "notes": notes}
        (folder / f"{name}.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    async with Session(kit.tools(), workspace=folder, policy=Policy(mode="read")) as session:
        session.definitions("openai", direct=["read_file"])
        result = await session.run(SCRIPT)
        result.raise_for_status()
        rows = [
            Row(str(call.arguments["path"]), len(await _direct(session, call.arguments)))
            for call in result.calls
        ]
    answer = json.dumps(result.value)
    return Recorded(rows=rows, script=len(SCRIPT.strip()), answer=len(answer))


async def _direct(session: Session, arguments: object) -> str:
    given = cast("dict[str, object]", arguments)
    return (await session.handle("read_file", {"path": given["path"]})).text


def drawn(found: Recorded) -> str:
    """Return the picture."""
    longest = max(row.characters for row in found.rows)
    total = sum(row.characters for row in found.rows)
    height = TOP + ROW * len(found.rows) + 56
    right = WIDTH // 2 + 20
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"',
        '  font-family="system-ui, sans-serif" font-size="13" role="img">',
        f"<title>{len(found.rows)} model turns against one script</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
        _text(20, 30, f"{len(found.rows)} calls by a model: {len(found.rows)} turns", bold=True),
        _text(20, 50, "each result is read, and read again in every later turn", FAINT),
        _text(right, 30, f"one script: one turn, {len(found.rows)} calls", bold=True),
        _text(right, 50, "the results go to the script; its answer goes to the model", FAINT),
    ]
    for number, row in enumerate(found.rows):
        y = TOP + ROW * number
        bar = round(BAR * row.characters / longest)
        lines += [
            _text(20, y + 12, row.name),
            _bar(140, y, bar, READ),
            _text(146 + bar, y + 12, f"{row.characters:,}", FAINT),
            _text(right, y + 12, row.name),
            _bar(right + 120, y, round(bar * 0.8), "#d9e2ec"),
        ]
    y = TOP + ROW * len(found.rows) + 26
    kept = found.script + found.answer
    lines += [
        _text(20, y, f"read by the model: {total:,} characters", READ, bold=True),
        _text(
            right,
            y,
            f"written and read by the model: {found.script:,} + {found.answer:,} = {kept:,}",
            KEPT,
            bold=True,
        ),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _text(x: int, y: int, text: str, colour: str = INK, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x}" y="{y}" fill="{colour}"{weight}>{text}</text>'


def _bar(x: int, y: int, width: int, colour: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="15" rx="2" fill="{colour}"/>'


def main() -> None:
    """Draw the picture, or say that it is out of date."""
    with tempfile.TemporaryDirectory() as folder:
        picture = drawn(asyncio.run(recorded(Path(folder))))
    if "--check" in sys.argv[1:]:
        before = PICTURE.read_text(encoding="utf-8") if PICTURE.exists() else ""
        sys.exit(None if before == picture else "docs/picture.svg is stale: run ./dev reference")
    PICTURE.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
