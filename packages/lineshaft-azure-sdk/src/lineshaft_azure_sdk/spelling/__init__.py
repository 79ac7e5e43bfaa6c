"""Spelling: cspell's findings, its words list, and proof that a fix is one."""

from lineshaft_azure_sdk.spelling.agent import SpellingFix, SpellingResult, spelling
from lineshaft_azure_sdk.spelling.checker import Misspelling, SpellingReport, check_spelling
from lineshaft_azure_sdk.spelling.words import update_cspell_words

__all__ = [
    "Misspelling",
    "SpellingFix",
    "SpellingReport",
    "SpellingResult",
    "check_spelling",
    "spelling",
    "update_cspell_words",
]
