"""Names in a run, and in an environment, that say their value is a secret."""

from collections.abc import Mapping

from lineshaft.values import looks_secret

_SHORTEST = 8


def holds_secret(name: str) -> bool:
    """Return whether a key inside a result says it: a plain `key` is mostly none there."""
    return looks_secret(name, in_result=True)


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of an environment that are secrets by their names.

    Args:
        environment: Such as `os.environ`; values under 8 characters are left out, they would
            hide ordinary words.
    """
    return tuple(
        value
        for name, value in environment.items()
        if len(value) >= _SHORTEST and looks_secret(name)
    )
