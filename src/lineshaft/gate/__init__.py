"""The one door: every call passes it, whichever way it came in.

Above: sessions and the runner of scripts. Below: policy, tools, the trace and the workspace.
Only this room runs a tool.

find -> validate -> resolve paths -> policy -> (ask) -> budget -> lane -> run -> validate -> record
"""

from lineshaft.gate._call_log import CallLog
from lineshaft.gate._clock import RunClock
from lineshaft.gate._earlier import Earlier, Recorded
from lineshaft.gate._frame import Controls, Frame
from lineshaft.gate._gate import Gate
from lineshaft.gate._scope import Scope
from lineshaft.gate._standing import PausePoint

__all__ = [
    "CallLog",
    "Controls",
    "Earlier",
    "Frame",
    "Gate",
    "PausePoint",
    "Recorded",
    "RunClock",
    "Scope",
]
