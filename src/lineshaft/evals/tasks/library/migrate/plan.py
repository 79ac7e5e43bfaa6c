"""Two fixed plans for `migrate`."""

import json

from lineshaft.evals import Plan

RULES = {"gold": (5, 5), "silver": (15, 3), "bronze": (60, 0)}

SCRIPT = """
import re
rules = {"gold": (5, 5), "silver": (15, 3), "bronze": (60, 0)}
listed = await list_files("services")
paths = [e["path"] for e in listed["entries"] if e["path"].endswith(".py")]
texts = await asyncio.gather(*[read_file(path) for path in paths])
changed = 0
for path, file in zip(paths, texts):
    tier = re.match(r"# tier: (\\w+)", file["content"])[1]
    if tier in rules:
        timeout, retries = rules[tier]
        await edit_file(path, edits=[
            {"old": "TIMEOUT = 30", "new": f"TIMEOUT = {timeout}"},
            {"old": "RETRIES = 1", "new": f"RETRIES = {retries}"},
        ])
        changed += 1
return str(changed)
"""


def steps() -> Plan:
    """List, read four at a time, edit four at a time."""
    [listed] = yield [("list_files", {"path": "services"})]
    paths = [entry["path"] for entry in json.loads(listed)["entries"]]
    tiers: dict[str, str] = {}
    for at in range(0, len(paths), 4):
        texts = yield [("read_file", {"path": path}) for path in paths[at : at + 4]]
        for path, text in zip(paths[at : at + 4], texts, strict=True):
            first = json.loads(text)["content"].partition("\n")[0]
            tiers[path] = first.removeprefix("# tier: ")
    edits = [_edit(path, *RULES[tier]) for path, tier in tiers.items() if tier in RULES]
    for at in range(0, len(edits), 4):
        yield edits[at : at + 4]
    return str(len(edits))


def _edit(path: str, timeout: int, retries: int) -> tuple[str, dict[str, object]]:
    edits = [
        {"old": "TIMEOUT = 30", "new": f"TIMEOUT = {timeout}"},
        {"old": "RETRIES = 1", "new": f"RETRIES = {retries}"},
    ]
    return "edit_file", {"path": path, "edits": edits}
