"""TypeSpec: the compiler's findings, and agents whose work the compiler accepts."""

from lineshaft_azure_sdk.typespec.agents import (
    CustomizationResult,
    RepairResult,
    typespec_customization,
    typespec_repair,
)
from lineshaft_azure_sdk.typespec.compiler import (
    Compilation,
    Diagnostic,
    compile_typespec,
)

__all__ = [
    "Compilation",
    "CustomizationResult",
    "Diagnostic",
    "RepairResult",
    "compile_typespec",
    "typespec_customization",
    "typespec_repair",
]
