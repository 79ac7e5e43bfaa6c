"""Packs: tools and agents of one domain, in a distribution of its own.

Above: the configuration and the command line, which name packs. Below: the metadata of installed
distributions. Discovery imports nothing of a pack; a pack is imported once it is named.
"""

from lineshaft.packs._discovery import GROUP, FoundPack, discover, find_pack
from lineshaft.packs._pack import Pack, ProjectProgram, load_pack

__all__ = [
    "GROUP",
    "FoundPack",
    "Pack",
    "ProjectProgram",
    "discover",
    "find_pack",
    "load_pack",
]
