"""Rules come first, then the mode; a script can catch a refusal, and the record has its reason."""

import tempfile
from pathlib import Path

import lineshaft
from lineshaft import Policy, kit

POLICY = Policy.from_dict(
    {
        "mode": "auto",
        "rules": [
            {
                "id": "docs-only",
                "tool": "write_file",
                "path": "docs/**",
                "verdict": "allow",
            },
            {
                "id": "no-other-writes",
                "effect": "write",
                "verdict": "deny",
                "reason": "this job writes documentation",
            },
        ],
    }
)

SCRIPT = """
written = []
for path in ["docs/a.md", "src/a.py"]:
    try:
        await write_file(path=path, content="# a")
        written.append(path)
    except ToolError as e:
        print(e.code, e.tool)
return written
"""

with tempfile.TemporaryDirectory() as folder:
    files = kit.tools("write_file")
    result = lineshaft.run_sync(SCRIPT, tools=files, workspace=folder, policy=POLICY)
    print(result.stdout, end="")
    print(result.value, sorted(path.name for path in Path(folder).rglob("*.*")))
    for call in result.calls:
        print(call.tool, call.arguments["path"], call.status, call.rule)
