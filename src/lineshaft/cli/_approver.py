"""Asks the person at the terminal about calls that policy wants approved."""

import re
from collections.abc import Mapping, Sequence

from lineshaft.cli._display import Display
from lineshaft.cli._keyboard import can_ask, keyboard, typed_line
from lineshaft.cli._shape import counted
from lineshaft.cli._terminal import note, one_line, paint, wrapped
from lineshaft.cli._waiting import call_lines, is_cut
from lineshaft.config import Settings
from lineshaft.values import Answer, Approver, Pending, lazy_pattern

HELP = (
    "y: yes to this call, n: no to it, a: yes to all that are left, d: no to all that are left",
    "r: yes, and to every later call of this run that the same rule asks about (to the same host)",
    "1 3: yes to these, no to the others; l: later, the run is paused; v: show all of it, uncut",
    "after any answer you may say why: n not on Fridays",
)
_ANSWER = lazy_pattern(
    r"(?:(y|yes|n|no|a|all|d|deny|r|rest|l|later|v|view)\b|(\d+(?:[ ,]+\d+)*)(?![^\s]))\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)


class ApprovalDialog:
    """A list of waiting calls and the answers so far. Pure: lines come in, answers go out.

    Args:
        pending: The calls, in the order shown.
    """

    def __init__(self, pending: Sequence[Pending]) -> None:
        self._left = dict(enumerate(pending, 1))
        self._count = len(self._left)
        self.answers: dict[str, Answer] = {}
        self.shows_all = False
        """All was asked for, uncut."""

    @property
    def prompt(self) -> str:
        """The question that comes next; empty where none is left."""
        if not self._left:
            return ""
        number, call = next(iter(self._left.items()))
        which = f" {number} of {self._count}: {one_line(call.tool, 60)}" if self._count > 1 else ""
        choice = "y/n/a/d/r/l" if len(self._left) > 1 else "y/n/r/l"
        return f"Allow{which}? [{paint(choice, 'bold')}, ? for help]"

    def take(self, text: str) -> bool:
        """Take a typed line; return whether it was an answer."""
        match = _ANSWER().fullmatch(text.strip())
        if match is None:
            return False
        word, numbers, reason = (match[1] or "").lower()[:1], match[2], match[3].strip()
        if numbers:
            return self._only({int(n) for n in re.findall(r"\d+", numbers)}, reason)
        match word:
            case "y" | "n":
                self._answer([next(iter(self._left))], Answer(word == "y", reason=reason))
            case "a" | "d":
                self._answer(list(self._left), Answer(word == "a", reason=reason))
            case "r":
                grant = next(iter(self._left.values())).grant
                same = [n for n, call in self._left.items() if call.grant == grant]
                self._answer(same, Answer(allow=True, reason=reason, scope="run"))
            case "l":
                self._left.clear()
            case _:
                self.shows_all = True
        return True

    def _only(self, chosen: set[int], reason: str) -> bool:
        if not chosen <= set(self._left):
            return False
        for number in list(self._left):
            self._answer([number], Answer(number in chosen, reason=reason))
        return True

    def _answer(self, numbers: Sequence[int], answer: Answer) -> None:
        for number in numbers:
            self.answers[self._left.pop(number).id] = answer


class TerminalApprover:
    """Lists what waits and takes answers: one by one, or one for all that is left.

    The answer is read from the terminal itself, so that a script on standard input can ask too,
    and only what is typed after the question counts. What is left for later stays unanswered.

    Args:
        display: Makes room for the question.
        whole: Arguments and diffs are shown uncut from the start.
    """

    def __init__(self, display: Display, *, whole: bool = False) -> None:
        self._display = display
        self._whole = whole

    async def __call__(self, pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        """Return the person's answers; none for what was left, or once the terminal has gone."""
        with self._display.aside():
            async with keyboard() as terminal:
                return await _asked(pending, terminal, whole=self._whole)


def approver_for(settings: Settings, display: Display, *, whole: bool = False) -> Approver | None:
    """Return who answers what policy asks: the person at the window, else at the terminal.

    Args:
        settings: Say whether the workspace is a window.
        display: As `TerminalApprover`.
        whole: As `TerminalApprover`.
    """
    if settings.in_editor:
        from lineshaft.remote.window import window_at  # noqa: PLC0415  loads what few need

        return window_at(settings.root).approve
    return TerminalApprover(display, whole=whole) if can_ask() else None


async def _asked(
    pending: tuple[Pending, ...], terminal: int, *, whole: bool
) -> Mapping[str, Answer]:
    asking = ApprovalDialog(pending)
    for line in question(pending, whole=whole):
        note(wrapped(line))
    while prompt := asking.prompt:
        note(prompt)
        text = await typed_line(terminal)
        if text is None:
            break
        showed = asking.shows_all
        if not asking.take(text):
            for line in HELP:
                note(line)
        elif asking.shows_all and not showed:
            for line in question(pending, whole=True):
                note(wrapped(line))
            asking.shows_all = False
    return asking.answers


def question(pending: Sequence[Pending], *, whole: bool = False) -> list[str]:
    """Return the lines that show what waits.

    Args:
        pending: The calls.
        whole: All of their arguments and diffs.
    """
    lines = [paint(f"Waiting for your approval: {counted(len(pending), 'call')}", "yellow")]
    for number, call in enumerate(pending, 1):
        lines += call_lines(number, call, whole=whole)
    cut = not whole and any(map(is_cut, pending))
    return [*lines, paint("v shows all of it", "dim")] if cut else lines
