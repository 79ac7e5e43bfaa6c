"""Two examples of each command, for the end of its help."""

from collections.abc import Mapping

EXAMPLES: Mapping[str, tuple[str, str]] = {
    "init": ("lineshaft init", "lineshaft init --import-mcp"),
    "run": (
        "lineshaft run report.py --arg limit:=20",
        "lineshaft run -c 'return await list_files()' --mode read",
    ),
    "preview": ("lineshaft preview rename.py", "lineshaft preview rename.py --json"),
    "resume": (
        "lineshaft resume --approve all",
        "lineshaft resume --approve 3 --deny all --reason 'not today'",
    ),
    "undo": ("lineshaft undo", "lineshaft undo 4f2a --json"),
    "replay": ("lineshaft replay", "lineshaft replay 4f2a --tools tools.py"),
    "check": ("lineshaft check report.py", "lineshaft check report.py --tools tools.py"),
    "tools": ("lineshaft tools read_file", "lineshaft tools --stubs python"),
    "call": (
        "lineshaft call read_file path=README.md",
        "lineshaft call find_files pattern='**/*.py' --json",
    ),
    "agent run": (
        "lineshaft agent run azure-sdk.spelling files:='[\"README.md\"]'",
        "lineshaft agent run triage path=issues/1.md --tools triage.py",
    ),
    "agent list": ("lineshaft agent list", "lineshaft agent list azure-sdk"),
    "agent show": ("lineshaft agent show azure-sdk.spelling", "lineshaft agent show triage --json"),
    "serve": ("lineshaft serve", "lineshaft serve --http --port 8765"),
    "editor": ("lineshaft editor", "lineshaft editor ./project --port 8766"),
    "python run": (
        "lineshaft python -c 'print(6 * 7)'",
        "lineshaft python run clean.py data.csv",
    ),
    "python build": ("lineshaft python build", "lineshaft python build --to ./python"),
    "python install": (
        "lineshaft python install python.tar.gz",
        "lineshaft python install python.tar.gz --sha256 HASH",
    ),
    "runs list": ("lineshaft runs", "lineshaft runs list --last 5"),
    "runs prune": ("lineshaft runs prune", "lineshaft runs prune --days 30"),
    "show": ("lineshaft show", "lineshaft show 4f2a --events"),
    "explain": ("lineshaft explain 3", "lineshaft explain 3 --json"),
    "eval run": (
        "lineshaft eval run migrate --variants script=on,off -n 5 --model scripted",
        "lineshaft eval run all -n 20 --model ollama:qwen3 --out sweeps/qwen3",
    ),
    "eval report": ("lineshaft eval report", "lineshaft eval report sweeps/qwen3 --json"),
    "eval gate": (
        "lineshaft eval gate --variant script=on --base script=off",
        "lineshaft eval gate --baseline main/log.jsonl --inconclusive pass",
    ),
    "cache show": ("lineshaft cache", "lineshaft cache show --json"),
    "cache clear": ("lineshaft cache clear", "lineshaft cache clear --json"),
    "doctor": ("lineshaft doctor", "lineshaft doctor --quick"),
    "config show": ("lineshaft config show", "lineshaft config show --json"),
    "config trust": ("lineshaft config trust", "lineshaft config trust --yes"),
    "config mcp show": ("lineshaft config mcp", "lineshaft config mcp show --json"),
    "config mcp import": (
        "lineshaft config mcp import --user",
        "lineshaft config mcp import github --as hub",
    ),
    "config mcp claims": (
        "lineshaft config mcp claims",
        "lineshaft config mcp claims github --accept",
    ),
    "completion": (
        "lineshaft completion bash",
        "lineshaft completion fish",
    ),
}


def shown(command: str) -> str:
    """Return the examples of a command as the end of its help."""
    lines = "\n".join(f"  {example}" for example in EXAMPLES[command])
    return f"\b\nExamples:\n{lines}"
