"""The error that a failed call raises in a script."""

import errno


class ToolError(Exception):
    """A call failed.

    Args:
        *args: The message; or the code and the message.
        code: One of the codes of calls.
        tool: The tool's name.
        hint: One more line of advice.
    """

    # Classes of scripts have keywords of their own, which come here too.
    def __new__(cls, *args: object, **named: object) -> "ToolError":
        """Return the error; that of a missing file is a `FileNotFoundError` too."""
        code = named.get("code") or (args[0] if len(args) > 1 else "")
        if cls is ToolError and code == "E_FILE_NOT_FOUND":
            return _FileMissing.__new__(_FileMissing, *args[-1:])
        return super().__new__(cls, *args)

    def __init__(  # pyright: ignore[reportInconsistentConstructor]  as above
        self, *args: object, code: str = "", tool: str = "", hint: str = ""
    ) -> None:
        if len(args) > 1 and not code:
            code, args = str(args[0]), args[1:]
        super().__init__(*args)
        self.code = code
        self.tool = tool
        self.hint = hint
        self.message = str(args[0]) if args else ""


class _FileMissing(ToolError, FileNotFoundError):
    """A call failed since there is no such file: `except FileNotFoundError` catches it, too."""

    def __init__(  # pyright: ignore[reportInconsistentConstructor]  as above
        self, *args: object, code: str = "", tool: str = "", hint: str = ""
    ) -> None:
        super().__init__(*args, code=code, tool=tool, hint=hint)
        self.errno = errno.ENOENT

    def __reduce__(self) -> tuple[object, ...]:
        """Return what a copy is made of: `pickle` finds no class but `ToolError` by its name."""
        return ToolError, (self.code, self.message), self.__dict__.copy()


for _kind in (ToolError, _FileMissing):  # a traceback names both as scripts do
    _kind.__module__, _kind.__name__, _kind.__qualname__ = "__main__", "ToolError", "ToolError"


def failed_call(message: str, *, code: str, tool: str, hint: str) -> ToolError:
    """Return the exception of a call that failed.

    Args:
        message: What went wrong.
        code: One of the codes of calls.
        tool: The tool's name.
        hint: One more line of advice; empty: none.
    """
    return ToolError(message, code=code, tool=tool, hint=hint)
