"""The bundled Python: built, installed, found, and given packages."""

from lineshaft.sandbox.bundle._build import Bundle, build
from lineshaft.sandbox.bundle._install import install
from lineshaft.sandbox.bundle._libraries import (
    needed_libraries,
    system_files,
    unresolved_libraries,
)
from lineshaft.sandbox.bundle._manifest import Manifest, verify
from lineshaft.sandbox.bundle._packages import PackageTarget, lock_of, package_set, packages_for
from lineshaft.sandbox.bundle._places import lock_file
from lineshaft.sandbox.bundle._resolve import Interpreter, resolve
from lineshaft.sandbox.bundle._subject import BundledPython

__all__ = [
    "Bundle",
    "BundledPython",
    "Interpreter",
    "Manifest",
    "PackageTarget",
    "build",
    "install",
    "lock_file",
    "lock_of",
    "needed_libraries",
    "package_set",
    "packages_for",
    "resolve",
    "system_files",
    "unresolved_libraries",
    "verify",
]
