"""The host of editors: Socket.IO for their windows, HTTP for who delegates actions to them.

Above: the command line. Below: `remote/protocol`, which has the rules; `remote/runs`, which reads
runs; `lineshaft.http`, the door.
A door of its own: to import it loads python-socketio, which is an extra.
"""

from lineshaft.remote.host.address import HostAddress, address_folder, addresses, published
from lineshaft.remote.host.agents import AgentOutcome, Hear, StartAgent
from lineshaft.remote.host.conversation import HostConversation, Window
from lineshaft.remote.host.host import EditorHost
from lineshaft.remote.host.serving import serve_editors
from lineshaft.remote.runs import KeptRuns

__all__ = [
    "AgentOutcome",
    "EditorHost",
    "Hear",
    "HostAddress",
    "HostConversation",
    "KeptRuns",
    "StartAgent",
    "Window",
    "address_folder",
    "addresses",
    "published",
    "serve_editors",
]
