"""Servers in the files of other programs: where they lie, and what they say."""

from lineshaft.config.clients.places import ClientFile, client_files
from lineshaft.config.clients.reader import BrokenFile, read_client_file

__all__ = [
    "BrokenFile",
    "ClientFile",
    "client_files",
    "read_client_file",
]
