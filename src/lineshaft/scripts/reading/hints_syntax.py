"""What to do about common slips of syntax."""

import re

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
