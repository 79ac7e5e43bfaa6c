"""Two fixed plans for `pick-title`."""

from lineshaft.evals import Plan

SCRIPT = """
return (await read_file("article.md"))["content"]
"""


def steps() -> Plan:
    """Read; the judgement is a model's own."""
    yield [("read_file", {"path": "article.md"})]
    return "B"


def scripts() -> Plan:
    """Read by a script; the judgement is a model's own all the same."""
    yield [("run_script", {"code": SCRIPT})]
    return "B"
