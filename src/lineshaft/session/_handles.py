"""Contents behind handles of results: shown to a model, and read in parts by scripts."""

import base64
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TypedDict, cast

from lineshaft.errors import ToolError
from lineshaft.tools import HeldContent
from lineshaft.values import ShownImage

MOST_IMAGES = 4
"""That one run may show."""

MOST_BYTES = 1_000_000
"""Of one of them."""

_MOST_RUNS = 64
_LONGEST_PART = 1_000_000

_FORMATS = (
    ("image/png", b"\x89PNG\r\n\x1a\n", 0),
    ("image/jpeg", b"\xff\xd8\xff", 0),
    ("image/gif", b"GIF8", 0),
    ("image/webp", b"WEBP", 8),
)
"""Types, and what stands where in their bytes; these four are what models take."""


class Shown(TypedDict):
    """An image that the model is shown."""

    mime_type: str
    bytes: int
    left: int
    """How many more this run may show."""


class HandlePart(TypedDict):
    """A part of what a handle stands for."""

    base64: str
    start: int
    """Where the part begins, in bytes from 0."""

    end: int
    """Where the next part begins."""

    total: int
    """Bytes of the whole content."""

    mime_type: str


class ResultHandles:
    """The contents that handles in results stand for.

    Args:
        content: Returns what a handle stands for; `LookupError` where it is not kept.
    """

    def __init__(self, content: Callable[[str], HeldContent]) -> None:
        self._content = content
        self._shown: OrderedDict[str, list[ShownImage]] = OrderedDict()

    def shown(self, run_id: str) -> tuple[ShownImage, ...]:
        """Return what a run has shown, as long as it is kept."""
        return tuple(self._shown.get(run_id, ()))

    def show(self, given: object, run_id: str) -> Shown:
        """Keep an image for the model of a run.

        Args:
            given: Its handle, or the part of a result that has the handle.
            run_id: The run.

        Raises:
            ToolError: `E_INVALID_ARGS`: it is no image that a model takes, is not kept any longer,
                or there were four. `E_TOO_LARGE`: it has more than 1,000,000 bytes.
        """
        held = self._held(given)
        kind = image_type(held.data)
        if kind is None:
            raise ToolError(
                "E_INVALID_ARGS",
                f"this is no image that a model can be shown: {held.mime_type or held.kind}",
                hint="png, jpeg, gif and webp can be; read_handle gives the bytes of anything",
            )
        if len(held.data) > MOST_BYTES:
            raise ToolError(
                "E_TOO_LARGE",
                f"the image has {len(held.data):,} bytes; {MOST_BYTES:,} can be shown",
                hint="ask the tool for a smaller one",
            )
        images = self._shown.setdefault(run_id, [])
        self._shown.move_to_end(run_id)
        if len(images) >= MOST_IMAGES:
            raise ToolError(
                "E_INVALID_ARGS",
                f"a run shows {MOST_IMAGES} images at most",
                hint="choose the ones that decide; another run can show more",
            )
        images.append(ShownImage(kind, held.data))
        while len(self._shown) > _MOST_RUNS:
            self._shown.popitem(last=False)
        return Shown(mime_type=kind, bytes=len(held.data), left=MOST_IMAGES - len(images))

    def part(self, given: object, start: int, count: int) -> HandlePart:
        """Return a part of a content.

        Args:
            given: Its handle, or the part of a result that has the handle.
            start: Where the part begins, in bytes from 0.
            count: The most bytes of it.

        Raises:
            ToolError: `E_INVALID_ARGS`: it is not kept, or a number is out of range.
        """
        if start < 0 or not 1 <= count <= _LONGEST_PART:
            why = f"start must be 0 or more, and count 1 to {_LONGEST_PART:,}"
            raise ToolError("E_INVALID_ARGS", why)
        held = self._held(given)
        end = min(start + count, len(held.data))
        start = min(start, end)
        return HandlePart(
            base64=base64.b64encode(held.data[start:end]).decode(),
            start=start,
            end=end,
            total=len(held.data),
            mime_type=held.mime_type,
        )

    def _held(self, given: object) -> HeldContent:
        handle = given
        if isinstance(given, Mapping):
            handle = cast("Mapping[str, object]", given).get("handle")
        if not isinstance(handle, str):
            raise ToolError(
                "E_INVALID_ARGS",
                "this has no handle",
                hint="give the handle of an image in a result: show(result['handle'])",
            )
        try:
            return self._content(handle)
        except LookupError:
            raise ToolError(
                "E_INVALID_ARGS",
                f"nothing is kept under the handle {handle[:100]!r}",
                hint="handles live as long as the session, and the oldest go first: call the tool"
                " again",
            ) from None


def image_type(data: bytes) -> str | None:
    """Return the type of an image by its first bytes; None where a model takes no such image."""
    return next((kind for kind, sign, at in _FORMATS if data[at:].startswith(sign)), None)
