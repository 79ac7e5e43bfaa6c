"""Requests to the host of a window: who asks, where, and what an answer says."""

from typing import TypedDict, cast

import httpx2

from lineshaft.errors import WorkspaceError
from lineshaft.remote.host import HostAddress
from lineshaft.remote.protocol import Json

_CONNECT_SECONDS = 5.0


class ClientOptions(TypedDict):
    """Options of a client of the host."""

    base_url: str
    headers: dict[str, str]
    timeout: httpx2.Timeout
    trust_env: bool
    verify: bool


def client_options(host: HostAddress) -> ClientOptions:
    """Return the options of a client that shows the token of a host."""
    return {
        "base_url": host.url,
        "headers": {"Authorization": f"Bearer {host.token}"},
        "timeout": httpx2.Timeout(None, connect=_CONNECT_SECONDS),  # actions have their own time
        "trust_env": False,
        "verify": False,  # it is this machine; to read certificates takes longer than an action
    }


def actions_of(conversation: str) -> str:
    """Return where actions of a conversation are asked for."""
    return f"/api/conversations/{conversation}/actions"


def tools_of(conversation: str) -> str:
    """Return where the tools are told that the window of a conversation offers."""
    return f"/api/conversations/{conversation}/tools"


def body_of(answer: httpx2.Response) -> Json:
    """Return what a host answered.

    Raises:
        WorkspaceError: That is an error, or no object.
    """
    try:
        said: object = answer.json()
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise WorkspaceError(f"the host of the window answered with {answer.status_code}")
    told = cast("Json", said)
    if answer.status_code >= 400:
        raise WorkspaceError(str(told.get("message", answer.status_code)))
    return told
