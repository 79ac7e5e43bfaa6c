"""Description of a server before a connection. Imports nothing of the MCP SDK."""

import hashlib
import json
import re
import shlex
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict
from urllib.parse import urlsplit

from msgspec import field

from lineshaft.errors import ConfigError
from lineshaft.tools import RESERVED, script_name
from lineshaft.values import Effect, Struct

Authorize = Callable[[str], Awaitable[str]]
"""Shows a person the address at which to grant access; returns the address that their browser was
sent back to, with what stands behind its `?`."""

_HERE = ("localhost", "127.0.0.1", "::1")

Assertion = Callable[[str, str], Awaitable[str]]
"""Gives a signed token that says who we are (a JWT), for an issuer, its audience, and for the
address of the server that is to be opened."""

Grant = Literal["authorization_code", "client_credentials", "jwt_bearer"]
"""The grantor of access: a person; `client_id` by itself; or the issuer of an assertion."""


class ServerSpec(Struct, frozen=True, kw_only=True):
    """How a server is reached: by a command, or at an address."""

    __unshown__ = frozenset({"env", "headers", "client_secret", "client_key", "assertion"})

    command: Sequence[str] = ()
    """The program and its arguments; it speaks over its standard input and output."""

    url: str = ""
    """Where it listens (streamable HTTP)."""

    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables of its process, beside the few that every process gets (`PATH`, `HOME`, ...)."""

    cwd: Path | None = None
    """Where its process runs; the current folder where nothing is said."""

    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Sent with each request, such as `Authorization`."""

    seconds: float | None = None
    """Time for each of its calls; None: what the run says."""

    connect_seconds: float = 30.0
    """Time until it must have listed its tools."""

    value_bytes: int = 10_000_000
    """The longest result of a call, in bytes of UTF-8, as a script sees it."""

    message_bytes: int = 40_000_000
    """The longest message. A result may stand in it twice, as data and as text, and escaped."""

    redirect: str = "http://127.0.0.1:33418/callback"
    """Where a browser is sent once access was granted (OAuth)."""

    client_id: str = ""
    """Ours at its authorisation server, where one was registered by hand (OAuth)."""

    client_secret: str = ""
    """The secret that belongs to `client_id`."""

    client_key: str = ""
    """Instead of a secret: a private key as PEM, to sign assertions with (RFC 7523)."""

    key_algorithm: str = "RS256"
    """How `client_key` signs."""

    grant: Grant = "authorization_code"
    """Who grants access (OAuth). With `client_credentials`, `client_id` has a secret, a key or an
    assertion; with `jwt_bearer`, an assertion is given for a token (RFC 7523)."""

    issuer: str = ""
    """The authorisation server that is ours: where it is named, secrets and assertions of the
    grants without a person go nowhere else."""

    assertion: Assertion | str = ""
    """Says who we are, where there is no secret, or no person: a workload's token, or what a
    company's identity provider vouches with (see `exchanged`)."""

    client_metadata_url: str = ""
    """Where an authorisation server finds what we are (OAuth Client ID Metadata Document)."""

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise ConfigError("an MCP server has either a command or a url")
        if isinstance(self.command, str):
            raise ConfigError("the command of an MCP server is a list: the program, its arguments")
        if self.url and urlsplit(self.url).scheme not in ("http", "https"):
            raise ConfigError(f"the address {self.url!r} of an MCP server is not http or https")
        _check_grant(self)
        if not self.connect_seconds > 0 or not self.message_bytes > 0:
            raise ConfigError("connect_seconds and message_bytes of an MCP server are above 0")


def _check_grant(spec: ServerSpec) -> None:
    if spec.issuer:
        checked_address("the issuer", spec.issuer)
    proof = spec.client_secret or spec.client_key or spec.assertion
    if spec.grant == "client_credentials" and not (spec.client_id and proof):
        text = "the grant 'client_credentials' needs client_id, and "
        raise ConfigError(f"{text}client_secret, client_key or an assertion")
    if spec.grant == "jwt_bearer" and not spec.assertion:
        raise ConfigError("the grant 'jwt_bearer' needs an assertion")
    if spec.grant == "jwt_bearer" and spec.client_secret and not spec.client_id:
        raise ConfigError("client_secret belongs to a client_id; give that too")
    if spec.assertion and spec.grant == "authorization_code":
        text = "an assertion is for the grants 'jwt_bearer' and 'client_credentials'"
        raise ConfigError(text, hint="give grant=...")
    if spec.assertion and not spec.issuer:
        raise ConfigError(
            "an assertion needs an issuer",
            hint="name the authorisation server: an assertion goes to no other",
        )


def checked_address(what: str, url: str) -> None:
    """Take an address that secrets are sent to.

    Raises:
        ConfigError: It is not https, and not of this machine either; or no address.
    """
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ConfigError(f"{what} is no address: {error}") from None
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)
    if not is_safe or not parts.hostname or "@" in parts.netloc:
        raise ConfigError(f"{what} must begin with https://, since secrets are sent there")


class Claim(Struct, frozen=True, kw_only=True):
    """A server's statement about the effects of one of its tools; nothing vouches for it."""

    tool: str
    """Canonical name."""

    effect: Effect
    """`read` where it is said to change nothing, else `external`."""

    destructive: bool
    idempotent: bool
    sha256: str = ""
    """What changes whenever anything that the server says of the tool does."""


Claims = Callable[[Sequence[Claim], str], bool | Mapping[str, Effect] | None]
"""Says which claims count, given all of them and the hash of the catalogue: all, none, or the
effects by canonical name (others are `external`). None: no answer yet, so none."""


class ServerOptions(TypedDict, total=False):
    """The options of a server beside the way it is reached."""

    trust: bool
    """Whether all that it claims about the effects of its tools counts."""

    claims: Claims | None
    """Says which claims count; where it is left out or returns None, every tool is `external`."""

    authorize: Authorize | None
    """Asks a person to grant access, where the server wants it (OAuth)."""

    secrets: Collection[str]
    """Secrets that no text about the server shows, beside the values of its environment and headers
    whose names tell that they are secret."""


def catalogue_hash(definitions: Sequence[Mapping[str, object]]) -> str:
    """Return what changes whenever anything that a server says of its tools does.

    Args:
        definitions: Each tool as the server listed it; their order does not matter.
    """
    texts = sorted(json.dumps(each, sort_keys=True, ensure_ascii=True) for each in definitions)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def spec_of(server: object) -> ServerSpec | None:
    """Return how a server is reached; None where it is an object in this process.

    Args:
        server: A spec, an address, a command (text is split by shell rules), or an object.

    Raises:
        ConfigError: It is an empty command, or one that cannot be split.
    """
    if isinstance(server, ServerSpec):
        return server
    if isinstance(server, str):
        if re.match(r"https?://", server, re.IGNORECASE):
            return ServerSpec(url=server)
        try:
            return ServerSpec(command=tuple(shlex.split(server)))
        except ValueError as error:
            raise ConfigError(f"the command {server!r} cannot be split: {error}") from error
    if isinstance(server, Sequence):
        return ServerSpec(command=tuple(str(word) for word in server))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  any sequence
    return None


def checked_namespace(name: str) -> str:
    """Return the namespace of a server's tools as it is.

    Raises:
        ConfigError: Scripts could not use it.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise ConfigError(
            f"{name!r} cannot name an MCP server", hint="use letters, digits, '-' and '_'"
        )
    if {name.casefold(), script_name(name).casefold()} & {each.casefold() for each in RESERVED}:
        raise ConfigError(f"the name {name!r} of an MCP server is reserved", hint="give name=...")
    return name


def name_for(server: object, spec: ServerSpec | None) -> str:
    """Return a namespace for a server that was given no name."""
    if spec is None:
        text = str(getattr(server, "name", "") or "server")
    elif spec.url:
        text = (urlsplit(spec.url).hostname or "server").removeprefix("www.")
    else:
        words = [word for word in spec.command[1:] if not word.startswith("-")]
        text = Path((words or list(spec.command))[0]).stem
    text = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_")[:64] or "server"
    return text if text.casefold() not in RESERVED else f"{text}_server"
