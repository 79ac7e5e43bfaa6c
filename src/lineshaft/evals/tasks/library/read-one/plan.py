"""Two fixed plans for `read-one`."""

from lineshaft.evals import Plan

SCRIPT = """
import re
text = (await read_file("README.md"))["content"]
return re.search(r"port (\\d+)", text)[1]
"""


def steps() -> Plan:
    """Read the file."""
    yield [("read_file", {"path": "README.md"})]
    return "8457"
