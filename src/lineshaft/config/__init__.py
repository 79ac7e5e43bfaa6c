"""Files, variables and flags become the objects a user would build; no other room reads them.

Above: the command line. Below: the session. Files are read once, bounded, and may be hostile.
"""

from lineshaft.config._build import build, folder, load, policy, store_of, tools
from lineshaft.config._files import read_bytes
from lineshaft.config._guards import guard_modules, guards
from lineshaft.config._key import Key
from lineshaft.config._keys import KEYS
from lineshaft.config._modules import Confirm, unapproved
from lineshaft.config._places import PROJECT_FILE, user_file
from lineshaft.config._settings import Alias, Module, Setting, Settings, read_settings
from lineshaft.config._trust import Unapproved, approve
from lineshaft.store import private_folder, state_folder

__all__ = [
    "KEYS",
    "PROJECT_FILE",
    "Alias",
    "Confirm",
    "Key",
    "Module",
    "Setting",
    "Settings",
    "Unapproved",
    "approve",
    "build",
    "folder",
    "guard_modules",
    "guards",
    "load",
    "policy",
    "private_folder",
    "read_bytes",
    "read_settings",
    "state_folder",
    "store_of",
    "tools",
    "unapproved",
    "user_file",
]
