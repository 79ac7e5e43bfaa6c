"""Access that is renewed without a person, also by a process that did not get it (OAuth).

The SDK forgets between two processes when tokens end and where they are renewed, and asks a person
wherever a server answers 401. Here both are kept, and a refresh token is tried before a person is.
"""

from collections.abc import AsyncGenerator
from typing import Any, Protocol

import httpx2
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata


class AccessKeeper(TokenStorage, Protocol):
    """A place for tokens, and for what is needed to renew them."""

    @property
    def ends_at(self) -> float | None:
        """When the kept tokens end, as the clock of `time.time`; None: not known."""
        ...

    @property
    def places(self) -> tuple[ProtectedResourceMetadata | None, OAuthMetadata | None]:
        """The metadata of the server and of its authorisation server."""
        ...

    def keep_places(
        self, resource: ProtectedResourceMetadata | None, issuer: OAuthMetadata | None
    ) -> None:
        """Keep what they said."""
        ...

    def forget_client(self) -> None:
        """Give up a registration that the authorisation server no longer knows."""
        ...


class RenewedAccess(OAuthClientProvider):
    """Adds tokens to requests, renews them, and asks a person only where that fails.

    Args:
        keeper: Has the tokens.
        **options: Of the SDK's provider.
    """

    def __init__(self, keeper: AccessKeeper, **options: Any) -> None:  # noqa: ANN401  as the SDK has them
        super().__init__(storage=keeper, **options)
        self._keeper = keeper
        self._recalled = False
        """Whether it is not asked yet, in this process, where access is granted."""

        self._may_refresh = False
        self._refreshes: list[httpx2.Request] = []
        """The request that was made to renew tokens, in the flow under way."""

    async def _initialize(self) -> None:
        await super()._initialize()
        context = self.context
        context.token_expiry_time = self._keeper.ends_at
        resource, issuer = self._keeper.places
        self._recalled = issuer is not None
        context.oauth_metadata = issuer
        context.protected_resource_metadata = resource
        if resource is not None and resource.authorization_servers:
            context.auth_server_url = str(resource.authorization_servers[0])

    async def _auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        tried = False
        while True:
            if self._initialized and not self.context.is_token_valid():
                async with self.context.lock:
                    await self._read_again(request)
            flow = super()._auth_flow(request)
            try:
                outgoing = await anext(flow)  # from now on no other request is in here
                self._may_refresh, self._refreshes = False, []
                while not any(outgoing is each for each in self._refreshes):
                    response = yield outgoing
                    if outgoing is request and response.status_code == 401:
                        if await self._read_again(request):
                            response = yield request
                        self._may_refresh = not tried
                    if outgoing is request and response.status_code in (401, 403):
                        self._ask_again()
                    outgoing = await flow.asend(response)
                tried = True
                if await self._handle_refresh_response((yield outgoing)):
                    self._add_auth_header(request)
                    yield request
                    return
            except StopAsyncIteration:
                return
            finally:
                await flow.aclose()

    def _ask_again(self) -> None:
        """Forget where access is granted, so that the server is asked: that may have changed."""
        if self._recalled:
            self._recalled = False
            self.context.oauth_metadata = self.context.protected_resource_metadata = None
            self.context.auth_server_url = None

    async def _read_again(self, request: httpx2.Request) -> bool:
        """Take tokens that another process got meanwhile; return whether there are such."""
        kept = await self._keeper.get_tokens()
        if kept is None or request.headers.get("authorization") == f"Bearer {kept.access_token}":
            return False
        self.context.current_tokens = kept
        self.context.token_expiry_time = self._keeper.ends_at
        self._add_auth_header(request)
        return True

    async def _perform_authorization(self) -> httpx2.Request:
        """Return the request for tokens: a refresh, where there is hope, before a person is asked.

        By now it is known where access to this server is granted.
        """
        if self._may_refresh and self.context.can_refresh_token():
            self._refreshes = [await self._refresh_token()]
            return self._refreshes[0]
        return await super()._perform_authorization()

    async def _handle_refresh_response(self, response: httpx2.Response) -> bool:
        if await super()._handle_refresh_response(response):
            self._keep_places()
            return True
        await self._look_at_refusal(response)
        return False

    async def _handle_token_response(self, response: httpx2.Response) -> None:
        await self._look_at_refusal(response)
        await super()._handle_token_response(response)
        self._keep_places()

    async def _look_at_refusal(self, response: httpx2.Response) -> None:
        """Give up our registration where the authorisation server says that it has none."""
        if response.status_code not in (400, 401):
            return
        if b'"invalid_client"' in await response.aread():
            self.context.client_info = None
            self._keeper.forget_client()

    def _keep_places(self) -> None:
        context = self.context
        self._keeper.keep_places(context.protected_resource_metadata, context.oauth_metadata)
