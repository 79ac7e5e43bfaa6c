"""Tools whose schemas came from elsewhere: the schemas are not trusted, and checking is bounded.

Its import is slow because of jsonschema: it is made where there is such a tool.
"""

from lineshaft.tools.foreign.contract import Foreign, problems_in, sound
from lineshaft.tools.foreign.validator import checker

__all__ = ["Foreign", "checker", "problems_in", "sound"]
