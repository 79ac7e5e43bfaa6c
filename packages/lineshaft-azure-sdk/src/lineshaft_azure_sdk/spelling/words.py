"""The words list of cspell, by the tool of the kit."""

from lineshaft.kit.words import words_tool

update_cspell_words = words_tool("azure_sdk.update_cspell_words")
