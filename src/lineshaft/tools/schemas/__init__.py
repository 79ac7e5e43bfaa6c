"""What tools take and give: JSON Schemas, types of Python, and values held against them."""

from lineshaft.tools.schemas.contract import Contract
from lineshaft.tools.schemas.foreign import Foreign
from lineshaft.tools.schemas.paths import EntryPath, WorkspacePath, places
from lineshaft.tools.schemas.plainness import NotPlain, plain
from lineshaft.tools.schemas.pointers import Schema, as_list, as_schema, resolve, subschemas
from lineshaft.tools.schemas.problems import Mismatch, Problem, tell
from lineshaft.tools.schemas.properties import Members, members
from lineshaft.tools.schemas.signatures import own_name, target_of
from lineshaft.tools.schemas.typed import Typed

__all__ = [
    "Contract",
    "EntryPath",
    "Foreign",
    "Members",
    "Mismatch",
    "NotPlain",
    "Problem",
    "Schema",
    "Typed",
    "WorkspacePath",
    "as_list",
    "as_schema",
    "members",
    "own_name",
    "places",
    "plain",
    "resolve",
    "subschemas",
    "target_of",
    "tell",
]
