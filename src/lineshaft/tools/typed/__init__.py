"""Tools from functions of Python: their types become schemas, and pydantic checks values.

To import it takes a while, which is pydantic's: it is done where there is such a tool.
"""

from lineshaft.tools.typed.contract import Typed

__all__ = ["Typed"]
