"""The world of `rename-key`: no tools, and twelve files."""

import json

from lineshaft.evals import World


def settings_of(number: int) -> dict[str, object]:
    """Return the settings of a region."""
    settings: dict[str, object] = {"region": f"r{number:02}", "replicas": number % 4 + 1}
    if number % 3:
        settings["timeout_ms"] = number * 700
    settings["tags"] = ["eu" if number % 2 else "us", "managed"]
    return settings


def world() -> World:
    """Return the files."""
    files = {
        f"settings/r{number:02}.json": json.dumps(settings_of(number), indent=2) + "\n"
        for number in range(1, 13)
    }
    return World(tools=(), files=files)
