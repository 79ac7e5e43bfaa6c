"""Tools for files, as Azure SDK's agents have them: one folder to read, one to write.

The folder to write is the workspace. The one to read is an alias of it without the right to write:
`[workspace.aliases] generated = "/path/to/generated"`, then `@generated/...`.
"""

from lineshaft_azure_sdk.files.patch import patch_file

__all__ = ["patch_file"]
