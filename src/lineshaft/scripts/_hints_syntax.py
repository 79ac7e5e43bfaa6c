"""What to write instead of syntax that an engine lacks, and of common slips."""

import re

_UNSUPPORTED = (
    (r"'del' statement", "for an item of a dict `d.pop(key, None)`, of a list `items.pop(index)`"),
    (r"class inheritance", "use dicts and functions; for errors of your own `ValueError(text)`"),
    (r"yield|asynchronous generators", "collect the items in a list and return it"),
    (r"generator expressions that await", "make it a list: `[await call(x) for x in items]`"),
    (r"order of keyword arguments", "take one dict as an argument, instead of `**`"),
    (r"keys or items of a dict", "make sets of them first: `set(a) - set(b)`"),
    (r"dataclasses with", "write `@dataclass` alone"),
    (r"metaclass", "write a plain class, or a function that makes what you need"),
    (r"private names", "begin the name with one underscore"),
    (r"keyword arguments|return_exceptions",
     "put `try` and `except ToolError` in an `async def` around each call, and gather those"),
    (r"async with", "`await` the calls without it; results are plain values"),
    (r"async for", "write `for item in await call(...)`"),
    (r"async comprehension", "write `[x for x in await call(...)]`"),
    (r"exception groups|`except\*`", "write `except ToolError as e`"),
    (r"type alias", "leave it out: types are optional"),
    (r"method decorators", "write a plain function outside of the class"),
    (r"synchronous context",
     "`sorted`, `map` and the like cannot wait: first `await asyncio.gather(...)`, then sort"),
)  # fmt: skip  # words, not one a line

_SYNTAX = (
    (r"f-string.*(?:expecting|single '\}'|empty expression)",
     "write a brace in an f-string twice: `{{`"),
    (r"f-string.*backslash|backslash.*f-string", "give that part a name before the f-string"),
    (r"unterminated (?:triple-quoted )?string|EOL while scanning",
     'close the quote; text of several lines stands in `"""`'),
    (r"was never closed|unexpected EOF", "close the bracket"),
    (r"invalid decimal literal|leading zeros", "a name may not start with a digit"),
    (r"expected ':'|Expected `:`", "put `:` at the end of the line"),
    (r"indent", "indent with four blanks, the first line not at all"),
)  # fmt: skip  # words, not one a line

_DELETE = re.compile(r"del\s+(?P<of>[\w.]+)\[(?P<key>[^\]]+)\]$")


def unsupported_hint(message: str, line: str) -> str:
    """Return what to write instead of syntax that the engine does not have.

    Args:
        message: What the engine says.
        line: The line that it says it of.
    """
    deleted = _DELETE.search(line) if "'del'" in message else None
    if deleted:
        return f"write `{deleted['of']}.pop({deleted['key']}, None)`"
    found = (hint for pattern, hint in _UNSUPPORTED if re.search(pattern, message))
    return next(found, "write it with functions, dicts, lists and loops")


def syntax_hint(message: str, line: str) -> str:
    """Return what to do about a syntax error of a known kind.

    Args:
        message: What the parser says.
        line: The line that it says it of.
    """
    if line.startswith(("```", "~~~")):
        return "give the code alone, without the fence around it"
    found = (hint for pattern, hint in _SYNTAX if re.search(pattern, message))
    return next(found, "")
