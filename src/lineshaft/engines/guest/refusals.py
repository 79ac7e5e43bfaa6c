"""Errors for actions that Python alone cannot do in a script, with the tool that can."""

from typing import Any, NoReturn

from .current import current

Need = tuple[str, tuple[str, ...]]
"""The reason why an action is closed, and the tools that may do it."""

READING: Need = ("it has no files of its own", ("read_file", "search_text"))
WRITING: Need = ("it has no files of its own", ("write_file", "edit_file"))
LISTING: Need = ("it has no files of its own", ("list_files", "find_files", "read_file"))
CHANGING: Need = ("it has no files of its own", ("write_file", "move_file", "delete_file"))
PROGRAMS: Need = ("it cannot start programs", ("run_command", "python_run"))
NETWORK: Need = ("it has no network", ("fetch_url", "search_tools"))
ASKING: Need = ("no person can be asked", ())
THREADS: Need = ("it has one thread", ())
SIGNALS: Need = ("no signal reaches it", ())
LEAVING: Need = ("its end would not be reported", ())

_OTHERWISE: dict[Need, str] = {
    READING: "a tool that reads files is needed",
    WRITING: "a tool that writes files is needed",
    LISTING: "a tool that lists files is needed",
    CHANGING: "a tool that changes files is needed",
    PROGRAMS: "a tool that runs commands is needed",
    NETWORK: "use the tools that the run has",
    ASKING: "give the answer to the script as an input, which it finds by name",
    SIGNALS: "use asyncio.timeout, asyncio.wait_for or asyncio.sleep",
    LEAVING: "use `return`, or sys.exit()",
    THREADS: (
        "use asyncio.gather, or asyncio.to_thread and executors, which do their work at once"
    ),
}


def message(what: str, need: Need) -> str:
    """Return the reason why an action is not possible, with the tools of this run for it."""
    why, tools = need
    run = current.maybe
    there = [name for name in tools if run is not None and name in run.tools]
    if there:
        advice = "use " + ", ".join(f"`await {name}(...)`" for name in there)
    else:
        advice = _OTHERWISE[need]
    return f"{what} is not possible in a script: {why}; {advice}"


def refusal(what: str, need: Need, kind: type[Exception] = PermissionError) -> Exception:
    """Return the error for an action that is not possible."""
    return kind(message(what, need))


class Refusing:
    """Stands for a function that is closed.

    Args:
        what: Its name.
        need: The need for which it is closed.
        kind: The error that a call raises.
    """

    def __init__(self, what: str, need: Need, kind: type[Exception] = PermissionError) -> None:
        self._what = what
        self._need = need
        self._kind = kind
        self.__name__ = self.__qualname__ = what.rpartition(".")[2]

    def __call__(self, *_args: Any, **_options: Any) -> NoReturn:
        """Raise."""
        raise refusal(self._what, self._need, self._kind)


def refusing_method(what: str, need: Need, kind: type[Exception] = PermissionError) -> Any:
    """Return a function that can stand for a method that is closed."""

    def refused(*_args: Any, **_options: Any) -> NoReturn:
        raise refusal(what, need, kind)

    refused.__name__ = refused.__qualname__ = what.rpartition(".")[2]
    return refused
