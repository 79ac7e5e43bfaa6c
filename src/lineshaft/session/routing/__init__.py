"""The router: which tools a model calls directly, and which in scripts alone."""

from lineshaft.session.routing.deciding import route_of
from lineshaft.session.routing.habits import ToolHabits, habits_of, logged_habits
from lineshaft.session.routing.route import Route

__all__ = ["Route", "ToolHabits", "habits_of", "logged_habits", "route_of"]
