"""Tools whose schemas came from elsewhere: the schemas are not trusted, and checking is bounded.

Its import is slow because of jsonschema: it is made where there is such a tool.
"""

from lineshaft.tools.foreign.annotation import schema_type
from lineshaft.tools.foreign.contract import Foreign

__all__ = ["Foreign", "schema_type"]
