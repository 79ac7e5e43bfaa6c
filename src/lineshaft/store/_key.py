"""The key that signs states of runs: a file of its own, never in the store."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from lineshaft.errors import ConfigError, StateError, UntrustedState
from lineshaft.files import private_folder, state_folder
from lineshaft.store._files import publish
from lineshaft.store._seals import Seals

VARIABLE = "LINESHAFT_STATE_KEY"
_SHORTEST = 32


class Keys:
    """Finds the key, or makes it at first need.

    Args:
        given: The key; None: the variable `LINESHAFT_STATE_KEY`, else the file `key` in the state
            folder.

    Raises:
        ConfigError: The given key is too short.
    """

    def __init__(self, given: bytes | None) -> None:
        if given is not None and len(given) < _SHORTEST:
            raise ConfigError(f"a key has {_SHORTEST} bytes or more; this one has {len(given)}")
        self._given = given
        self._seals: Seals | None = None

    def made(self) -> Seals:
        """Return the signer of new states; the key is made where there is none.

        Raises:
            StateError: The key cannot be used or kept.
        """
        if self._seals is None:
            key = self._told()
            self._seals = Seals(key or _read(_file()) or _make(_file()))
        return self._seals

    def found(self) -> Seals:
        """Return the verifier of kept states.

        Raises:
            UntrustedState: There is no key.
        """
        if self._seals is None:
            key = self._told() or _read(_file())
            if key is None:
                raise UntrustedState(
                    "the key that signed this run's state is missing, so the state"
                    " cannot be verified",
                    hint=f"put the file 'key' back into the state folder, or set {VARIABLE}",
                )
            self._seals = Seals(key)
        return self._seals

    def _told(self) -> bytes | None:
        if self._given is not None:
            return self._given
        text = os.environ.get(VARIABLE)
        if text is None:
            return None
        key = os.fsencode(text)
        if len(key) < _SHORTEST:
            raise StateError(
                f"{VARIABLE} has {len(key)} bytes; a key has {_SHORTEST} or more",
                hint="a good one: python -c 'import secrets; print(secrets.token_hex(32))'",
            )
        return key


def _file() -> Path:
    return state_folder() / "key"


def _read(path: Path) -> bytes | None:
    try:
        key = path.read_bytes().strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UntrustedState(f"the key file 'key' cannot be read: {error.strerror}") from error
    if len(key) < _SHORTEST:
        raise UntrustedState(
            "the key file 'key' is damaged: it is too short",
            hint="put it back from a copy; without it states that were kept cannot be used",
        )
    return key


def _make(path: Path) -> bytes:
    """Keep a new key; where another process was faster, its key holds."""
    key = secrets.token_hex(32).encode()
    draft = path.with_name(f"key.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        private_folder(path.parent)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(key + b"\n")
            file.flush()
            os.fsync(file.fileno())
        publish(draft, path)
    except ConfigError as error:
        raise StateError(error.message, hint=error.hint) from error
    except OSError as error:
        raise StateError(f"the key of run states cannot be kept: {error.strerror}") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return _read(path) or key
