"""Tools from functions of Python: their types become schemas, and pydantic checks values.

Its import is slow because of pydantic: it is made where there is such a tool.
"""

from lineshaft.tools.typed.contract import TypedContract

__all__ = ["TypedContract"]
