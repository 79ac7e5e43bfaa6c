"""A provider of tools: those that a window offers.

A window vouches for its tools no more than an MCP server does: the same catalogue has the same
bounds, the same claims with a person's answers, the same hashes.
"""

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import cast

import anyio
import httpx2
import mcp_types as types
from anyio import to_thread
from pydantic import ValidationError

from lineshaft.errors import CALL_CODES, ConfigError, LineshaftError, ToolError, WorkspaceError
from lineshaft.mcp import Claim, Claims
from lineshaft.mcp.client import (
    CatalogueBuilder,
    ResultShape,
    ServerCatalogue,
    nobody_said,
    too_large,
)
from lineshaft.remote.protocol import (
    LINES,
    ActionEvent,
    CallToolAction,
    CallToolObservation,
    ErrorObservation,
    Json,
    WindowTool,
    action_frame,
    read_observation,
    read_offer,
)
from lineshaft.remote.window import (
    EditorWindow,
    actions_of,
    body_of,
    client_options,
    tools_of,
)
from lineshaft.tools import Toolset
from lineshaft.values import Context

_MOST_BYTES = 10_000_000
"""Of a result, as of an MCP server's."""

_LONGEST_CALL = 86_400.0
_LIST_SECONDS = 60.0
"""Longer than the host waits for other tools."""

_PAUSES = (0.2, 1.0, 5.0)
"""Before a window that is not there is looked for again."""

_SHA256 = "sha256"


class WindowTools:
    """A provider of tools: those that a window offers.

    Args:
        window: The window.
        name: The namespace of its tools.
        claims: Says which claims of effects count; every tool is `external` where nothing is given.
        invocation: What the window gave this program, where it started it.
    """

    def __init__(
        self,
        window: EditorWindow,
        *,
        name: str,
        claims: Claims | None = None,
        invocation: str = "",
    ) -> None:
        self._window, self._name, self._invocation = window, name, invocation
        self._builder = CatalogueBuilder(
            name,
            self._call,
            claims=claims or nobody_said,
            seconds=None,
            most_bytes=_MOST_BYTES,
            needs_disk=True,
        )
        self._catalogue = ServerCatalogue()
        self._problem = ""
        self._settled = anyio.Event()
        self._changed: Callable[[], None] | None = None

    @property
    def name(self) -> str:
        """The namespace of its tools."""
        return self._name

    @property
    def tools(self) -> Toolset:
        """Its tools as they were listed last."""
        return self._catalogue.tools

    @property
    def problem(self) -> str:
        """Why it has no tools now, or not all of them; empty where it has."""
        return "; ".join(text for text in (self._problem, self._catalogue.problem) if text)

    @property
    def down(self) -> str:
        """Why it cannot be reached now; empty where it can."""
        return self._problem

    @property
    def missing(self) -> Mapping[str, str]:
        """Why tools are missing, by the canonical names that they would have."""
        return self._catalogue.missing(self._name)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of the window about the effects of its tools."""
        return self._catalogue.claims

    @property
    def catalogue_hash(self) -> str:
        """What changes whenever anything that it says of its tools does; empty before it did."""
        return self._catalogue.digest

    @asynccontextmanager
    async def opened(self, changed: Callable[[], None]) -> AsyncGenerator[None]:
        """Follow what the window offers as long as the block lasts; entered at once.

        Args:
            changed: Called whenever `tools` or `problem` are others than before.

        Raises:
            ConfigError: It is open already.
        """
        if self._changed is not None:
            raise ConfigError(f"the tools of {self._name!r} are open in another session already")
        self._changed, self._settled = changed, anyio.Event()
        following = asyncio.get_running_loop().create_task(self._follow())
        try:
            yield
        finally:
            following.cancel()
            await asyncio.wait({following})
            self._changed = None

    async def ready(self) -> None:
        """Wait for the first list, or for the reason why there is none; raises neither."""
        if self._changed is not None:
            await self._settled.wait()

    async def _follow(self) -> None:
        """List the tools, and again once they are others, for ever."""
        failures = 0
        while True:
            try:
                host, conversation = await to_thread.run_sync(
                    self._window.place, abandon_on_cancel=True
                )
                async with httpx2.AsyncClient(**client_options(host)) as client:
                    after: dict[str, int] = {}
                    while True:
                        answer = await client.get(
                            tools_of(conversation), params=after, timeout=_LIST_SECONDS
                        )
                        said = body_of(answer)
                        number = _number(said)
                        if after.get("after") != number:
                            await self._take(said)
                        after["after"], failures = number, 0
            except Exception as error:  # noqa: BLE001  a limit of the system may pass: it goes on
                why = error.message if isinstance(error, LineshaftError) else str(error)
                with suppress(Exception):  # the function that is told may be what failed
                    self._tell(ServerCatalogue(), why or type(error).__name__)
            await anyio.sleep(_PAUSES[min(failures, len(_PAUSES) - 1)])
            failures += 1

    async def _take(self, said: Json) -> None:
        offer = read_offer(said)
        left_out = dict(offer.left_out)
        told = said.get("left_out")
        if isinstance(told, Mapping):
            left_out |= {str(name): str(why) for name, why in cast("Json", told).items()}
        listed: list[types.Tool] = []
        for tool in offer.tools:
            try:
                listed.append(_listed(tool))
            except ValidationError:
                left_out[tool.name] = "its definition cannot be read"
        # In a thread: hundreds of schemas take a while to look through.
        self._tell(await to_thread.run_sync(self._builder.build, listed, left_out), "")

    def _tell(self, catalogue: ServerCatalogue, problem: str) -> None:
        self._catalogue, self._problem = catalogue, problem
        self._settled.set()
        if self._changed is not None:
            self._changed()

    async def _call(
        self,
        tool: types.Tool,
        shape: ResultShape,
        context: Context,
        arguments: Mapping[str, object],
    ) -> object:
        action = CallToolAction(
            name=tool.name,
            arguments=arguments,
            sha256=str((tool.meta or {}).get(_SHA256, "")),
            invocation=self._invocation,
        )
        left = context.deadline - time.monotonic()
        seconds = min(_LONGEST_CALL, max(1.0, left)) if math.isfinite(left) else _LONGEST_CALL
        frame = dict(action_frame(ActionEvent(id="0", action=action, timeout=seconds)))
        try:
            said = await self._asked(frame, context)
            observation = read_observation(said).observation
        except httpx2.ConnectError as error:
            text = f"the host of the window does not answer: {error}"
            raise ToolError("E_TOOL_FAILED", text) from error
        except httpx2.HTTPError as error:
            text = f"the connection to the window was lost: {error}"
            raise _unknown(text) from error
        except WorkspaceError as error:
            raise ToolError("E_TOOL_FAILED", error.message, hint=error.hint) from error
        except LineshaftError as error:
            text = f"the window's answer cannot be read: {error.message}"
            raise _unknown(text) from error
        if isinstance(observation, ErrorObservation):
            raise _told(observation, said.get("status"))
        if not isinstance(observation, CallToolObservation):
            raise _unknown("the window answered with another observation")
        return _value(observation, shape)

    async def _asked(self, frame: Json, context: Context) -> Json:
        """Ask the window to call a tool, and pass on its progress.

        Raises:
            WorkspaceError: Nothing was done: the window is not there.
            HTTPError: Whether anything was is not known.
            RemoteProtocolError: As before.
        """
        host, conversation = await to_thread.run_sync(self._window.place, abandon_on_cancel=True)
        headers = {"Accept": LINES}
        async with (
            httpx2.AsyncClient(**client_options(host)) as client,
            client.stream("POST", actions_of(conversation), json=frame, headers=headers) as answer,
        ):
            if answer.status_code >= 400:
                await answer.aread()
                return body_of(answer)
            said: Json = {}
            async for line in answer.aiter_lines():
                with suppress(ValueError, RecursionError):
                    read: object = json.loads(line)
                    said = cast("Json", read) if isinstance(read, dict) else {}
                if (progress := said.get("progress")) is not None:
                    _pass_on(progress, context)
            return said


def _number(said: Json) -> int:
    """Return the number of a list of tools.

    Raises:
        WorkspaceError: The host's answer is none.
    """
    number = said.get("number")
    if not isinstance(number, int):
        raise WorkspaceError("the host of the window does not know of tools")
    return number


def _listed(tool: WindowTool) -> types.Tool:
    """Return a tool as an MCP server would have listed it.

    Raises:
        ValidationError: It could not.
    """
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=None if tool.output_schema is None else dict(tool.output_schema),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.effects.read_only,
            destructive_hint=tool.effects.destructive,
            idempotent_hint=tool.effects.idempotent,
        ),
        _meta={_SHA256: tool.sha256},
    )


def _pass_on(progress: object, context: Context) -> None:
    if not isinstance(progress, Mapping):
        return
    said = cast("Json", progress)
    done, total = said.get("done"), said.get("total")
    if isinstance(done, int | float):
        known = total if isinstance(total, int | float) else None
        context.progress(done, known, str(said.get("text", "")))


def _unknown(text: str) -> ToolError:
    return ToolError(
        "E_TOOL_FAILED",
        text,
        hint="look whether it did what it was to do before you call again",
        unknown=True,
    )


def _told(observation: ErrorObservation, status: object) -> ToolError:
    known = observation.error_id in CALL_CODES
    code = observation.error_id if known else "E_TOOL_FAILED"
    return ToolError(code, observation.content, unknown=status == "unknown")


def _value(observation: CallToolObservation, shape: ResultShape) -> object:
    """Return the result as a script gets it.

    Raises:
        ToolError: It is too large.
    """
    said = observation.value if observation.structured else observation.content
    if len(json.dumps(said, ensure_ascii=False).encode(errors="replace")) > shape.most_bytes:
        raise too_large(shape.most_bytes)
    if observation.structured or not shape.has_schema:
        return said
    with suppress(ValueError, RecursionError):
        return json.loads(observation.content)
    return said
