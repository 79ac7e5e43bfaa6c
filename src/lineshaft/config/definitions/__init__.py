"""MCP servers as files describe them: definitions, variables, secrets, what they start from."""

from lineshaft.config.definitions.auth import access_of
from lineshaft.config.definitions.definition import (
    MOST_SECONDS,
    ClaimsRule,
    ServerSetting,
    Transport,
    is_reserved,
    own_servers,
    table_of_texts,
    texts_in,
    url_problem,
)
from lineshaft.config.definitions.dotenv import env_file
from lineshaft.config.definitions.literals import Literals
from lineshaft.config.definitions.masking import (
    changes_what_is_loaded,
    masked_url,
    shown_server,
    told_table,
    told_value,
    told_words,
)
from lineshaft.config.definitions.serialization import written
from lineshaft.config.definitions.start_files import files_of
from lineshaft.config.definitions.variables import (
    INPUT_PREFIX,
    AskInput,
    Input,
    Variables,
    inputs_in,
    references,
)

__all__ = [
    "INPUT_PREFIX",
    "MOST_SECONDS",
    "AskInput",
    "ClaimsRule",
    "Input",
    "Literals",
    "ServerSetting",
    "Transport",
    "Variables",
    "access_of",
    "changes_what_is_loaded",
    "env_file",
    "files_of",
    "inputs_in",
    "is_reserved",
    "masked_url",
    "own_servers",
    "references",
    "shown_server",
    "table_of_texts",
    "texts_in",
    "told_table",
    "told_value",
    "told_words",
    "url_problem",
    "written",
]
