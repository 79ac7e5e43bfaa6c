"""Models: one protocol, its messages, and adapters for those who answer."""

from lineshaft.models._messages import (
    CallAnswer,
    ImagePart,
    Message,
    ModelReply,
    RequestedCall,
    StopReason,
    TokenUsage,
    UserMessage,
)
from lineshaft.models._model import (
    REQUEST_SECONDS,
    CheckableModel,
    Model,
    ModelRequest,
    OfferedTool,
    OnText,
)
from lineshaft.models._named import model_named
from lineshaft.models._price import ModelPrice
from lineshaft.models._slots import given_up_after

__all__ = [
    "REQUEST_SECONDS",
    "CallAnswer",
    "CheckableModel",
    "ImagePart",
    "Message",
    "Model",
    "ModelPrice",
    "ModelReply",
    "ModelRequest",
    "OfferedTool",
    "OnText",
    "RequestedCall",
    "StopReason",
    "TokenUsage",
    "UserMessage",
    "given_up_after",
    "model_named",
]
