"""Tools: functions that may be called, their descriptions for scripts and models, their search.

Above are the gate, which alone runs tools, and the session; below are values and errors.
"""

from lineshaft.tools._detail import Detail, detailed
from lineshaft.tools._lookup import spec_named
from lineshaft.tools._names import RESERVED, RUNTIME_TOOLS, SCOPE, model_name, script_name
from lineshaft.tools._observed import infer_shape, merge_shapes, shape_difference, tool_version
from lineshaft.tools._providers import (
    HeldContent,
    Provider,
    Shaped,
    combined,
    content_of,
    down,
    filtered,
    let_ask,
    missing,
    opened,
    renamed,
    unlisted,
)
from lineshaft.tools._schema_type import schema_type
from lineshaft.tools._shape_book import ShapeBook
from lineshaft.tools._tool import Tool, ToolOptions, tool
from lineshaft.tools._toolset import ToolLike, Toolset, is_tool_like
from lineshaft.tools._unjailed import counts_as_unjailed
from lineshaft.tools.schemas import (
    EntryPath,
    Mismatch,
    NotPlain,
    Problem,
    WebAddress,
    WorkspacePath,
    origin,
    own_names,
    parts_of,
    plain,
    plainest,
    published,
    tell,
    web_address,
    with_defaults,
)
from lineshaft.tools.search import search_specs
from lineshaft.tools.stubs import (
    checker_stubs,
    describe,
    python_stubs,
    record_keys,
    record_tools,
    signature,
    typescript_stubs,
)

__all__ = [
    "RESERVED",
    "RUNTIME_TOOLS",
    "SCOPE",
    "Detail",
    "EntryPath",
    "HeldContent",
    "Mismatch",
    "NotPlain",
    "Problem",
    "Provider",
    "ShapeBook",
    "Shaped",
    "Tool",
    "ToolLike",
    "ToolOptions",
    "Toolset",
    "WebAddress",
    "WorkspacePath",
    "checker_stubs",
    "combined",
    "content_of",
    "counts_as_unjailed",
    "describe",
    "detailed",
    "down",
    "filtered",
    "infer_shape",
    "is_tool_like",
    "let_ask",
    "merge_shapes",
    "missing",
    "model_name",
    "opened",
    "origin",
    "own_names",
    "parts_of",
    "plain",
    "plainest",
    "published",
    "python_stubs",
    "record_keys",
    "record_tools",
    "renamed",
    "schema_type",
    "script_name",
    "search_specs",
    "shape_difference",
    "signature",
    "spec_named",
    "tell",
    "tool",
    "tool_version",
    "typescript_stubs",
    "unlisted",
    "web_address",
    "with_defaults",
]
