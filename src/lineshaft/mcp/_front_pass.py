"""Resources, prompts and completions of one server behind a front, passed on as they are.

They are no calls of tools: policy does not judge them and the record does not hold them. That is
why a person names the server whose are passed on.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp import Client, ClientSession
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter

from lineshaft.errors import LineshaftError
from lineshaft.mcp._front_request import Context

ClientOf = Callable[[], Awaitable[Client]]

_READ: TypeAdapter[types.ReadResourceResult | types.InputRequiredResult] = TypeAdapter(
    types.ReadResourceResult | types.InputRequiredResult
)
_PROMPT: TypeAdapter[types.GetPromptResult | types.InputRequiredResult] = TypeAdapter(
    types.GetPromptResult | types.InputRequiredResult
)


class Passed:
    """What one server has beside its tools.

    Args:
        client: Gives the connection to it.
    """

    def __init__(self, client: ClientOf) -> None:
        self._client = client

    def register(self, server: Server[Any]) -> None:
        """Have a server answer for it."""
        pages = types.PaginatedRequestParams
        add = server.add_request_handler
        add("resources/list", pages, self._resources)
        add("resources/templates/list", pages, self._templates)
        add("resources/read", types.ReadResourceRequestParams, self._read)
        add("prompts/list", pages, self._prompts)
        add("prompts/get", types.GetPromptRequestParams, self._prompt)
        add("completion/complete", types.CompleteRequestParams, self._complete)

    async def _session(self) -> ClientSession:
        try:
            return (await self._client()).session
        except LineshaftError as error:
            raise MCPError(types.INTERNAL_ERROR, error.message) from error

    async def _resources(
        self, context: Context, params: types.PaginatedRequestParams
    ) -> types.ListResourcesResult:
        del context
        request = types.ListResourcesRequest(params=_page(params))
        try:
            return await (await self._session()).send_request(request, types.ListResourcesResult)
        except MCPError as error:
            _must_be_missing(error)
            return types.ListResourcesResult(resources=[])

    async def _templates(
        self, context: Context, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        del context
        request = types.ListResourceTemplatesRequest(params=_page(params))
        try:
            return await (await self._session()).send_request(
                request, types.ListResourceTemplatesResult
            )
        except MCPError as error:
            _must_be_missing(error)
            return types.ListResourceTemplatesResult(resource_templates=[])

    async def _read(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        del context
        asked = params.model_copy(update={"meta": None})
        return await (await self._session()).send_request(
            types.ReadResourceRequest(params=asked), _READ
        )

    async def _prompts(
        self, context: Context, params: types.PaginatedRequestParams
    ) -> types.ListPromptsResult:
        del context
        request = types.ListPromptsRequest(params=_page(params))
        try:
            return await (await self._session()).send_request(request, types.ListPromptsResult)
        except MCPError as error:
            _must_be_missing(error)
            return types.ListPromptsResult(prompts=[])

    async def _prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        del context
        asked = params.model_copy(update={"meta": None})
        return await (await self._session()).send_request(
            types.GetPromptRequest(params=asked), _PROMPT
        )

    async def _complete(
        self, context: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        del context
        asked = params.model_copy(update={"meta": None})
        return await (await self._session()).send_request(
            types.CompleteRequest(params=asked), types.CompleteResult
        )


def _page(params: types.PaginatedRequestParams) -> types.PaginatedRequestParams:
    return types.PaginatedRequestParams(cursor=params.cursor)


def _must_be_missing(error: MCPError) -> None:
    """Raise what is more than that the server has nothing of this kind."""
    if error.code != types.METHOD_NOT_FOUND:
        raise error
