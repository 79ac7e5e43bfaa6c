"""The world of `filter-metrics`."""

from lineshaft.evals import World
from lineshaft.tools import tool

ENDPOINTS = [f"/v1/{name}" for name in ("carts", "items", "login", "mails", "pages", "users")]


@tool(name="metrics.endpoints", effect="read")
async def endpoints() -> list[str]:
    """Return all endpoints."""
    return ENDPOINTS


@tool(name="metrics.samples", effect="read")
async def samples(endpoint: str) -> list[float]:
    """Return 100 measurements of an endpoint, in milliseconds.

    Args:
        endpoint: One of `metrics.endpoints`.
    """
    seed = ENDPOINTS.index(endpoint) + 1
    return [(at * 7919 * seed % 1009) * (0.35 + 0.04 * seed) + 0.25 for at in range(1, 101)]


def world() -> World:
    """Return both tools."""
    return World(tools=[endpoints, samples])
