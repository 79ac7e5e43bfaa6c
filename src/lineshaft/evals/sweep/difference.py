"""The difference between a task's files and what an agent left."""

import difflib
from collections.abc import Iterator
from pathlib import Path

_MOST = 200_000
_SKIPPED = "__pycache__"


def difference_of(before: Path, after: Path) -> str:
    """Return a unified diff of two folders, cut at 200,000 characters."""
    parts: list[str] = []
    for name in sorted(_files(before) | _files(after)):
        old, new = _lines(before / name), _lines(after / name)
        if old == new:
            continue
        if old is None or new is None:
            parts.append(f"{name}: not text\n")
            continue
        lines = difflib.unified_diff(old, new, f"before/{name}", f"after/{name}")
        parts += [line if line.endswith("\n") else f"{line}\n" for line in lines]
    text = "".join(parts)
    return text if len(text) <= _MOST else f"{text[:_MOST]}\n[cut]\n"


def _files(folder: Path) -> set[str]:
    return set(_walked(folder))


def _walked(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and _SKIPPED not in path.parts:
            yield path.relative_to(folder).as_posix()


def _lines(path: Path) -> list[str] | None:
    try:
        return path.read_text(encoding="utf-8").splitlines(keepends=True)
    except FileNotFoundError:
        return []
    except (OSError, ValueError):
        return None
