"""Runs one hostile script on plain Python: started anew for each, with little to take.

Reads a JSON object from standard input, or from the file that is named; needs nothing but the
standard library. It is also the program in which `python_run` runs such a script.
"""

import ast
import asyncio
import datetime
import importlib
import json
import math
import os
import re
import sys
from typing import Any

ENDED = "-- ended --"
"""Stands among the calls where the script came to its end."""


def bound(limits: dict[str, int]) -> None:
    """Take away what could hurt the machine."""
    if not limits:
        return  # as a program, which is bounded by what holds it, and may have no such module
    import resource  # noqa: PLC0415  as above

    for name, most in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


def become(user: int) -> None:
    """Go on as an ordinary user: only for such a one is the number of processes bounded."""
    for module in ("subprocess", "threading", "socket"):
        importlib.import_module(module)  # perhaps out of reach afterwards
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


def program(source: str) -> Any:
    """Return a script as an async function."""
    tree = ast.parse(source, "script.py")
    function = ast.parse("async def __program__():\n    pass").body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    function.body = tree.body or function.body
    code = compile(ast.fix_missing_locations(ast.Module([function], [])), "script.py", "exec")
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(code, scope)  # noqa: S102  the purpose
    return scope


def order() -> dict[str, Any]:
    """Return what is to be run, and how."""
    if len(sys.argv) == 1:
        return json.load(sys.stdin)
    with open(sys.argv[1]) as file:  # noqa: PTH123  as below
        return json.load(file)


def main() -> None:
    """Run what we were told to."""
    job = order()
    bound(job["limits"])
    if job["user"] is not None:
        become(job["user"])

    def note(line: str) -> None:
        with open(job["calls"], "a") as file:  # noqa: PTH123  nothing more may be imported here
            file.write(f"{line}\n")

    async def poke(what: str = "") -> None:
        note(what)

    async def give(value: object = None) -> object:
        return value

    names = (asyncio, json, math, re, datetime)
    scope = program(job["source"])
    scope.update({module.__name__: module for module in names})
    scope.update(poke=poke, give=give, **job["inputs"])
    try:
        value = asyncio.run(scope["__program__"]())
        with open(job["value"], "w") as file:  # noqa: PTH123  as scripts write it
            json.dump(value, file, default=str)
    finally:
        note(ENDED)


if __name__ == "__main__":
    main()
