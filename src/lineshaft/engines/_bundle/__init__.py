"""The bundled Python: built, installed, found, and given packages."""

from lineshaft.engines._bundle._build import Bundle, build
from lineshaft.engines._bundle._install import install
from lineshaft.engines._bundle._libraries import needed_libraries, system_files
from lineshaft.engines._bundle._manifest import Manifest, verify
from lineshaft.engines._bundle._packages import package_set
from lineshaft.engines._bundle._places import lock_file
from lineshaft.engines._bundle._resolve import Interpreter, resolve

__all__ = [
    "Bundle",
    "Interpreter",
    "Manifest",
    "build",
    "install",
    "lock_file",
    "needed_libraries",
    "package_set",
    "resolve",
    "system_files",
    "verify",
]
