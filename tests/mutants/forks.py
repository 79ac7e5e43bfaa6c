"""A program: run pytest over any source of Lineshaft, each time in a process forked from this one.

It has imported what every run imports and no mutant changes, which takes longer than most tests.
An order is one line of JSON: `source`, the folder that `lineshaft` is imported from, `words` for
pytest, and `output`, the file for what it prints. The answers are the id of its process, which
leads a group of its own, and in a second line its exit code.
"""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
FOREIGN = (
    *("anyio", "anyio.from_thread", "click", "coverage", "docstring_parser", "hypothesis"),
    *("jsonschema", "mcp", "pathspec", "pydantic", "regex", "rich", "wasmtime", "yaml"),
)
OURS = ("lineshaft", "conftest", "native", "behaviour")


def main() -> None:
    """Take orders to the end of standard input."""
    for name in FOREIGN:
        importlib.import_module(name)
    early = [name for name in sys.modules if name.partition(".")[0] in OURS]
    if early:
        sys.exit(f"imported too early, so that no mutant could change it: {early}")
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if not pid:
            _run(order)
        _answer(pid)
        _answer(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _run(order: dict[str, Any]) -> None:
    """Be the process that pytest runs in, as if it had been started for that."""
    os.setsid()
    _redirect(os.devnull, os.O_RDONLY, 0)
    _redirect(order["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 1, 2)
    os.environ["PYTHONPATH"] = order["source"]
    sys.argv = ["pytest", *order["words"]]
    sys.path[0:1] = [str(ROOT), order["source"]]
    sys.exit(pytest.main(order["words"]))


def _redirect(path: str, flags: int, *descriptors: int) -> None:
    opened = os.open(path, flags, 0o600)
    for descriptor in descriptors:
        os.dup2(opened, descriptor)
    os.close(opened)


def _answer(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
