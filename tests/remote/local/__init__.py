"""The editor's side of the protocol without an editor: actions done on a folder of this machine.

The suite holds a real editor to the same behaviour, and the figures show what an editor costs
beside it.
"""

from remote.local.executions import BeginAction, Executions, SendAnswer, SkipEvent
from remote.local.runtime import LocalRuntime

__all__ = ["BeginAction", "Executions", "LocalRuntime", "SendAnswer", "SkipEvent"]
