"""What the interpreter lacks, said before a run."""


def lacks(source: str) -> str | None:
    """Return why the engine should not take a script; None: nothing is known against it."""
    return None
