"""Actions and observations over Socket.IO, and runs over HTTP: what is done in an editor.

Above: configuration, the command line. Below: the workspace and processes. `protocol` is without
I/O; `host` serves editors; `window` is a folder that an editor shows, as a workspace; `local` does
the same actions on a folder; `offered` are an editor's tools; `runs` are told to editors.
"""

__all__: list[str] = []
