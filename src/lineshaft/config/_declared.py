"""Microagents as a file declares them: what each key may be."""

import re
from difflib import get_close_matches
from typing import cast

from lineshaft.config._key import is_text, is_texts

AGENTS = "agents"
"""The table that holds them."""

_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
AGENT_KEYS = {
    "instructions": "a text",
    "description": "a text",
    "inputs": "a JSON Schema of an object, or the path of one",
    "result": "a JSON Schema, or the path of one",
    "tools": 'a list of names of tools: ["read_file", "search_text"]',
    "model": "a name: openai:NAME, ollama:NAME, URL#NAME, or PROVIDER:NAME",
    "key_env": "the name of a variable",
    "price": "dollars for a million tokens: {input = 0.25, output = 2.0, cached = 0.025}",
    "budget": "a table: {turns = 10, seconds = 120}",
    "idempotent": "true or false",
}
"""The keys of one agent, and what each may be."""


def agent_problem(name: str, table: object) -> str:
    """Return what is wrong with the table of one agent; nothing if all is well."""
    if not _NAME.fullmatch(name):
        return "is not a name; allowed: small letters, digits and _"
    if not isinstance(table, dict):
        return "must be a table"
    given = cast("dict[str, object]", table)
    for key in given:
        if key not in AGENT_KEYS:
            close = get_close_matches(key, AGENT_KEYS, n=1)
            near = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(AGENT_KEYS)}"
            return f"unknown key {key!r}; {near}"
    for key in ("instructions", "result"):
        if key not in given:
            return f"lacks {key}: {AGENT_KEYS[key]}"
    for key, said in given.items():
        if not _is_allowed(key, said):
            return f"{key} is {said!r}; allowed: {AGENT_KEYS[key]}"
    if "key_env" in given and not _takes_key(str(given.get("model", ""))):
        return "key_env is for models openai:NAME and URL#NAME"
    if "price" in given and not _takes_key(str(given.get("model", ""))):
        return "price is for models openai:NAME and URL#NAME"
    return ""


def _is_allowed(key: str, value: object) -> bool:
    match key:
        case "inputs" | "result":
            return isinstance(value, dict) or is_text(value)
        case "tools":
            return is_texts(value)
        case "price" | "budget":
            return isinstance(value, dict)
        case "idempotent":
            return isinstance(value, bool)
        case "key_env":
            return isinstance(value, str) and bool(_VARIABLE.fullmatch(value))
        case _:
            return is_text(value)


def _takes_key(model: str) -> bool:
    return model.startswith(("http://", "https://", "openai:"))
