"""Files, variables and flags become the objects a user would build; no other room reads them.

Above: the command line. Below: the session. Files are read once, bounded, and may be hostile.
"""

from lineshaft.config._agents import (
    AgentSetting,
    Faulty,
    agent_of,
    agent_settings,
    unapproved_agents,
)
from lineshaft.config._build import build, folder, load, policy, store_of, tools, unmasked
from lineshaft.config._claims import (
    ClaimsAnswer,
    KeptClaims,
    claims_for,
    keep_claims,
    kept_claims,
)
from lineshaft.config._counts import ToolCounts
from lineshaft.config._files import read_bytes
from lineshaft.config._found import (
    FoundServers,
    approval_of,
    client_servers,
    server_approved,
    servers,
    servers_in,
)
from lineshaft.config._guards import guard_levels, guard_modules, guards
from lineshaft.config._idle import idle_rules
from lineshaft.config._import import Imported, Target, import_server, standing
from lineshaft.config._key import Key
from lineshaft.config._keys import KEYS
from lineshaft.config._modules import hashes_of_modules, unapproved
from lineshaft.config._packs import pack_modules
from lineshaft.config._places import PROJECT_FILE, user_file
from lineshaft.config._prices import prices_problem
from lineshaft.config._programs import program_approved, unapproved_programs
from lineshaft.config._providers import Down, Starting, provider_for, providers
from lineshaft.config._secrets import kept_secrets, secrets_file
from lineshaft.config._serve import ServeSettings, serve_settings
from lineshaft.config._settings import (
    EDITOR,
    Alias,
    Module,
    Setting,
    Settings,
    read_settings,
    refuse_unusable_store,
)
from lineshaft.config._trust import Approval, Confirm, approve
from lineshaft.config.clients import BrokenFile, ClientFile, client_files, read_client_file
from lineshaft.config.definitions import (
    AskInput,
    Input,
    ServerSetting,
    Variables,
    changes_what_is_loaded,
    masked_url,
    references,
    shown_server,
    told_table,
    told_value,
    told_words,
)

__all__ = [
    "EDITOR",
    "KEYS",
    "PROJECT_FILE",
    "AgentSetting",
    "Alias",
    "Approval",
    "AskInput",
    "BrokenFile",
    "ClaimsAnswer",
    "ClientFile",
    "Confirm",
    "Down",
    "Faulty",
    "FoundServers",
    "Imported",
    "Input",
    "KeptClaims",
    "Key",
    "Module",
    "ServeSettings",
    "ServerSetting",
    "Setting",
    "Settings",
    "Starting",
    "Target",
    "ToolCounts",
    "Variables",
    "agent_of",
    "agent_settings",
    "approval_of",
    "approve",
    "build",
    "changes_what_is_loaded",
    "claims_for",
    "client_files",
    "client_servers",
    "folder",
    "guard_levels",
    "guard_modules",
    "guards",
    "hashes_of_modules",
    "idle_rules",
    "import_server",
    "keep_claims",
    "kept_claims",
    "kept_secrets",
    "load",
    "masked_url",
    "pack_modules",
    "policy",
    "prices_problem",
    "program_approved",
    "provider_for",
    "providers",
    "read_bytes",
    "read_client_file",
    "read_settings",
    "references",
    "refuse_unusable_store",
    "secrets_file",
    "serve_settings",
    "server_approved",
    "servers",
    "servers_in",
    "shown_server",
    "standing",
    "store_of",
    "told_table",
    "told_value",
    "told_words",
    "tools",
    "unapproved",
    "unapproved_agents",
    "unapproved_programs",
    "unmasked",
    "user_file",
]
