"""Tools whose schemas came from elsewhere: the schemas are not trusted, and checking is bounded.

Its import is slow because of jsonschema: it is made where there is such a tool.
"""

from lineshaft.tools.from_schema.contract import SchemaContract, problems_in, sound
from lineshaft.tools.from_schema.validator import checker

__all__ = ["SchemaContract", "checker", "problems_in", "sound"]
