"""Signatures of tools as source text, for models, people and type checkers."""

from lineshaft.tools.stubs.python import (
    checker_stubs,
    describe,
    python_stubs,
    record_keys,
    record_tools,
    signature,
)
from lineshaft.tools.stubs.typescript import typescript_stubs

__all__ = [
    "checker_stubs",
    "describe",
    "python_stubs",
    "record_keys",
    "record_tools",
    "signature",
    "typescript_stubs",
]
