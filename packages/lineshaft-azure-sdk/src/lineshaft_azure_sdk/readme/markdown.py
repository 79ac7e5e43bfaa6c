"""What a check needs of Markdown: text without code, headings, anchors, links and placeholders.

A README may be hostile, so each of these looks at a character a bounded number of times, however
often something begins in it and does not end.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TICKS = re.compile(r"`+|\n[ \t]*\n")
_BRACKET = re.compile(r"\\.|\n[ \t]*\n|[\[\]]", re.DOTALL)
_DEFINITION = re.compile(
    r"^ {0,3}\[(?!\^)[^\]\n]+\]:\s*(?:<([^<>\n]*)>|([^<\s]\S*))(?:\s|$)", re.MULTILINE
)
"""Of a link; that of a footnote, `[^1]: ...`, has a text."""

_ATTRIBUTE = re.compile(r"""(?:href|src)\s*=\s*["']([^"'\s<>]+)""", re.IGNORECASE)
_AUTOMATIC = re.compile(r"<(https?://[^\s<>]+)>", re.IGNORECASE)
_BARE = re.compile(r"(?<![\w=])https?://[^\s<>\"'`\])]+", re.IGNORECASE)
_AFTER_BARE = "?!.,:;*_~"
"""Signs that are no part of an address at its end."""

_ANCHOR = re.compile(r"""<[a-z][^<>]*?\s(?:name|id)\s*=\s*["']?([^"'\s<>]+)""", re.IGNORECASE)
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*")
_TITLE = re.compile(r" {0,3}[^\s#>|+*-]")
_BLANK = re.compile(r"\s*")
_INNER = r"\((?:[^()\s>]++|\([^()\s>]*+\))*+\)"
_DESTINATION = re.compile(rf"(?:[^()\s>]++|\((?:[^()\s>]++|{_INNER})*+\))+")
"""Round brackets belong to a target in pairs, up to three deep."""

_OPENED = re.compile(r"<(?=your|insert|placeholder)|\[(?=your|insert|placeholder)", re.IGNORECASE)
_WORD = re.compile(r"\b(?:TODO|FIXME|TBD|Lorem ipsum)\b", re.IGNORECASE)
_NO_LINE_END = re.compile(r"[^\n]")
_LONGEST = 2_000
"""Of a target in angle brackets."""

_SHOWN = 80
"""Of a placeholder."""

_DEEPEST = 6
"""Of headings."""


@dataclass(frozen=True, slots=True)
class Found:
    """A part of a text."""

    text: str
    start: int


class Prose:
    """A text of Markdown, its code left out; places in it are those of the text."""

    def __init__(self, markdown: str) -> None:
        text = markdown.removeprefix("\ufeff").replace("\r\n", "\n")
        self._unfenced = _without_fences(text)
        self.text = _without_spans(self._unfenced)
        self._closing: dict[str, int] = {}

    @cached_property
    def _lines(self) -> Sequence[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def line(self, found: Found) -> int:
        """Return the number of the line that something stands in, from 1."""
        return bisect_right(self._lines, found.start)

    @cached_property
    def headings(self) -> Sequence[str]:
        """The headings, without their signs; code in one is part of it."""
        lines = self._unfenced.split("\n")
        pairs = zip(lines, [*lines[1:], ""], strict=True)
        return [text for line, below in pairs if (text := _heading(line, below))]

    @cached_property
    def anchors(self) -> frozenset[str]:
        """What links into this text may name."""
        found = {"top", *(found[1] for found in _ANCHOR.finditer(self.text))}
        times: dict[str, int] = {}
        for heading in self.headings:
            slug = _slug(heading)
            count = times[slug] = times.get(slug, -1) + 1
            found.add(f"{slug}-{count}" if count else slug)
        return frozenset(found)

    def links(self) -> Iterator[Found]:
        """Yield the targets of links and pictures, bare addresses too, and where each stands."""
        targets = list(self._inline())
        for pattern in (_DEFINITION, _ATTRIBUTE, _AUTOMATIC):
            for each in pattern.finditer(self.text):
                group = each.lastindex or 0
                targets.append(Found(each[group], each.start(group)))
        yield from targets
        targets.sort(key=lambda each: each.start)
        starts = [each.start for each in targets]
        for found in _BARE.finditer(self.text):
            before = bisect_right(starts, found.start()) - 1
            known = targets[before] if before >= 0 else Found("", 0)
            if found.start() >= known.start + len(known.text):
                yield Found(found[0].rstrip(_AFTER_BARE), found.start())

    def _inline(self) -> Iterator[Found]:
        self._closing.clear()
        opened, done = 0, 0
        for sign in _BRACKET.finditer(self.text):
            if sign.start() < done:
                continue
            if sign[0] == "[":
                opened += 1
            elif sign[0] != "]":
                opened = opened if sign[0].startswith("\\") else 0
            elif opened:
                opened -= 1
                if self.text.startswith("(", sign.end()):
                    target, done = self._target(sign.end() + 1)
                    if target is not None:
                        yield target

    def _target(self, at: int) -> tuple[Found | None, int]:
        """Return the target that stands at a place, and the place after it."""
        text = self.text
        at = _end(_BLANK, at, text)
        if text.startswith("<", at):
            end = self._next(">", at)
            if end < 0 or "\n" in text[at : min(end, at + _LONGEST)] or end - at > _LONGEST:
                return None, at
            found, at = Found(text[at + 1 : end], at + 1), end + 1
        elif (end := _end(_DESTINATION, at, text)) > at:
            found, at = Found(text[at:end], at), end
            at += text.startswith(">", at)
        else:
            return None, at
        blank = _end(_BLANK, at, text)
        titled = blank > at and text.startswith(('"', "'", "("), blank)
        ends = text.startswith(")", blank) or (titled and self._next(")", blank) >= 0)
        return (found if ends else None), at

    def placeholders(self) -> Iterator[Found]:
        """Yield what stands for something that is still to be written."""
        self._closing.clear()
        at = self.text.find("{{")
        while at >= 0 and (end := self._next("}", at + 2)) >= 0:
            whole = self.text.startswith("}}", end)
            if whole:
                yield Found(self.text[at : min(end + 2, at + _SHOWN)], at)
            at = self.text.find("{{", end + 2 if whole else at + 1)
        for found in _WORD.finditer(self.text):
            yield Found(found[0], found.start())
        for found in _OPENED.finditer(self.text):
            end = self._next("]" if found[0] == "[" else ">", found.end())
            if end >= 0 and not (found[0] == "[" and self.text.startswith("(", end + 1)):
                at = found.start()
                yield Found(self.text[at : min(end + 1, at + _SHOWN)], at)

    def _next(self, sign: str, at: int) -> int:
        """Return the next place of a sign; -1 where there is none. Asked with growing places."""
        known = self._closing.get(sign)
        if known is None or 0 <= known < at:
            known = self._closing[sign] = self.text.find(sign, at)
        return known


def _end(pattern: "re.Pattern[str]", at: int, text: str) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _blank(text: str) -> str:
    return _NO_LINE_END.sub(" ", text)


def _without_fences(text: str) -> str:
    """Return a text with its fenced code blanked; a fence without an end goes to the end."""
    out: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            out.append(_blank(line))
            if found and found[1].startswith(fence) and not line[found.end() :].strip():
                fence = ""
        elif found and not (found[1][0] == "`" and "`" in line[found.end() :]):
            fence = found[1]
            out.append(_blank(line))
        else:
            out.append(line)
    return "\n".join(out)


def _without_spans(text: str) -> str:
    """Return a text with its code between backticks blanked."""
    runs = list(_TICKS.finditer(text))
    after: dict[int, int] = {}  # by length: the next run of it in the same paragraph
    closing: list[int] = [-1] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        run = runs[number][0]
        if run[0] != "`":
            after.clear()
            continue
        closing[number] = after.get(len(run), -1)
        after[len(run)] = number
    out: list[str] = []
    done, number = 0, 0
    while number < len(runs):
        if (last := closing[number]) >= 0:
            start, end = runs[number].start(), runs[last].end()
            out += (text[done:start], _blank(text[start:end]))
            done, number = end, last
        number += 1
    return "".join((*out, text[done:]))


def _heading(line: str, below: str) -> str:
    """Return the text of a line that is a heading, also by the line below; nothing of another."""
    if _UNDERLINE.fullmatch(below) and _TITLE.match(line):
        return line.strip()
    signs = len(line) - len(line.lstrip("#"))
    if not 1 <= signs <= _DEEPEST or line[signs : signs + 1] not in (" ", "\t"):
        return ""
    text = line[signs:].strip()
    plain = text.rstrip("#")
    return plain.rstrip() if plain != text and (not plain or plain[-1] in " \t") else text


def _slug(heading: str) -> str:
    """Return the anchor of a heading, as code hosts make it."""
    linked, end, rest = heading.rpartition(")")
    plain = re.sub(r"\]\([^)]*\)", "", linked + end) + rest
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
