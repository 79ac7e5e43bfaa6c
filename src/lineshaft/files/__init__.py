"""Lineshaft's own files: their places, their owners and modes, their writing."""

from lineshaft.files._locks import lock_file, locked, unlock_file
from lineshaft.files._own import Identity, OwnFolders, identity_of
from lineshaft.files._owners import Trusted, others_cannot_write, trusted
from lineshaft.files._places import (
    cache_folder,
    config_folder,
    data_folder,
    state_folder,
)
from lineshaft.files._removal import remove_tree
from lineshaft.files._writing import made_private, only_writer, private_folder, write_whole

__all__ = [
    "Identity",
    "OwnFolders",
    "Trusted",
    "cache_folder",
    "config_folder",
    "data_folder",
    "identity_of",
    "lock_file",
    "locked",
    "made_private",
    "only_writer",
    "others_cannot_write",
    "private_folder",
    "remove_tree",
    "state_folder",
    "trusted",
    "unlock_file",
    "write_whole",
]
