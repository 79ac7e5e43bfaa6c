"""The window that the workspaces `vscode:` and `vscode:FOLDER` name.

A window counts where its host runs, it is connected, and it shows that very folder of this machine:
its host could be forwarded from another one, so that it has to read a file which is made for that.
"""

import hashlib
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from lineshaft.errors import ConfigError, WorkspaceError
from lineshaft.files import private_folder, write_whole
from lineshaft.remote.host import HostAddress, address_folder, addresses
from lineshaft.remote.window.window import EditorWindow

_START = "open the folder in VS Code, trust it, and choose `Lineshaft: Start`"


def only_folder() -> Path:
    """Return the folder that the only window there is shows.

    Raises:
        ConfigError: There is no window, or there are several.
    """
    found = addresses()
    if not found:
        raise ConfigError("there is no window of VS Code to work in", hint=_START)
    if len({each.root for each in found}) > 1:
        choices = ", ".join(sorted({f"vscode:{each.root}" for each in found}))
        raise ConfigError(
            "several windows of VS Code are there", hint=f"name one with --workspace: {choices}"
        )
    return Path(found[0].root)


def window_at(root: Path) -> EditorWindow:
    """Return the window that shows a folder once it is asked something; no search is made now."""
    real = root.resolve()

    def hosts() -> tuple[HostAddress, ...]:
        return tuple(each for each in addresses() if Path(each.root) == real)

    return EditorWindow(real, hosts)


def window_over(root: Path) -> EditorWindow:
    """Return the window that shows a folder.

    Raises:
        ConfigError: There is none, there are several, or it is on another machine.
    """
    window, real = window_at(root), root.resolve()
    try:
        with _nonce() as (file, sha256):
            if window.proof(file) != sha256:
                raise ConfigError(
                    f"the window that shows {str(root)!r} is on another machine",
                    hint="work in the folder itself, on that machine",
                )
    except WorkspaceError as error:
        if error.hint:
            raise ConfigError(error.message, hint=error.hint) from error
        others = ", ".join(sorted({each.root for each in addresses()} - {str(real)}))
        open_now = f"; there are windows over {others}" if others else ""
        raise ConfigError(
            f"no window of VS Code shows {str(root)!r}: {error.message}{open_now}", hint=_START
        ) from error
    return window


@contextmanager
def _nonce() -> Generator[tuple[Path, str]]:
    """Make a file that only a window on this machine can read, and return its hash."""
    folder = private_folder(address_folder())
    file = folder / f"lineshaft-{secrets.token_hex(16)}.nonce"
    text = secrets.token_bytes(32)
    write_whole(file, text, 0o600)
    try:
        yield file, hashlib.sha256(text).hexdigest()
    finally:
        with suppress(OSError):
            file.unlink()
