"""Text of files, with errors for who called a tool."""

from lineshaft.errors import ToolError
from lineshaft.kit._failures import invalid
from lineshaft.values import DecodedText, decoded_text


def decoded(data: bytes, path: str) -> DecodedText:
    """Return the text of a file.

    Raises:
        ToolError: It is none.
    """
    text = decoded_text(data)
    if text is None:
        raise ToolError(
            "E_TOOL_FAILED",
            f"{path!r} is not a text file: it has NUL bytes, or its byte-order mark is wrong",
            hint="Use a command that knows its format.",
        )
    return text


def encoded(text: str, like: DecodedText, path: str) -> bytes:
    """Return a text, written down as another was.

    Raises:
        ToolError: The encoding lacks a character.
    """
    try:
        return like.encoded(text)
    except UnicodeEncodeError as error:
        lacking = error.object[error.start]
        raise invalid(
            f"{path!r} is written in {like.encoding}, which has no {lacking!r}",
            "To change its encoding, delete it and write it anew: a new file is UTF-8.",
        ) from error
