"""The reading of scripts, as the host sees it: it asks the guest's reader and parses nothing.

Above: runs and their checks. Below: the kept instance of the image that reads.
"""

from lineshaft.scripts.reading.ask import Ask, through
from lineshaft.scripts.reading.hints import hint_for
from lineshaft.scripts.reading.prepared import Import, Newer, Prepared
from lineshaft.scripts.reading.reading import Reading, strangers
from lineshaft.scripts.reading.recent import Recent

__all__ = [
    "Ask",
    "Import",
    "Newer",
    "Prepared",
    "Reading",
    "Recent",
    "hint_for",
    "strangers",
    "through",
]
