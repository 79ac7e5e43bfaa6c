"""Two fixed plans for `fix-regression`."""

from lineshaft.evals import Plan

OLD, NEW = "start <= day < end", "start <= day <= end"
CAUSE = "in_period left out the last day of a period."

SCRIPT = """
print((await read_file("REPORT.md"))["content"])
for entry in (await list_files("ledger"))["entries"]:
    print((await read_file(entry["path"]))["content"])
"""
MENDING = f"""
await edit_file("ledger/dates.py", {OLD!r}, {NEW!r})
return {CAUSE!r}
"""


def steps() -> Plan:
    """Read the report, follow the calls, mend the place."""
    yield [("read_file", {"path": "REPORT.md"})]
    yield [("search_text", {"pattern": "def balance"})]
    yield [("read_file", {"path": "ledger/balances.py"})]
    yield [("read_file", {"path": "ledger/dates.py"})]
    yield [("edit_file", {"path": "ledger/dates.py", "old": OLD, "new": NEW})]
    return CAUSE


def scripts() -> Plan:
    """Read all in one script, mend in a second one."""
    yield [("run_script", {"code": SCRIPT})]
    yield [("run_script", {"code": MENDING})]
    return CAUSE
