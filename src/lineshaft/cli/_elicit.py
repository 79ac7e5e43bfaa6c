"""Asks the person at the terminal what a tool wants to know."""

from collections.abc import Mapping

from lineshaft.cli._display import Display
from lineshaft.cli._form import FormField, UnfitAnswer, fields_of
from lineshaft.cli._keyboard import keyboard, typed_line
from lineshaft.cli._shape import counted
from lineshaft.cli._terminal import note, one_line, paint, wrapped
from lineshaft.errors import Declined
from lineshaft.values import beginning, visible

_LONGEST = 8_000
DECLINE = "!"


class TerminalElicit:
    """Puts the questions of tools to a person, who may always decline.

    Args:
        display: Makes room for the questions.
    """

    def __init__(self, display: Display) -> None:
        self._display = display

    async def __call__(self, message: str, schema: Mapping[str, object]) -> object:
        """Return what was answered, by field.

        Raises:
            Declined: The person declined, or the terminal has gone.
        """
        with self._display.aside():
            async with keyboard() as terminal:
                note(paint("A tool asks you:", "yellow"))
                shown = beginning(message, _LONGEST)
                for line in shown.split("\n"):
                    note(wrapped("  " + visible(line, keep="\t")))
                if left := len(message) - len(shown):
                    note(paint(f"  … {left:,} more of {counted(len(message), 'character')}", "dim"))
                fields = fields_of(schema)
                if not fields:
                    await _confirm(terminal)
                elif len(fields) > 1:
                    note(paint(f"{DECLINE} declines, at any of them", "dim"))
                given = {each.name: await _answer(each, terminal) for each in fields}
        return {name: value for name, value in given.items() if value is not None}


async def _confirm(terminal: int) -> None:
    note(f"Answer? [{paint('y/n', 'bold')}]")
    while True:
        text = (await _typed(terminal)).strip().casefold()
        if text in ("y", "yes"):
            return
        if text in ("n", "no"):
            raise Declined
        note("y or n")


async def _answer(field: FormField, terminal: int) -> object:
    note(f"{paint(field.question, 'bold')}  {paint(f'[{DECLINE} declines]', 'dim')}")
    for line in field.lines():
        note(line)
    while True:
        text = await _typed(terminal)
        try:
            return field.read(text)
        except UnfitAnswer as error:
            note(one_line(str(error)))


async def _typed(terminal: int) -> str:
    text = await typed_line(terminal)
    if text is None or text.strip() == DECLINE:
        raise Declined
    return text
