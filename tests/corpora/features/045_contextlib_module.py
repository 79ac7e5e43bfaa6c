from contextlib import contextmanager, suppress, ExitStack

log = []
@contextmanager
def section(name):
    log.append(f"open {name}")
    try:
        yield name.upper()
    finally:
        log.append(f"close {name}")

with section("a") as label, section("b"):
    log.append(label)
with suppress(KeyError):
    {}["missing"]
with ExitStack() as stack:
    for n in "xy":
        stack.enter_context(section(n))
log
