"""Two fixed plans for `validators`."""

from lineshaft.evals import Plan

MODULE = '''"""Validators of orders."""

import re


def valid_sku(text):
    """Return whether a text is a stock number."""
    return isinstance(text, str) and re.fullmatch("[A-Z]{2}-[0-9]{4}", text) is not None


def valid_quantity(value):
    """Return whether a value is a whole number from 1 to 999."""
    return type(value) is int and 1 <= value <= 999
'''

SCRIPT = f"""
await write_file("validators.py", {MODULE!r})
return "done"
"""


def steps() -> Plan:
    """Look, then write the module."""
    yield [("read_file", {"path": "README.md"})]
    yield [("write_file", {"path": "validators.py", "content": MODULE})]
    return "done"
