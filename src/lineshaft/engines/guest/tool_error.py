"""The error that a failed call raises in a script."""


class ToolError(Exception):
    """A call failed.

    Args:
        *args: The message; or the code and the message.
        code: One of the codes of calls.
        tool: The tool's name.
        hint: One more line of advice.
    """

    def __init__(self, *args: object, code: str = "", tool: str = "", hint: str = "") -> None:
        if len(args) > 1 and not code:
            code, args = str(args[0]), args[1:]
        super().__init__(*args)
        self.code = code
        self.tool = tool
        self.hint = hint
        self.message = str(args[0]) if args else ""


ToolError.__module__ = "builtins"  # so that a traceback names it as the script does
