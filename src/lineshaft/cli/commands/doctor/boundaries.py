"""Report of `lineshaft doctor` on the boundaries around full Python: tried, not assumed."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lineshaft.cli._diagnosis import Diagnosis
from lineshaft.errors import LineshaftError
from lineshaft.values import NO_BOUNDARY, WASM_BOUNDARY, PythonOptions

if TYPE_CHECKING:
    from lineshaft.sandbox.jail import Boundary

_OPEN, _HELD, _NO_PROOF = "OPEN", "held", "-"


def attack(options: PythonOptions) -> "tuple[tuple[Boundary, ...], list[Diagnosis]]":
    """Attack every boundary of this machine; return what was found, and what to say of it.

    Args:
        options: Which Python attacks, and whether a boundary is set by hand.
    """
    try:
        from lineshaft.sandbox.bundle import resolve  # noqa: PLC0415  not on every machine
        from lineshaft.sandbox.jail import probe  # noqa: PLC0415  not on every machine

        found = probe(resolve(options))
    except ImportError as error:
        return (), [_none(f"full Python cannot be held here: {error}")]
    except LineshaftError as error:
        return (), [Diagnosis(name="boundary", state="note", text=error.message, hint=error.hint)]
    return found, list(checks(found, options.boundary))


def table(boundaries: "Sequence[Boundary]") -> Iterator[str]:
    """Return the lines of a table: what was tried, and what each boundary made of it."""
    usable = [boundary for boundary in boundaries if boundary.usable]
    results = {b.name: {a.attack: a for a in b.attacks} for b in usable}
    attacks = list(dict.fromkeys(a.attack for b in usable for a in b.attacks))
    if not attacks:
        return
    wide = max(map(len, attacks))
    widths = {b.name: max(len(b.name), len(_HELD)) for b in usable}
    yield "  ".join([f"{'tried from inside':<{wide}}", *(f"{n:<{w}}" for n, w in widths.items())])
    for words in attacks:
        cells: list[str] = []
        for name, width in widths.items():
            seen = results[name].get(words)
            said = _NO_PROOF
            if seen is not None and not seen.held:
                said = _OPEN
            elif seen is not None and seen.counts:
                said = _HELD
            cells.append(f"{said:<{width}}")
        yield "  ".join([f"{words:<{wide}}", *cells]).rstrip()
    yield f"{_NO_PROOF}: it fails on this machine without any boundary too, and proves nothing"


def checks(found: "Sequence[Boundary]", wanted: str | None) -> Iterator[Diagnosis]:
    """Return what to say of boundaries; only an opening in the one that is used is a failure."""
    usable = [boundary for boundary in found if boundary.usable]
    names = [boundary.name for boundary in usable]
    used = wanted if wanted is not None else next(iter(names), None)
    for boundary in found:
        if not boundary.usable:
            text = f"{boundary.name} does not work here: {'; '.join(boundary.reasons)}"
            yield Diagnosis(name="boundary", state="note", text=text)
            continue
        tried = [attack for attack in boundary.attacks if attack.counts or not attack.held]
        broken = [attack for attack in tried if not attack.held]
        mark = ", used" if boundary.name == used else ""
        text = f"{boundary.name}{mark}: {len(tried) - len(broken)} of {len(tried)} attacks held"
        changes = f"changes of python_run are kept apart by {boundary.changes}"
        open_ones = "; ".join(f"{attack.attack} ({attack.how})" for attack in broken)
        state = "fail" if broken and boundary.name == used else "note" if broken else "ok"
        yield Diagnosis(
            name="boundary",
            state=state,
            text=f"{text}; {changes}",
            hint=f"open: {open_ones}" if broken else "",
        )
    if used == NO_BOUNDARY:
        text = "none, by python.boundary: python_run has your rights, and asks in mode auto"
        yield Diagnosis(name="boundary", state="note", text=text)
    elif used == WASM_BOUNDARY:
        text = "wasm, by python.boundary: programs run in WebAssembly, without native packages"
        yield Diagnosis(name="boundary", state="note", text=text)
    elif used not in names:
        yield _none("nothing here holds full Python")


def _none(text: str) -> Diagnosis:
    return Diagnosis(
        name="boundary",
        state="note",
        text=f"{text}; scripts and programs run in WebAssembly, without native packages",
        hint="sandlock needs Linux 6.12 or newer; bubblewrap needs its package and, for ordinary"
        " users, user namespaces",
    )
