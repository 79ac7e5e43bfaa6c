"""Actions and observations over Socket.IO: what is done far away, in an editor.

Above: configuration, the command line. Below: the workspace and processes. `protocol` is without
I/O; `host` serves editors; `local` does the same actions on a folder.
"""

__all__: list[str] = []
