"""Words in a row that mean something else together, and words that mean nothing."""

from collections.abc import Mapping

PHRASES: Mapping[str, str] = {
    "pull request": "pr",
    "merge request": "mr",
    "get rid of": "delete",
    "throw away": "delete",
    "look for": "search",
    "look up": "lookup",
    "set up": "setup",
    "out of office": "vacation",
    "e mail": "email",
    "to do": "todo",
    "on call": "oncall",
    "on duty": "oncall",
    "drop down": "dropdown",
    "web page": "webpage",
    "web site": "website",
    "roll back": "rollback",
    "take back": "undo",
    "sign off": "approve",
    "kick off": "start",
    "kick out": "ban",
    "shut down": "stop",
    "turn off": "stop disable off",
    "turn on": "start enable on",
    "switch off": "stop disable off",
    "switch on": "start enable on",
    "log in": "login",
    "logged in": "authenticated",
    "who am i": "me authenticated",
    "how long": "duration",
    "how much": "amount",
    "how many": "count",
    "how big": "size",
    "time to live": "ttl",
    "find out": "get",
    "fill in": "fill",
    "google drive": "gdrive",
    "google cloud": "gcp",
    "knowledge graph": "graph",
    "free busy": "freebusy",
    "money back": "refund",
    "pick up": "get",
    "put aside": "stash",
    "cut out": "remove",
    "read aloud": "speech",
    "air quality": "airquality quality air",
    "load time": "performance",
    "phone number": "phone",
    "text message": "sms",
    "source code": "code",
    "working tree": "tree",
    "time zone": "timezone",
    "over again": "rerun",
}
"""What several words in a row mean, in a request as in a description."""

_SAY_NOTHING = (
    "a an and any are as at be been but by can could did do does for from has have he her "
    "his how i if in into is it its let lets me my of off on or our out please should so "
    "some that the their them then there these they this those to up us was we were what "
    "when where which who whom whose why will with would you your"
)
NOISE = frozenset(_SAY_NOTHING.split())
"""Words that say nothing of a tool."""
