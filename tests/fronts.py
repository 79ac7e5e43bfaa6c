"""Sessions served to clients of the SDK, in this process."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import mcp_types as types
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.client.session import ListRootsFnT

from lineshaft import Policy, Session
from lineshaft.mcp.front import Front, front_server

Mode = Literal["auto", "legacy"]
MODES: tuple[Mode, Mode] = ("auto", "legacy")
OPEN = Policy.from_dict({"mode": "open"})
ASKS = Policy.from_dict({"mode": "open", "rules": [{"id": "r", "tool": "put", "verdict": "ask"}]})
"""Everything passes, but for `put`: that asks."""


@dataclass
class Person:
    """Sits behind a client: notes what they are asked, and says what they were told to say."""

    says: list[types.ElicitResult] = field(default_factory=list[types.ElicitResult])
    asked: list[types.ElicitRequestFormParams] = field(
        default_factory=list[types.ElicitRequestFormParams]
    )

    async def __call__(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        del context
        assert isinstance(params, types.ElicitRequestFormParams)
        self.asked.append(params)
        return self.says.pop(0)


@dataclass
class Model:
    """Stands behind a client: notes what it is asked, and repeats it."""

    asked: list[types.CreateMessageRequestParams] = field(
        default_factory=list[types.CreateMessageRequestParams]
    )
    says: types.CreateMessageResult | types.CreateMessageResultWithTools | None = None

    async def __call__(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.CreateMessageResultWithTools:
        del context
        self.asked.append(params)
        [content] = params.messages[-1].content_as_list
        assert not isinstance(content, types.ToolUseContent | types.ToolResultContent)
        said = types.CreateMessageResult(role="assistant", content=content, model="echo")
        return self.says or said


async def project(context: ClientRequestContext) -> types.ListRootsResult:
    """Tell the root of a project."""
    del context
    root = types.Root.model_validate({"uri": "file:///srv/project", "name": "project"})
    return types.ListRootsResult(roots=[root])


def accepts(**content: Any) -> types.ElicitResult:
    """Return that a person filled in a form."""
    return types.ElicitResult(action="accept", content=content)


DECLINES = types.ElicitResult(action="decline")
CANCELS = types.ElicitResult(action="cancel")


@asynccontextmanager
async def client_of(
    session: Session,
    *,
    mode: Mode = "auto",
    person: Person | None = None,
    heard: list[object] | None = None,
    direct: Sequence[str] = (),
    approvals: Literal["person", "client"] = "person",
    passed: str = "",
    model: Model | None = None,
    roots: ListRootsFnT | None = None,
    name: str = "client",
) -> AsyncGenerator[Client]:
    """Give a client of an entered session."""

    async def hear(message: object) -> None:
        if heard is not None:
            heard.append(message)

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        await hear(params)

    front = Front(session, direct=direct, approvals=approvals, passed=passed)
    async with front_server(front) as server:
        client = Client(
            server,
            mode=mode,
            elicitation_callback=person,
            sampling_callback=model,
            list_roots_callback=roots,
            message_handler=hear,
            logging_callback=log,
            log_level="info",
            client_info=types.Implementation(name=name, version="1"),
        )
        async with client:
            yield client


@asynccontextmanager
async def served(
    tools: Sequence[object], *, at: Path, policy: Policy = OPEN, **options: Any
) -> AsyncGenerator[tuple[Client, Session]]:
    """Give a client, and the session behind it."""
    async with (
        Session(tools, workspace=at, policy=policy, store=at / "store.db") as session,
        client_of(session, **options) as client,
    ):
        yield client, session


def text_of(result: types.CallToolResult) -> str:
    """Return the text of a result."""
    return "\n".join(b.text for b in result.content if isinstance(b, types.TextContent))


def data_of(result: types.CallToolResult) -> dict[str, Any]:
    """Return what a result says as data: of a run beside the text, of a direct call as content."""
    run = (result.meta or {}).get("lineshaft/run")
    return cast("dict[str, Any]", result.structured_content if run is None else run)
