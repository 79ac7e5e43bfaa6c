"""The reading of scripts, as the host sees it: it asks the guest's reader and parses nothing.

Above: runs and their checks. Below: the kept instance of the image that reads.
"""

from lineshaft.scripts.reading.ask import AskReader, through
from lineshaft.scripts.reading.hints import hint_for
from lineshaft.scripts.reading.prepared import Import, NewerSyntax, Prepared
from lineshaft.scripts.reading.reading import Reading, strangers
from lineshaft.scripts.reading.recent import Recent

__all__ = [
    "AskReader",
    "Import",
    "NewerSyntax",
    "Prepared",
    "Reading",
    "Recent",
    "hint_for",
    "strangers",
    "through",
]
