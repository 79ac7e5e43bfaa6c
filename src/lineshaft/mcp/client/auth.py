"""OAuth towards servers at an address: tokens are kept for the next time, 0600, by address.

Above: `client/provider.py`. Below: the SDK, which finds the authorisation server, registers, and
refreshes.
"""

import hashlib
import json
import warnings
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import cast
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from anyio.abc import SocketStream
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.auth_utils import calculate_token_expiry, resource_url_from_server_url
from mcp.shared.exceptions import MCPDeprecationWarning
from pydantic import AnyUrl, ValidationError

from lineshaft.errors import ConfigError
from lineshaft.files import only_writer, private_folder, state_folder, write_whole
from lineshaft.mcp._spec import Authorize, ServerSpec
from lineshaft.mcp.client.assertion import AssertionAuth
from lineshaft.mcp.client.refreshing import RenewedAccess
from lineshaft.mcp.client.sources import asserted

_SECONDS = 300.0
"""For a person to grant access."""

_ENDS_AT = "ends_at"
"""The member of kept tokens that says when they end: `expires_in` counts from when they came."""

_PAGE = b"<!doctype html><title>Lineshaft</title><p>Done. You can close this page."


def provider(
    spec: ServerSpec,
    authorize: Authorize | None,
    *,
    waiting: Callable[[], AbstractContextManager[None]],
) -> httpx2.Auth:
    """Return what adds tokens to requests, and gets them where the server asks.

    Args:
        spec: The server's address, and who we are there.
        authorize: Asks the person; None: only tokens that are there already are used.
        waiting: Wraps the time that the person takes.
    """
    asked: list[str] = []

    async def redirect(url: str) -> None:
        if authorize is None:
            raise ConfigError(
                "it asks for access to be granted (OAuth), and no person is there to ask"
            )
        asked.append(url)

    async def granted() -> AuthorizationCodeResult:
        assert authorize is not None  # noqa: S101  `redirect` is always called before
        with waiting(), anyio.fail_after(_SECONDS):
            found = parse_qs(urlsplit(await authorize(asked[-1])).query)
        code, state, issuer = (found.get(key, [""])[0] for key in ("code", "state", "iss"))
        if not code:
            reason = found.get("error", ["no code came back"])[0]
            raise ConfigError(f"access was not granted: {reason[:200]}")
        return AuthorizationCodeResult(code=code, state=state or None, iss=issuer or None)

    if spec.grant == "jwt_bearer":
        return AssertionAuth(spec)
    if spec.grant == "client_credentials":
        return _by_itself(spec)
    return RenewedAccess(
        _TokenFiles(spec),
        server_url=spec.url,
        client_metadata=OAuthClientMetadata(
            client_name="Lineshaft",
            redirect_uris=[AnyUrl(spec.redirect)],
        ),
        redirect_handler=redirect,
        callback_handler=granted,
        client_metadata_url=spec.client_metadata_url or None,
    )


def _by_itself(spec: ServerSpec) -> httpx2.Auth:
    """Return what gets tokens for a client that needs no person."""
    with warnings.catch_warnings():
        # Told on the page of the settings: without an issuer, the server says where secrets go.
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        if spec.client_key or spec.assertion:
            return PrivateKeyJWTOAuthProvider(
                server_url=spec.url,
                storage=_TokenFiles(spec),
                client_id=spec.client_id,
                assertion_provider=_assertions(spec),
                issuer=spec.issuer or None,
            )
        return ClientCredentialsOAuthProvider(
            server_url=spec.url,
            storage=_TokenFiles(spec),
            client_id=spec.client_id,
            client_secret=spec.client_secret,
            issuer=spec.issuer or None,
        )


def _assertions(spec: ServerSpec) -> Callable[[str], Awaitable[str]]:
    """Return what says who we are instead of a secret: made elsewhere, or signed with our key."""
    if spec.assertion:
        resource = resource_url_from_server_url(spec.url)
        return lambda issuer: asserted(spec.assertion, issuer, resource)
    return SignedJWTParameters(
        issuer=spec.client_id,
        subject=spec.client_id,
        signing_key=spec.client_key,
        signing_algorithm=spec.key_algorithm,
    ).create_assertion_provider()


def loopback(
    show: Callable[[str], None], redirect: str = ServerSpec(url="http://x").redirect
) -> Authorize:
    """Return a way to ask: an address is shown, and the browser comes back to this machine.

    Args:
        show: Gets the address that the person is to open.
        redirect: Where the browser is sent back to; `ServerSpec.redirect`.

    Returns:
        What asks, for one server after the other: a browser comes back to one place. It raises
        `ConfigError` where another program listens at `redirect`.
    """
    parts = urlsplit(redirect)
    one = anyio.Lock()

    async def authorize(url: str) -> str:
        async with one:
            return await granted(url)

    async def granted(url: str) -> str:
        came = anyio.Event()
        found: list[str] = []

        async def serve(stream: SocketStream) -> None:
            # Browsers open connections ahead, and close them without a request.
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                async with stream:
                    await answer(stream)

        async def answer(stream: SocketStream) -> None:
            target = (await _request_line(stream)).split(" ")[1:2]
            here = bool(target) and urlsplit(target[0]).path == parts.path
            status = "200 OK" if here else "404 Not Found"
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"
            try:
                await stream.send(head.encode() + (_PAGE if here else b""))
            finally:
                if here:  # also where the browser has left already
                    found.append(target[0])
                    came.set()

        try:
            listener = await anyio.create_tcp_listener(
                local_host=parts.hostname or "127.0.0.1", local_port=parts.port or 0
            )
        except OSError as error:
            raise ConfigError(
                f"the browser cannot come back to {redirect!r}: {error.strerror or error}",
                hint="end what listens there, or name another address: ServerSpec(redirect=...)",
            ) from error
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, serve)
            show(url)
            await came.wait()
            tasks.cancel_scope.cancel()
        return found[0]

    return authorize


async def _request_line(stream: SocketStream) -> str:
    data = b""
    with anyio.move_on_after(5):
        while b"\r\n" not in data and len(data) < 8_192:
            data += await stream.receive(4_096)
    return data.partition(b"\r\n")[0].decode("latin-1")


def _table(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


class _TokenFiles:
    """Tokens and registrations in the person's state folder, one file a server and identity."""

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        named = [spec.grant, spec.client_id, spec.issuer]
        whose = json.dumps(named) if named != ["authorization_code", "", ""] else ""
        digest = hashlib.sha256((spec.url + whose).encode()).hexdigest()[:24]
        self._name = f"{digest}.json"

    async def get_tokens(self) -> OAuthToken | None:
        found = self._read().get("tokens")
        return None if found is None else OAuthToken.model_validate(found)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        ends_at = calculate_token_expiry(tokens.expires_in)
        known = tokens.model_dump(mode="json", exclude_none=True)
        self._write("tokens", known if ends_at is None else {**known, _ENDS_AT: ends_at})

    @property
    def ends_at(self) -> float | None:
        found = _table(self._read().get("tokens")).get(_ENDS_AT)
        return found if isinstance(found, int | float) else None

    @property
    def places(self) -> tuple[ProtectedResourceMetadata | None, OAuthMetadata | None]:
        kept = _table(self._read().get("places"))
        try:
            resource, issuer = kept.get("resource"), kept.get("issuer")
            return (
                None if resource is None else ProtectedResourceMetadata.model_validate(resource),
                None if issuer is None else OAuthMetadata.model_validate(issuer),
            )
        except ValidationError:  # of another version, or written by hand
            return None, None

    def keep_places(
        self, resource: ProtectedResourceMetadata | None, issuer: OAuthMetadata | None
    ) -> None:
        given = {"resource": resource, "issuer": issuer}
        self._write(
            "places",
            {
                name: each.model_dump(mode="json", exclude_none=True)
                for name, each in given.items()
                if each is not None
            },
        )

    def forget_client(self) -> None:
        self._write("client", None)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        if self._spec.client_id:
            secret = self._spec.client_secret or None
            return OAuthClientInformationFull(
                client_id=self._spec.client_id,
                client_secret=secret,
                issuer=self._spec.issuer or None,
                redirect_uris=[AnyUrl(self._spec.redirect)],
                token_endpoint_auth_method="client_secret_basic" if secret else "none",
            )
        found = self._read().get("client")
        return None if found is None else OAuthClientInformationFull.model_validate(found)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._write("client", client_info.model_dump(mode="json", exclude_none=True))

    def _folder(self) -> Path:
        return state_folder() / "mcp"

    def _read(self) -> dict[str, object]:
        try:
            found: object = json.loads((self._folder() / self._name).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return cast("dict[str, object]", found) if isinstance(found, dict) else {}

    def _write(self, key: str, value: object) -> None:
        folder = private_folder(self._folder())
        with only_writer(folder / self._name):  # another process may renew them, too
            text = json.dumps({**self._read(), "url": self._spec.url, key: value})
            write_whole(folder / self._name, text.encode(), sync=True)
