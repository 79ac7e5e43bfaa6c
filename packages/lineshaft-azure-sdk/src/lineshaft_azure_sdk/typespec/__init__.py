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
from lineshaft_azure_sdk.typespec.convert import tsp_client_convert
from lineshaft_azure_sdk.typespec.tsp_client import (
    Generated,
    tsp_client_init,
    tsp_client_sync,
    tsp_client_update,
)

__all__ = [
    "Compilation",
    "CustomizationResult",
    "Diagnostic",
    "Generated",
    "RepairResult",
    "compile_typespec",
    "tsp_client_convert",
    "tsp_client_init",
    "tsp_client_sync",
    "tsp_client_update",
    "typespec_customization",
    "typespec_repair",
]
