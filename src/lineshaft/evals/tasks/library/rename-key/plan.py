"""Two fixed plans for `rename-key`."""

import json

from lineshaft.evals import Plan

SCRIPT = """
import json, math
listed = await list_files("settings")
changed = 0
for entry in listed["entries"]:
    file = await read_file(entry["path"])
    settings = json.loads(file["content"])
    if "timeout_ms" in settings:
        settings["timeout_seconds"] = math.ceil(settings.pop("timeout_ms") / 1000)
        await write_file(entry["path"], json.dumps(settings, indent=2) + "\\n")
        changed += 1
return str(changed)
"""


def steps() -> Plan:
    """Read six at a time, then edit those that have the key."""
    [listed] = yield [("list_files", {"path": "settings"})]
    paths = [entry["path"] for entry in json.loads(listed)["entries"]]
    edits: list[tuple[str, dict[str, object]]] = []
    for at in range(0, len(paths), 6):
        texts = yield [("read_file", {"path": path}) for path in paths[at : at + 6]]
        for path, text in zip(paths[at : at + 6], texts, strict=True):
            settings = json.loads(json.loads(text)["content"])
            if "timeout_ms" in settings:
                value = settings["timeout_ms"]
                old, new = f'"timeout_ms": {value}', f'"timeout_seconds": {-(-value // 1000)}'
                edits.append(("edit_file", {"path": path, "old": old, "new": new}))
    for at in range(0, len(edits), 6):
        yield edits[at : at + 6]
    return str(len(edits))
