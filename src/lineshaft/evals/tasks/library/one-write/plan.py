"""Two fixed plans for `one-write`."""

from lineshaft.evals import Plan

TEXT = "Call the printer about the blue paper.\n"

SCRIPT = f"""
await write_file("notes/monday.md", {TEXT!r})
return "done"
"""


def steps() -> Plan:
    """Write."""
    yield [("write_file", {"path": "notes/monday.md", "content": TEXT})]
    return "done"
