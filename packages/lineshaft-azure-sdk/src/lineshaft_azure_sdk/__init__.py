"""Agents and tools for Azure SDK repositories, as a pack for Lineshaft.

`lineshaft agent list azure-sdk` names the agents; `lineshaft agent show azure-sdk.spelling` says
what one takes. Their work is checked by the real tools: cspell, the TypeSpec compiler, Maven.
"""

from lineshaft.packs import Pack
from lineshaft_azure_sdk.files import patch_file
from lineshaft_azure_sdk.spelling import check_spelling, spelling, update_cspell_words
from lineshaft_azure_sdk.typespec import (
    compile_typespec,
    typespec_customization,
    typespec_repair,
)

__all__ = ["pack"]

pack = Pack(
    description="Agents and tools for Azure SDK repositories.",
    tools=[check_spelling, compile_typespec, patch_file, update_cspell_words],
    agents=[spelling, typespec_customization, typespec_repair],
)
