# ruff: noqa: E501  the declarations are as long as they are
"""TypeScript declarations: golden."""

from lineshaft.tools import typescript_stubs
from lineshaft.values import ToolSpec

FETCH = ToolSpec(
    name="web.fetch-all",
    description="Fetch pages.\n\nNot */ more.",
    input_schema={
        "properties": {
            "urls": {"items": {"type": "string"}, "description": "Where."},
            "mode": {"enum": ["fast", 2, True, None]},
            "odd-key": {"type": ["number", "null"]},
            "several": {"items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}},
            "pair": {
                "prefixItems": [{"type": "boolean"}, {}],
                "minItems": 2,
                "maxItems": 2,
            },
            "headers": {"additionalProperties": {"type": "string"}},
        },
        "required": ["urls"],
        "additionalProperties": True,
    },
    output_schema={
        "title": "Page",
        "description": "One page.",
        "properties": {"text": {"type": "string"}, "next": {"$ref": "#"}},
        "required": ["text"],
        "additionalProperties": True,
    },
)

PLAIN = ToolSpec(name="now", input_schema={"properties": {}})
OPTIONAL = ToolSpec(name="rest", input_schema={"properties": {"seconds": {"type": "number"}}})

DECLARATIONS = """\
/** One page. */
interface Page {
  text: string;
  next?: Page;
  [key: string]: unknown;
}

declare function now(): Promise<unknown>;

declare function rest(args?: { seconds?: number }): Promise<unknown>;

declare namespace web {
  /**
   * Fetch pages.
   *
   * Not * / more.
   * @param urls Where.
   */
  function fetch_all(args: { urls: string[]; mode?: "fast" | 2 | true | null; "odd-key"?: number | null; several?: (number | string)[]; pair?: [boolean, unknown]; headers?: Record<string, string>; [key: string]: unknown }): Promise<Page>;
}
"""


def test_declarations_say_what_the_schemas_say() -> None:
    assert typescript_stubs([PLAIN, OPTIONAL, FETCH]) == DECLARATIONS


def test_no_tools_are_no_declarations() -> None:
    assert typescript_stubs([]) == "\n"
