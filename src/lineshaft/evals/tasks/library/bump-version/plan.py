"""Two fixed plans for `bump-version`."""

from lineshaft.evals import Plan

SCRIPT = """
await edit_file("package.json", "2.4.1", "2.5.0")
return "done"
"""


def steps() -> Plan:
    """Read, then edit."""
    yield [("read_file", {"path": "package.json"})]
    yield [("edit_file", {"path": "package.json", "old": "2.4.1", "new": "2.5.0"})]
    return "done"
