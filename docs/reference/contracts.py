"""Writes the contracts of the built-in tools from their types and docstrings.

`--check` compares them with the file and writes none.
"""

import sys
from typing import Any, cast

from lineshaft import kit
from lineshaft.session._runtime import runtime_tools
from lineshaft.tools._built_in import FILE, text_of
from lineshaft.tools.typed import TypedContract


def main() -> None:
    """Write the file, or say that it is out of date."""
    nothing = cast("Any", None)  # the tools' functions are not called
    tools = [
        *kit.tools("default", "fetch_url").values(),
        *runtime_tools(nothing, nothing, nothing),
    ]
    made = text_of(
        (tool.function, TypedContract(tool.function, method=False, name=tool.name))
        for tool in tools
    )
    if "--check" in sys.argv[1:]:
        stale = not FILE.exists() or FILE.read_text(encoding="utf-8") != made
        sys.exit(f"stale: {FILE.name}; run ./dev reference" if stale else None)
    FILE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
