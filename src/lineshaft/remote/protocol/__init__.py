"""The protocol between a host and an editor, without I/O.

Above: `remote/host` and `remote/local`, which have the sockets. Below: JSON values.
"""

from lineshaft.remote.protocol.actions import (
    ACTIONS,
    Action,
    EditAction,
    EditCommand,
    ReadAction,
    RunAction,
    RunPythonAction,
    WriteAction,
)
from lineshaft.remote.protocol.delegations import (
    GRACE_SECONDS,
    SLACK_SECONDS,
    UNTIMED_SECONDS,
    ActionEnd,
    Delegations,
    DroppedFrame,
)
from lineshaft.remote.protocol.executions import BeginAction, Executions, SendAnswer, SkipEvent
from lineshaft.remote.protocol.frames import (
    ActionEvent,
    EventKey,
    Json,
    ObservationEvent,
    action_frame,
    is_delegated,
    key_of,
    observation_frame,
    read_action,
    read_observation,
)
from lineshaft.remote.protocol.observations import (
    OBSERVATIONS,
    UNKNOWN_EXIT,
    EditObservation,
    ErrorObservation,
    Observation,
    ReadObservation,
    RunMetadata,
    RunObservation,
    RunPythonObservation,
    WriteObservation,
)

__all__ = [
    "ACTIONS",
    "GRACE_SECONDS",
    "OBSERVATIONS",
    "SLACK_SECONDS",
    "UNKNOWN_EXIT",
    "UNTIMED_SECONDS",
    "Action",
    "ActionEnd",
    "ActionEvent",
    "BeginAction",
    "Delegations",
    "DroppedFrame",
    "EditAction",
    "EditCommand",
    "EditObservation",
    "ErrorObservation",
    "EventKey",
    "Executions",
    "Json",
    "Observation",
    "ObservationEvent",
    "ReadAction",
    "ReadObservation",
    "RunAction",
    "RunMetadata",
    "RunObservation",
    "RunPythonAction",
    "RunPythonObservation",
    "SendAnswer",
    "SkipEvent",
    "WriteAction",
    "WriteObservation",
    "action_frame",
    "is_delegated",
    "key_of",
    "observation_frame",
    "read_action",
    "read_observation",
]
