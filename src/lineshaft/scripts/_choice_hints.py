"""What to write instead of what the small engine lacks, where there is no other engine."""

import re

from lineshaft.engines import subset
from lineshaft.scripts._choice_needs import Need
from lineshaft.scripts._hints_modules import module_hint
from lineshaft.scripts._hints_syntax import unsupported_hint

_REWRITES = {
    "class inheritance": "class inheritance",
    "keywords of a class": "class inheritance",
    "method decorators": "method decorators",
    "generators": "yield",
    "`yield from`": "yield",
    "async generators": "yield",
    "`async with`": "async with",
    "`async for`": "async for",
    "async comprehensions": "async comprehension",
    "`except*`": "exception groups",
    "`type` aliases": "type alias",
    "`asyncio.gather(return_exceptions=)`": "return_exceptions",
}
"""Features, and the engine's own words for them."""

_PLAIN = {
    "`$` in a pattern": "strip the text first, and use `re.fullmatch`",
    "`\\Z` in a pattern": "use `re.fullmatch`",
    "a word after a group in a replacement": r"write `\g<1>` instead of `\1`",
    "lists that are multiplied in place": "`items[:] = items * n`",
    "lists that take in what is no list": "`items.extend(...)`",
    "sets of characters that are put together": r"put `\` before `[`, `&`, `-`, `~`, `|` in a set",
    "sets that are changed in place": "use `.update(...)` for `|=`, or a new name for the result",
    "`hasattr` of a method": "use `isinstance(x, dict)` and the like",
    "keywords behind `**`": "write what is named before the `**`, or `{**more, 'a': 1}`",
    "parameters by position beside `**`": "leave the `/` out, and choose other names",
    "the inverse of a number (`pow`)": "`[i for i in range(m) if a * i % m == 1][0]`",
    "`type` of an error": "use `isinstance(e, ValueError)`, or `type(e).__name__`",
    "`strptime` with a year of two digits": "put the century before the year, and use `%Y`",
    "`object()`": "use a text of its own, or `[]`, and compare with `is`",
    "`re.sub` with a function": "go through `re.finditer` and join the pieces",
    "`round` to digits": 'write `float(f"{x:.2f}")`',
    "`next` of something to go through": "make a list: `found = [...]`, then `found[0] if found`",
    "a generator expression that is not used up at once": "make it a list: `[...]`",
    "attributes of a function": "use a dict, or a class with `__call__`",
    "errors with a value that is no text": "give the error one text: `ValueError(f'...')`",
    "errors with several values": "give the error one text: `ValueError(f'...')`",
    "escapes in a replacement": "use `text.replace`, or no raw string: `'\\n'`",
    "methods as values": "write a lambda: `key=lambda x: x.lower()`",
    "nested classes": "write the class outside of the class",
    "star imports": "import the names that you use",
    "statements in a class": "write them before the class, or in `__init__`",
    "the text of a JSON error": "say so in words of your own, without the error's text",
    "the text of a failed `assert`": "raise `ValueError(text)` instead of `assert`",
    "`__name__` of a function": "write the name as text",
    "`del` of a name": "leave it out, or assign None",
    "`del` of a slice": "`items[a:b] = []`",
    "`del` of an attribute": "assign None",
    "`TypeVar`": "leave it out: types are optional",
}

_STEP = re.compile(r"`(?P<name>map|filter|zip|enumerate|reversed)` that is not used up at once$")
_NAME = re.compile(r"`(?P<module>[\w.]+)\.(?P<name>\w+)`$")


def rewrite(need: Need, line: str) -> str:
    """Return what to write instead.

    Args:
        need: What the small engine lacks.
        line: The line of the script that it stands in.
    """
    what = need.what
    if what.startswith("import "):
        return module_hint(what.removeprefix("import "))
    if what.startswith("`del`"):
        hint = unsupported_hint("'del' statement", line)
        return hint if "pop" in hint and "item" in what else _PLAIN.get(what, hint)
    if found := _STEP.match(what):
        return f"make it a list: `list({found['name']}(...))`"
    if (found := _NAME.match(what)) and found["module"] in subset().modules:
        return module_hint(found["module"], found["name"])
    return _PLAIN.get(what) or unsupported_hint(_REWRITES.get(what, what), line)
