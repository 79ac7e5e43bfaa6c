"""Windows of this machine that show a workspace's folder, found by their address files.

Above: configuration, which builds a workspace over one; `remote/offered`. Below: `remote/host`,
`remote/protocol`.
"""

from lineshaft.remote.window.found import only_folder, window_at, window_over
from lineshaft.remote.window.requests import actions_of, body_of, client_options, tools_of
from lineshaft.remote.window.tools import editor_tools
from lineshaft.remote.window.window import EditorWindow

__all__ = [
    "EditorWindow",
    "actions_of",
    "body_of",
    "client_options",
    "editor_tools",
    "only_folder",
    "tools_of",
    "window_at",
    "window_over",
]
