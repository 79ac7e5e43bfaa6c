"""Access without a person: an assertion of who we are is given for a token (RFC 7523).

Above: `client/auth.py`, which takes it where the settings say so. Below: the authorisation server
that the settings name, and a company's, which makes assertions (RFC 8693). What the MCP server says
of where to go is not followed: it could name a place that only collects assertions.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import cast
from urllib.parse import quote, urlsplit

import anyio
import httpx2
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    extract_field_from_www_auth,
    extract_scope_from_www_auth,
    issuers_match,
)
from mcp.shared.auth_utils import resource_url_from_server_url

from lineshaft.errors import ConfigError
from lineshaft.mcp._spec import Assertion, ServerSpec, checked_address
from lineshaft.mcp._text import clean
from lineshaft.mcp.client.sources import asserted
from lineshaft.trace import Redactor

_SECONDS = 30.0
_MOST_BYTES = 100_000
_LONGEST = 300
_GRANTS = "urn:ietf:params:oauth:grant-type"
_TYPES = "urn:ietf:params:oauth:token-type"


class AssertionAuth(httpx2.Auth):
    """Adds a token to requests; an assertion is given for it where the server wants one.

    The token is held in memory alone: another costs no question, and the identity at that time
    counts.

    Args:
        spec: The server, the issuer, and the assertion.
    """

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._resource = resource_url_from_server_url(spec.url)
        self._token = ""
        self._lock = anyio.Lock()

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send a request with the token; where that is refused, once more with a new one."""
        sent = self._token
        if sent:
            request.headers["Authorization"] = f"Bearer {sent}"
        response = yield request
        if not _wants_another(response):
            return
        async with self._lock:
            if self._token == sent:
                self._token = await self._granted(extract_scope_from_www_auth(response))
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request

    async def _granted(self, scope: str | None) -> str:
        spec = self._spec
        async with _client() as client:
            found = await _metadata(client, spec.issuer)
            assertion = await asserted(spec.assertion, spec.issuer, self._resource)
            data = {
                "grant_type": f"{_GRANTS}:jwt-bearer",
                "assertion": assertion,
                "resource": self._resource,
                **({"scope": scope} if scope else {}),
            }
            methods = found.get("token_endpoint_auth_methods_supported")
            ask = _Asking(
                client,
                f"the authorisation server {spec.issuer}",
                str(found["token_endpoint"]),
                client_id=spec.client_id,
                client_secret=spec.client_secret,
                in_form=methods is not None and "client_secret_basic" not in str(methods),
            )
            return _token_in(await ask.for_token(data, secret=assertion), ask.who)


def exchanged(
    identity: Assertion | str, *, url: str, client_id: str = "", client_secret: str = ""
) -> Assertion:
    """Return assertions that a company's identity provider makes of an identity token (RFC 8693).

    Args:
        identity: The token that the person, or the program, was given when it signed in.
        url: Where the provider changes tokens (its token endpoint).
        client_id: Ours at the provider.
        client_secret: What belongs to `client_id`, where there is one.

    Raises:
        ConfigError: The address is not https.
    """
    checked_address("the address that changes identity tokens", url)

    async def assertion(issuer: str, resource: str) -> str:
        token = await asserted(identity, issuer, resource)
        data = {
            "grant_type": f"{_GRANTS}:token-exchange",
            "requested_token_type": f"{_TYPES}:id-jag",
            "subject_token": token,
            "subject_token_type": f"{_TYPES}:id_token",
            "audience": issuer,
            "resource": resource,
        }
        async with _client() as client:
            who = f"the identity provider at {urlsplit(url).netloc}"
            ask = _Asking(client, who, url, client_id=client_id, client_secret=client_secret)
            found = await ask.for_token(data, secret=token)
        if found.get("issued_token_type") != f"{_TYPES}:id-jag":
            raise ConfigError(f"{who} gave something else than an assertion (an ID-JAG)")
        return _token_in(found, who)

    return assertion


def _wants_another(response: httpx2.Response) -> bool:
    if response.status_code == 403:
        return extract_field_from_www_auth(response, "error") == "insufficient_scope"
    return response.status_code == 401


def _client() -> httpx2.AsyncClient:
    """Return the client for the issuer of tokens; it follows no redirects."""
    return httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False)


async def _metadata(client: httpx2.AsyncClient, issuer: str) -> Mapping[str, object]:
    """Return what an issuer says of itself: where tokens are given, and how we name ourselves."""
    who = f"the authorisation server {issuer}"
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, issuer):
        status, found = await _answer(client, httpx2.Request("GET", url), who)
        if status != 200:
            continue
        if not issuers_match(str(found.get("issuer")), issuer):
            raise ConfigError(f"{who} says that it is another one", hint="look at the issuer")
        endpoint = found.get("token_endpoint")
        if not isinstance(endpoint, str):
            break
        if _origin(endpoint) != _origin(issuer):
            raise ConfigError(f"{who} gives tokens at another address, which is not gone to")
        return found
    raise ConfigError(f"{who} does not say where it gives tokens", hint="look at the issuer")


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = httpx2.URL(url)
    return parts.scheme, parts.host, parts.port


class _Asking:
    """Asks for a token, and names us."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        who: str,
        url: str,
        *,
        client_id: str,
        client_secret: str,
        in_form: bool = False,
    ) -> None:
        self.who = who
        self._client = client
        self._url = url
        self._id = client_id
        self._secret = client_secret
        self._in_form = in_form

    async def for_token(self, data: Mapping[str, str], *, secret: str) -> Mapping[str, object]:
        """Return the answer.

        Raises:
            ConfigError: It was refused; nothing secret is in what is said.
        """
        given = dict(data)
        auth = None
        if self._id and self._secret and not self._in_form:
            auth = httpx2.BasicAuth(quote(self._id, safe=""), quote(self._secret, safe=""))
        elif self._id:
            given["client_id"] = self._id
        if self._secret and self._in_form:
            given["client_secret"] = self._secret
        request = self._client.build_request("POST", self._url, data=given)
        status, found = await _answer(self._client, request, self.who, auth)
        if status == 200:
            return found
        reason = " ".join(str(found[key]) for key in ("error", "error_description") if key in found)
        text = clean(Redactor((secret, self._secret)).text(reason), _LONGEST)
        raise ConfigError(f"{self.who} refused: {text or f'it answered {status}'}")


async def _answer(
    client: httpx2.AsyncClient,
    request: httpx2.Request,
    who: str,
    auth: httpx2.Auth | None = None,
) -> tuple[int, Mapping[str, object]]:
    """Return the status of an answer, and the object in it; empty where it holds none."""
    body = b""
    try:
        with anyio.fail_after(_SECONDS):
            response = await client.send(request, auth=auth, stream=True)
            async for data in response.aiter_bytes():
                body += data
                if len(body) > _MOST_BYTES:
                    raise ConfigError(f"{who} answered with more than {_MOST_BYTES:,} bytes")
            await response.aclose()
    except (httpx2.HTTPError, TimeoutError) as error:
        reason = str(error) or "it did not answer in time"
        raise ConfigError(f"{who} cannot be reached: {reason:.200}") from error
    try:
        found: object = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        return response.status_code, {}
    return response.status_code, cast("dict[str, object]", found)


def _token_in(found: Mapping[str, object], who: str) -> str:
    token = found.get("access_token")
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise ConfigError(f"{who} gave no token")
    return token
