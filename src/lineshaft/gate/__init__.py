"""The one door: every call passes it, whichever way it came in.

Above: sessions and the runner of scripts. Below: policy, tools, the trace and the workspace.
Only this room runs a tool. `CallPipeline` shows the way of a call, a line for each stage.
"""

from lineshaft.gate._asks import ALL
from lineshaft.gate._call_log import CallLog
from lineshaft.gate._clock import RunClock
from lineshaft.gate._gate import Gate
from lineshaft.gate._inner_scripts import InnerScripts
from lineshaft.gate._joining import SurroundingCall, surrounding_call
from lineshaft.gate._pause_point import PausePoint
from lineshaft.gate._pipeline import REFUSALS_PER_CALL, CallPipeline
from lineshaft.gate._raised import described
from lineshaft.gate._replay_log import RecordedResults, ReplayLog
from lineshaft.gate._run_info import Controls, RunInfo
from lineshaft.gate._script_place import ScriptPlace

__all__ = [
    "ALL",
    "REFUSALS_PER_CALL",
    "CallLog",
    "CallPipeline",
    "Controls",
    "Gate",
    "InnerScripts",
    "PausePoint",
    "RecordedResults",
    "ReplayLog",
    "RunClock",
    "RunInfo",
    "ScriptPlace",
    "SurroundingCall",
    "described",
    "surrounding_call",
]
