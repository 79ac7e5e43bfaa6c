from contextlib import contextmanager

events = []

@contextmanager
def transaction(name):
    events.append(("begin", name))
    try:
        yield events
        events.append(("commit", name))
    except ToolError as error:
        events.append(("rollback", name, error.code))

for order in ("A-2", "A-3", "A-99"):
    with transaction(order):
        await set_status(order=order, status="paid")
events
