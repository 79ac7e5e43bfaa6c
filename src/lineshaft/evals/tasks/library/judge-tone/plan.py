"""Two fixed plans for `judge-tone`."""

from lineshaft.evals import Plan

JUDGED = {"a.txt": "angry", "b.txt": "pleased", "c.txt": "pleased", "d.txt": "angry"}
JUDGED["e.txt"] = "pleased"

SCRIPT = """
for entry in (await list_files("letters"))["entries"]:
    print(entry["path"], (await read_file(entry["path"]))["content"])
"""


def steps() -> Plan:
    """Read all five at once; the judgement is a model's own."""
    yield [("list_files", {"path": "letters"})]
    yield [("read_file", {"path": f"letters/{name}"}) for name in JUDGED]
    return JUDGED


def scripts() -> Plan:
    """Print the letters by a script; the judgement is a model's own all the same."""
    yield [("run_script", {"code": SCRIPT})]
    return JUDGED
