"""Proof that TypeSpec was changed as it may be: the compiler accepts it, and nothing was evaded."""

import re
from collections import Counter
from collections.abc import Sequence

from lineshaft.values import Context
from lineshaft_azure_sdk.changes import ChangedFile, changed_files
from lineshaft_azure_sdk.code import without_comments
from lineshaft_azure_sdk.typespec.compiler import Diagnostic, compilation_of

_IMPORT = re.compile(r'\bimport\s*"+\s*([^"]*[^"\s])')
_SUPPRESS = re.compile(r"#\s*`?suppress\b")
_DECORATOR = re.compile(r"@@\s*([\w.]+)\s*\(")
_DECLARED = re.compile(r"\b(?:model|interface|op|union|enum|scalar|alias|namespace)\s+([\w.`]+)")
_TOLD = 20


async def refusal(call: Context, path: str, removed: Sequence[str]) -> str | None:
    """Return why a change of TypeSpec does not count; None where it does.

    Only `.tsp` files differ; they import no more JavaScript and suppress no more than before, and
    declare and customise as much, but for what the result names; and `tsp compile` accepts them.

    Args:
        call: The call.
        path: The entry.
        removed: Declarations that the result says were removed, by name (`Widget`), and decorators
            of which there are fewer (`@@clientName`).
    """
    changed = await changed_files(call)
    for name, each in changed.items():
        if not name.endswith(".tsp"):
            return f"{name} was changed: only .tsp files may be"
        if said := _evaded(name, each):
            return said
    old, new = Counter[str](), Counter[str]()
    for each in changed.values():
        before, after = each.texts
        old.update(_stands(before))
        new.update(_stands(after))
    lost = sorted((old - new).keys() - set(removed))
    if lost:
        return (
            f"these were removed, and the result does not name them in `removed`: {', '.join(lost)}"
        )
    done = await compilation_of(call, path)
    if not done["ok"]:
        return f"the compiler does not accept it: {_told(done['diagnostics']) or done['output']}"
    return None


def _evaded(name: str, each: ChangedFile) -> str | None:
    """Look at the text as it is too: what seems to be a comment may be none to the compiler."""
    before, after = each.texts
    for old, new in ((before, after), (_code(before), _code(after))):
        if len(_SUPPRESS.findall(new)) > len(_SUPPRESS.findall(old)):
            return f"{name} got a #suppress: mend the cause"
        more = set(_IMPORT.findall(new)) - set(_IMPORT.findall(old))
        if strange := sorted(place for place in more if _is_program(place)):
            return f"{name} imports {strange[0]!r}: no program may be imported"
    return None


def _code(text: str) -> str:
    return without_comments(text, texts=True)


def _is_program(place: str) -> bool:
    return place.startswith((".", "/")) and not place.endswith(".tsp")


def _stands(text: str) -> Counter[str]:
    code = without_comments(text, texts=False)
    found = Counter(f"@@{name}" for name in _DECORATOR.findall(code))
    found.update(_DECLARED.findall(code))
    return found


def _told(diagnostics: Sequence[Diagnostic]) -> str:
    return "; ".join(
        f"{each['path']}:{each['line']}:{each['column']} {each['code']}: {each['message']}"
        for each in diagnostics[:_TOLD]
        if each["severity"] == "error"
    )
