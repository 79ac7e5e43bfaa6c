"""The image: CPython with its standard library and the guest, as one WebAssembly component."""

import hashlib
import json
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from lineshaft.errors import WasmUnavailable
from lineshaft.values import Struct

_FOLDER = Path(__file__).with_name("image")


class Image(Struct, frozen=True):
    """The facts about the image that are known without starting it."""

    digest: str
    """The SHA-256 of the component; two builds differ, so a kept run names it."""

    python: str
    """The version of its CPython."""

    modules: frozenset[str]
    """The modules of the standard library that it has."""

    missing: Mapping[str, str]
    """The modules of the standard library that it has not, and why."""

    memory: int
    """The bytes of memory that an instance begins with."""

    def component(self) -> bytes:
        """Return the component itself, some 37 MB.

        Raises:
            WasmUnavailable: The file was changed or cut.
        """
        try:
            data = zlib.decompress(_FOLDER.joinpath("guest.wasm.zlib").read_bytes())
        except (OSError, zlib.error) as error:
            raise _absent(str(error)) from error
        if hashlib.sha256(data).hexdigest() != self.digest:
            raise _absent("its digest is not the one that was built")
        return data


@cache
def image() -> Image:
    """Return the facts about the image.

    Raises:
        WasmUnavailable: This installation has none.
    """
    try:
        facts = json.loads(_FOLDER.joinpath("facts.json").read_bytes())
        return Image(
            digest=facts["digest"],
            python=facts["python"],
            modules=frozenset(facts["modules"]),
            missing=MappingProxyType(dict(facts["missing"])),
            memory=facts["memory"],
        )
    except (OSError, ValueError, KeyError) as error:
        raise _absent(str(error)) from error


def _absent(reason: str) -> WasmUnavailable:
    return WasmUnavailable(
        f"this installation has no usable image of Python for WebAssembly: {reason}",
        hint="install a released wheel, or build from a checkout with ./dev",
    )
