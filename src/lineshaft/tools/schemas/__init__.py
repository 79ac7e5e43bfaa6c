"""Contracts of tools: JSON Schemas, types of Python, and validation of values."""

from lineshaft.tools.schemas.addresses import (
    WebAddress,
    address_names,
    origin,
    parts_of,
    web_address,
)
from lineshaft.tools.schemas.contract import Contract
from lineshaft.tools.schemas.defaults import with_defaults
from lineshaft.tools.schemas.essence import schema_digest
from lineshaft.tools.schemas.passwords import password_names
from lineshaft.tools.schemas.paths import EntryPath, WorkspacePath, places
from lineshaft.tools.schemas.plainness import NotPlain, ValuePath, plain
from lineshaft.tools.schemas.pointers import (
    DATA,
    KEYED,
    Schema,
    as_list,
    as_schema,
    resolve,
    subschemas,
)
from lineshaft.tools.schemas.problems import Mismatch, Problem, shown, tell, unknown
from lineshaft.tools.schemas.properties import Members, members
from lineshaft.tools.schemas.publishing import (
    PublishedSchema,
    own_names,
    plainest,
    published,
)
from lineshaft.tools.schemas.signatures import (
    Function,
    Parameter,
    Signature,
    is_awaited,
    is_context,
    own_name,
    read_signature,
    target_of,
    type_hints,
)

__all__ = [
    "DATA",
    "KEYED",
    "Contract",
    "EntryPath",
    "Function",
    "Members",
    "Mismatch",
    "NotPlain",
    "Parameter",
    "Problem",
    "PublishedSchema",
    "Schema",
    "Signature",
    "ValuePath",
    "WebAddress",
    "WorkspacePath",
    "address_names",
    "as_list",
    "as_schema",
    "is_awaited",
    "is_context",
    "members",
    "origin",
    "own_name",
    "own_names",
    "parts_of",
    "password_names",
    "places",
    "plain",
    "plainest",
    "published",
    "read_signature",
    "resolve",
    "schema_digest",
    "shown",
    "subschemas",
    "target_of",
    "tell",
    "type_hints",
    "unknown",
    "web_address",
    "with_defaults",
]
