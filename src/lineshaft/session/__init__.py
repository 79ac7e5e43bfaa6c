"""Sessions: tools, policy, a workspace and engines behind one door."""

from lineshaft.session._catalogue import Catalogue
from lineshaft.session._definitions import Api
from lineshaft.session._kept_results import is_handle
from lineshaft.session._model_side import MODEL_CHARACTERS
from lineshaft.session._run import Run
from lineshaft.session._script_tool import script_tool
from lineshaft.session._session import Session
from lineshaft.session._sync import SessionArguments, run_sync, waited_for
from lineshaft.session.routing import Route, ToolHabits, habits_of, route_of

__all__ = [
    "MODEL_CHARACTERS",
    "Api",
    "Catalogue",
    "Route",
    "Run",
    "Session",
    "SessionArguments",
    "ToolHabits",
    "habits_of",
    "is_handle",
    "route_of",
    "run_sync",
    "script_tool",
    "waited_for",
]
