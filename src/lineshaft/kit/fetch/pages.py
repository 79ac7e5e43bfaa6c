"""HTML to Markdown, in an instance of the guest: what parses a stranger's page can be ended."""

import json
from typing import cast

import anyio.to_thread

from lineshaft.errors import ToolError
from lineshaft.sandbox.webassembly import Asker, GuestStopped, GuestTrapped, WasmUnavailable

_SECONDS = 15.0


class PageReader:
    """The instance that a session reads pages in; it is made at the first page."""

    def __init__(self) -> None:
        self._asker = Asker(seconds=_SECONDS)

    def close(self) -> None:
        """Give back the instance."""
        self._asker.close()

    async def markdown(self, html: str, base: str) -> tuple[str, str]:
        """Return a page as Markdown, and its title.

        Args:
            html: The page.
            base: The address that its links start from.

        Raises:
            ToolError: It cannot be read here, or not within its time and memory.
        """
        order = json.dumps({"do": "page", "html": html, "base": base})
        try:
            told = await anyio.to_thread.run_sync(self._asker.ask, order, abandon_on_cancel=True)
        except GuestStopped as error:
            raise _unread(base, f"it takes more than {_SECONDS:g} s") from error
        except GuestTrapped as error:
            raise _unread(base, error.message) from error
        except WasmUnavailable as error:
            raise ToolError.of(error) from error
        answer = cast("dict[str, str]", json.loads(told))
        if "error" in answer:
            raise _unread(base, answer["error"])
        return answer["text"], answer["title"]


def _unread(base: str, why: str) -> ToolError:
    return ToolError("E_TOOL_FAILED", f"the page {base} cannot be turned into text: {why}")
