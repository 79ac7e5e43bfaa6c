"""Two fixed plans for `handlers`."""

from lineshaft.evals import Plan

HANDLER = '''

def health(request):
    """Return that all is well, and how many routes there are."""
    from app.routes import ROUTES

    return {"status": "ok", "routes": len(ROUTES)}
'''
OLD, NEW = "    return dict(request)\n", "    return dict(request)\n" + HANDLER
ROUTE = '    "/echo": handlers.echo,\n'
ROUTES = ROUTE + '    "/health": handlers.health,\n'

SCRIPT = f"""
await edit_file("app/handlers.py", {OLD!r}, {NEW!r})
await edit_file("app/routes.py", {ROUTE!r}, {ROUTES!r})
return "done"
"""


def steps() -> Plan:
    """Read both, edit both."""
    paths = "app/handlers.py", "app/routes.py"
    yield [("read_file", {"path": path}) for path in paths]
    yield [
        ("edit_file", {"path": paths[0], "old": OLD, "new": NEW}),
        ("edit_file", {"path": paths[1], "old": ROUTE, "new": ROUTES}),
    ]
    return "done"
