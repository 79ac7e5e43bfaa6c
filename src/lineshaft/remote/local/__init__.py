"""The actions of the protocol, done on a folder of this machine.

Above: programs without an editor, and the suite that holds an editor to the same behaviour. Below:
the workspace and processes.
"""

from lineshaft.remote.local.runtime import LocalRuntime

__all__ = ["LocalRuntime"]
