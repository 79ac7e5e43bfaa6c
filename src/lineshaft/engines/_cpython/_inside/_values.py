"""What cannot cross, in words that fit a script."""

from types import TracebackType

from lineshaft.engines._plain import NotPlain


def sentence_of(error: NotPlain, name: str) -> str:
    """Return what is wrong with the value called `name`."""
    culprit = _culprit(error.__traceback__)
    if type(culprit).__module__ == "__main__":
        error.kind = f"an instance of the class {type(culprit).__name__}"
    return error.sentence(name)


def _culprit(place: TracebackType | None) -> object:
    """Return the value that the innermost frame refused."""
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place.tb_frame.f_locals.get("value") if place is not None else None
