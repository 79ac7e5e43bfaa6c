"""The tool `fetch_url`."""

import base64
import hashlib
from collections.abc import Collection
from typing import TYPE_CHECKING, NotRequired

from typing_extensions import TypedDict

from lineshaft.kit._bounds import WHOLE_BYTES
from lineshaft.kit._failures import invalid
from lineshaft.kit.fetch.text import is_page, is_text, media_type, text_of
from lineshaft.tools import Tool, WebAddress, tool, web_address
from lineshaft.values import Context

if TYPE_CHECKING:
    from lineshaft.kit.fetch.client import Fetched, Fetching

_SECONDS = 45.0


class FetchedPage(TypedDict):
    """The page that a web server answered with."""

    url: str
    """The final address: where redirects on the same server led."""

    status: int
    """Of HTTP: 200 where all went well. An answer of 404 or 500 is a result, not an error."""

    media_type: str
    """As the server says, in lower case: `text/html`, `application/json`."""

    bytes: int
    """Size of the body, decompressed."""

    sha256: str
    """Of the body."""

    content: str
    """The text; of a page of HTML as Markdown, its links whole. Empty for what is no text."""

    base64: NotRequired[str]
    """What is no text, in base64, for scripts and code; a model's direct call is given none."""

    title: NotRequired[str]
    """Of a page of HTML."""

    exact: NotRequired[bool]
    """False where some bytes were no text: U+FFFD stands for them."""


def fetch_tool(allowed: Collection[str] = (), *, how: "Fetching | None" = None) -> Tool:
    """Return the tool `fetch_url`.

    Args:
        allowed: `host:port` of places that it may reach although they are not public.
        how: How addresses are reached, where it is not as usual.
    """

    @tool(effect="external", idempotent=True, lane=None, seconds=_SECONDS)
    async def fetch_url(url: WebAddress, call: Context, max_bytes: int = 1_000_000) -> FetchedPage:
        """Get a page or a file from the web.

        HTML comes as Markdown with whole links, other text as it is. Only public addresses are
        reached. Redirects are followed on the same server, as far as policy lets the call; one that
        leads to another server is an error that names the address, to be asked for by itself.

        Args:
            url: The address, `https://...` or `http://...`, without user or password.
            call: The call.
            max_bytes: The most bytes of the body, decompressed; a larger one is `E_TOO_LARGE`.
        """
        if not 0 < max_bytes <= WHOLE_BYTES:
            raise invalid(f"`max_bytes` is {max_bytes}: it may be 1 to {WHOLE_BYTES:,}")
        from lineshaft.kit.fetch.client import Fetching, fetched  # noqa: PLC0415  heavy, at first use

        reached = how or Fetching(allowed=frozenset(allowed))
        found = await fetched(
            web_address(url),
            max_bytes,
            reached,
            permits=lambda target: call.permits({"url": target}),
        )
        return await _told(call, found)

    return fetch_url


async def _told(call: Context, found: "Fetched") -> FetchedPage:
    """Return what a script is given of an answer."""
    kind = media_type(found.content_type, found.body)
    page: FetchedPage = {
        "url": found.address,
        "status": found.status,
        "media_type": kind,
        "bytes": len(found.body),
        "sha256": hashlib.sha256(found.body).hexdigest(),
        "content": "",
    }
    if not is_text(kind):
        if call.whole:
            page["base64"] = base64.b64encode(found.body).decode("ascii")
        return page
    read = text_of(found.content_type, found.body)
    page["content"], page["exact"] = read.text, read.exact
    if is_page(kind):
        from lineshaft.kit.fetch.pages import PageReader  # noqa: PLC0415  heavy, at first use

        reader = call.belongings.hold(PageReader, PageReader)
        page["content"], page["title"] = await reader.markdown(read.text, found.address)
    return page
