"""Agents and tools for Azure SDK repositories, as a pack for Lineshaft.

`lineshaft agent list azure-sdk` names the agents; `lineshaft agent show azure-sdk.spelling` says
what one takes. Their work is checked by the real tools: cspell, the TypeSpec compiler, Maven.
"""

from lineshaft.packs import Pack
from lineshaft_azure_sdk.files import patch_file
from lineshaft_azure_sdk.java import compile_java, java_patch
from lineshaft_azure_sdk.readme import check_links, check_readme, readme
from lineshaft_azure_sdk.sdk_configuration import programs_of
from lineshaft_azure_sdk.sdk_scripts import run_sdk_script
from lineshaft_azure_sdk.spelling import check_spelling, spelling, update_cspell_words
from lineshaft_azure_sdk.typespec import (
    compile_typespec,
    tsp_client_convert,
    tsp_client_init,
    tsp_client_sync,
    tsp_client_update,
    typespec_customization,
    typespec_repair,
)

__all__ = ["pack"]

pack = Pack(
    description="Agents and tools for Azure SDK repositories.",
    tools=[
        check_links,
        check_readme,
        check_spelling,
        compile_java,
        compile_typespec,
        patch_file,
        run_sdk_script,
        tsp_client_convert,
        tsp_client_init,
        tsp_client_sync,
        tsp_client_update,
        update_cspell_words,
    ],
    agents=[java_patch, readme, spelling, typespec_customization, typespec_repair],
    programs=programs_of,
)
