"""The helpers that scripts have in scope."""

import asyncio
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterable

_INVALID = "E_INVALID_ARGS"


def json_parse(text: str) -> object:
    """Return the value of JSON text as models and tools write it.

    A byte-order mark, a Markdown code fence around it, and commas before a closing bracket
    are forgiven.

    Raises:
        ValueError: It is still not JSON.
    """
    body = text.strip().lstrip("\ufeff").strip()
    if body.startswith("```"):
        body = body[body.find("\n") + 1 :] if "\n" in body else body[3:]
        if body.rstrip().endswith("```"):
            body = body.rstrip()[:-3]
    try:
        return json.loads(body)
    except ValueError:
        return json.loads(without_trailing_commas(body))


def without_trailing_commas(text: str) -> str:
    """Return JSON text without the commas that stand before a closing bracket."""
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)  # every second one is a string
    for place in range(0, len(parts), 2):
        parts[place] = re.sub(r",(\s*[\]}])", r"\1", parts[place])
    return "".join(parts)


async def retry(
    call: Callable[[], Awaitable[object]], attempts: int = 3, wait: float = 1.0
) -> object:
    """Await `call()` until it does not raise, at most `attempts` times.

    What another try cannot cure is raised at once: a `TypeError`, or arguments that a tool refuses.

    Args:
        call: Makes the call anew: `retry(lambda: read_file(path="a"))`.
        attempts: How often to try in all.
        wait: Seconds before the second try, doubled before each further one.

    Raises:
        TypeError: `call` is no function.
        Exception: The exception of the last attempt.
    """
    if not callable(call):
        raise TypeError(_not_callable(call))
    left = attempts
    pause = wait
    while True:
        left -= 1
        try:
            return await call()
        except TypeError:
            raise
        except Exception as error:  # code of the script, which raises what it likes
            if left <= 0 or getattr(error, "code", "") == _INVALID:
                raise
        if pause > 0:
            await asyncio.sleep(pause)
        pause = pause * 2


def _not_callable(given: object) -> str:
    """Return what to write instead of something that `retry` cannot call."""
    name = "read_file"
    if inspect.iscoroutine(given):
        name = given.__name__
        given.close()
    return f"retry takes a function that makes the call each time: retry(lambda: {name}(...))"


def batched(items: Iterable[object], n: int) -> list[list[object]]:
    """Return the items in lists of `n`, the last one shorter."""
    if n < 1:
        raise ValueError("batched: n must be at least 1, not " + str(n))
    everything = list(items)
    return [everything[start : start + n] for start in range(0, len(everything), n)]


def table(rows: Iterable[dict[str, object] | list[object] | tuple[object, ...]]) -> str:
    """Return rows as a Markdown table.

    Args:
        rows: Dicts, whose keys in order of appearance are the columns, or lists, the first
            of which holds the headings.
    """
    entries = list(rows)
    lines = [row for row in entries if isinstance(row, list | tuple)]
    named = [row for row in entries if not isinstance(row, list | tuple)]
    if named:
        columns = list({key: 0 for row in named for key in row})
        lines = [columns] + [[row.get(key, "") for key in columns] for row in named]
    texts = [table_row(line) for line in lines]
    if lines:
        texts.insert(1, "|" + " --- |" * len(lines[0]))
    return "\n".join(texts)


def table_row(cells: Iterable[object]) -> str:
    """Return one row of a Markdown table."""
    texts = ["" if cell is None else str(cell) for cell in cells]
    safe = [text.replace("|", "\\|").replace("\n", " ") for text in texts]
    return "| " + " | ".join(safe) + " |"
