"""Tools whose schemas came from elsewhere: nothing in them is trusted, and checking is bounded.

To import it takes a while, which is jsonschema's: it is done where there is such a tool.
"""

from lineshaft.tools.foreign.contract import Foreign

__all__ = ["Foreign"]
