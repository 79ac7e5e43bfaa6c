"""What fixtures are put together from."""

import base64
from typing import Any

import mcp_types as types

PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
        "0000000c49444154789c63f8cfc000000301010018dd8db00000000049454e44ae426082"
    )
).decode()


def form(**properties: Any) -> dict[str, Any]:
    """Return the schema of a form in which all is required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def resource(uri: str, text: str, mime_type: str) -> types.EmbeddedResource:
    """Return a resource as a block."""
    held = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.EmbeddedResource(resource=held)


def ask(message: str, schema: dict[str, Any]) -> types.ElicitRequest:
    """Return a question."""
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    return types.ElicitRequest(params=params)


def needs(state: str | None = None, **requests: types.InputRequest) -> types.InputRequiredResult:
    """Return that more is needed."""
    return types.InputRequiredResult(input_requests=dict(requests), request_state=state)
