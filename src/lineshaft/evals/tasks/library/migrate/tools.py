"""The world of `migrate`: no tools, and eight modules."""

from lineshaft.evals import World

TIERS = {
    "accounts": "gold",
    "billing": "silver",
    "catalogue": "bronze",
    "delivery": "gold",
    "export": "legacy",
    "forecast": "silver",
    "gateway": "gold",
    "history": "bronze",
}

TEXT = '''# tier: {tier}
"""The service `{name}`."""

TIMEOUT = 30
RETRIES = 1


def handle(request):
    """Answer a request; it is given up after RETRIES more attempts of TIMEOUT seconds."""
    for attempt in range(RETRIES + 1):
        answer = _attempt(request, seconds=TIMEOUT)
        if answer is not None:
            return {{"service": "{name}", "answer": answer, "attempt": attempt}}
    return {{"service": "{name}", "answer": None, "attempt": RETRIES}}


def _attempt(request, seconds):
    if request.get("seconds", 0) > seconds:
        return None
    return sorted(request.get("items", []))
'''


def world() -> World:
    """Return the modules."""
    files = {
        f"services/{name}.py": TEXT.format(name=name, tier=tier) for name, tier in TIERS.items()
    }
    return World(tools=(), files=files)
