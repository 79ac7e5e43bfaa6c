"""Proof that spelling was fixed: cspell is run again, and the way to its silence is looked at."""

import re
from collections.abc import Iterable, Mapping, Sequence

from lineshaft.kit.words import NAMES, WORD, without_words
from lineshaft.values import Context
from lineshaft_azure_sdk.changes import ChangedFile, changed_files
from lineshaft_azure_sdk.spelling.checker import Misspelling, spelling_of

_DIRECTIVE = re.compile(r"(?:c?spell-?checker|c-?spell|spell|LocalWords)\s*::?", re.IGNORECASE)
_REPLACEMENT = re.compile(r"[^\W_](?:[^\W_]|[ '-](?=[^\W_])){0,60}")
_APART = frozenset({".git", "node_modules"})
_MOST_LOOKS = 1_000_000
"""At characters of one changed line, to find what its misspelled words became."""


async def refusal(call: Context, files: Sequence[str], added: Sequence[str]) -> str | None:
    """Return why spelling was not fixed; None where it was.

    cspell is run over the files as they were and as they are. Text may differ from what it was in
    the words alone that cspell did not know; the configuration in `words` alone, by the words that
    the result names, none of them one of which cspell knows the right spelling.

    Args:
        call: The call.
        files: What was to be fixed.
        added: What the result says of the words list.
    """
    changed = await changed_files(call)
    for path in changed:
        if _APART.intersection(path.split("/")) or not (path in files or NAMES.fullmatch(path)):
            return f"{path} was changed, which was not to be"
    report = await spelling_of(call, files)
    if report["checked"] != len(set(files)):
        return f"cspell checked {report['checked']} of {len(set(files))} files; all must be there"
    if report["findings"]:
        return f"cspell still finds: {_told(report['findings'])}"
    before: Mapping[str, bytes | None] = {path: each.before for path, each in changed.items()}
    was = (await spelling_of(call, files, instead=before, everywhere=True))["findings"]
    listed: set[str] = set()
    for path, each in changed.items():
        if NAMES.fullmatch(path):
            said = _configuration(path, each, was, listed)
        else:
            said = _text(path, each, [found for found in was if found["path"] == path])
        if said:
            return said
    if listed != set(added):
        return f"the result names {sorted(added)} as added, and the words list got {sorted(listed)}"
    return None


def _configuration(
    path: str, each: ChangedFile, was: Iterable[Misspelling], listed: set[str]
) -> str | None:
    if each.before is None or each.after is None:
        return f"{path} was made or deleted: only words may be added to it"
    try:
        (old, had), (new, has) = map(without_words, each.texts)
    except ValueError as error:
        return f"{path} is malformed: {error}"
    if old != new or [word for word in had if word not in has]:
        return f"{path} differs in more than words that were added"
    more = [word for word in has if word not in had]
    fixes = {found["word"].casefold(): found["fix"] for found in was if found["fix"]}
    for word in more:
        if not WORD.fullmatch(word):
            return f"{word!r} in {path} is no word"
        if fix := fixes.get(word.casefold()):
            return f"{word!r} is misspelled ({fix}): correct the text, and leave it off the list"
    listed.update(more)
    return None


def _text(path: str, each: ChangedFile, was: Sequence[Misspelling]) -> str | None:
    if each.before is None or each.after is None:
        return f"{path} was made or deleted"
    old, new = each.texts
    if len(_DIRECTIVE.findall(new)) > len(_DIRECTIVE.findall(old)):
        return f"{path} got a directive for the spelling checker"
    old_lines, new_lines = old.split("\n"), new.split("\n")
    if len(old_lines) != len(new_lines):
        return f"{path} has other lines than before: change misspelled words alone"
    words: dict[int, list[str]] = {}
    for found in was:
        words.setdefault(found["line"], []).append(found["word"])
    for number, (before, after) in enumerate(zip(old_lines, new_lines, strict=True), 1):
        if before != after and not _only_words(before, after, words.get(number, [])):
            return f"{path}, line {number}, differs in more than its misspelled words"
    return None


def _only_words(before: str, after: str, words: Sequence[str]) -> bool:
    """Return whether a line differs from another in some words alone.

    What is too long to be found out within `_MOST_LOOKS` counts as different in more.
    """
    known = sorted(set(words), key=len, reverse=True)
    looks = len(known) * len(before)
    if not known or looks > _MOST_LOOKS:
        return False
    places = {0}
    """Where the rest of `after` may begin."""

    for number, part in enumerate(re.split(f"({'|'.join(map(re.escape, known))})", before)):
        looks += len(places) * (len(part) + 1)
        reached = {at + len(part) for at in places if after.startswith(part, at)}
        if number % 2:
            for at in places:
                ends = _ends(after, at)
                looks += len(ends) + 1
                reached.update(ends)
        places = reached
        if looks > _MOST_LOOKS:
            return False
    return len(after) in places


def _ends(line: str, at: int) -> Sequence[int]:
    """Return where a word that takes the place of another may end."""
    found = _REPLACEMENT.match(line, at)
    if found is None:
        return ()
    return [end for end in range(at + 1, found.end() + 1) if line[end - 1].isalnum()]


def _told(findings: Sequence[Misspelling]) -> str:
    told = [f"{each['path']}:{each['line']} {each['word']!r}" for each in findings[:20]]
    more = len(findings) - len(told)
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")
