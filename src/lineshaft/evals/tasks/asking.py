"""Puts the questions of a judge to the code under test, in a program that knows no right answer.

It runs apart from Lineshaft and from the judge, in the Python of `python_run`. Whatever the code
under test does to this program, it can only change what it answers. Each answer is a line of
`answers.jsonl`: the scope, the number of the question, and the answer.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

_LONGEST = 200
_MOST_CHARACTERS = 200_000
_DEPTH = 50


def _asked(value: Any) -> Any:  # noqa: ANN401  as `probing.py` wrote it down
    match value:
        case ["list", items]:
            return [_asked(item) for item in items]
        case ["tuple", items]:
            return tuple(_asked(item) for item in items)
        case ["dict", pairs]:
            return {_asked(key): _asked(each) for key, each in pairs}
        case ["bytes", text]:
            return bytes.fromhex(text)
        case _:
            return value


def _told(value: Any, depth: int = 0) -> Any:  # noqa: ANN401  whatever the code under test gives
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__add__(value, 0)  # also of a class of its own
    if isinstance(value, float):
        return float.__add__(value, 0.0)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return ["bytes", bytes(value).hex()]
    if depth < _DEPTH and isinstance(value, list):
        return ["list", [_told(item, depth + 1) for item in value]]  # pyright: ignore[reportUnknownVariableType]  whatever it holds
    if depth < _DEPTH and isinstance(value, tuple):
        return ["tuple", [_told(item, depth + 1) for item in value]]  # pyright: ignore[reportUnknownVariableType]  whatever it holds
    if depth < _DEPTH and isinstance(value, dict):
        pairs: list[Any] = list(value.items())  # pyright: ignore[reportUnknownArgumentType]  whatever it holds
        return ["dict", [[_told(key, depth + 1), _told(each, depth + 1)] for key, each in pairs]]
    return ["odd", type(value).__name__]


def _answer(question: dict[str, Any]) -> list[Any]:
    try:
        found: Any = importlib.import_module(question["module"])
        for part in filter(None, question["name"].split(".")):
            found = getattr(found, part)
        if "args" in question:
            found = found(*_asked(question["args"]), **_asked(question["kwargs"]))
        elif not question["name"]:
            return ["value", None]
        elif callable(found):
            return ["function"]
        return ["value", _told(found)]
    except BaseException as error:  # noqa: BLE001  the code under test may raise anything
        return ["raised", type(error).__name__, str(error)[:_LONGEST]]


def main() -> None:
    """Put the questions that lie beside this file, scope by scope."""
    here = Path(__file__).parent
    scopes: dict[str, list[dict[str, Any]]] = json.loads(
        (here / "questions.json").read_text(encoding="utf-8")
    )
    dumps = json.dumps
    sys.path[:0] = [str(here), str(here.parent)]
    with (here / "answers.jsonl").open("w", encoding="utf-8") as file:
        for scope, questions in scopes.items():
            for number, question in enumerate(questions):
                text = dumps([scope, number, _answer(question)])
                if len(text) > _MOST_CHARACTERS:
                    text = dumps([scope, number, ["value", ["odd", "answer that is too long"]]])
                file.write(f"{text}\n")
                file.flush()


if __name__ == "__main__":
    main()
