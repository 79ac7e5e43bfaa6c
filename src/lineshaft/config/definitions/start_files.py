"""Files of a project from which a server is started, as far as its definition names them.

Each word of the command, of its arguments, of its variables, or inside of one of them may mean a
file, a folder that is started, a module. Rather one too many than one too few: an overlooked file
would run unseen. Words that can only be data are left out (`definitions/data.py`).
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import product
from math import prod
from pathlib import Path

from lineshaft.config._places import repository_of
from lineshaft.config.definitions.data import words_that_may_start
from lineshaft.config.definitions.definition import ServerSetting
from lineshaft.config.definitions.variables import Variables
from lineshaft.errors import ConfigError
from lineshaft.values import lazy_pattern

_MOST_WORDS = 4_000
_MOST_FILES = 200
_MOST_FOLDERS = 8
"""Folders beside the server's own that words may be meant from, as `--directory` names them."""

_STARTS = ("__main__.py", "__init__.py", "index.js", "index.mjs", "index.cjs", "package.json")
"""What is started where a folder is named."""

_BETWEEN = lazy_pattern(r"[\s:;,=|&()<>{}\[\]`$'\"@!]+")
_NO_NAME = lazy_pattern("[\0\ud800-\udfff]")
_MODULE = lazy_pattern(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def files_of(server: ServerSetting) -> tuple[Path, ...]:
    """Return the files of the project that a server is started from.

    Args:
        server: Of a project; any other has none.

    Raises:
        ConfigError: It has more words, or names more files, than can be looked through.
    """
    if not server.of_project or server.transport != "stdio":
        return ()
    variables = Variables(environ=os.environ, folder=server.base, inputs=server.inputs)
    filled = partial(_filled, variables)
    folder = server.base / Path(next(filled(server.cwd))).expanduser()
    root = os.path.realpath(repository_of(server.base))
    given = (server.command, server.env_file, *server.args, *server.env.values())
    texts = {each: tuple(filled(each)) for each in given}
    words = _words(words_that_may_start(server, texts, folder))
    folders = [folder, *_folders(words, folder, root)]
    found: dict[Path, None] = {}
    for start in folders:
        for word in words:
            for path in _meant(start, word):
                if _is_file(path) and _is_ours(path, word, root):
                    found[Path(os.path.realpath(path))] = None
        if len(found) > _MOST_FILES:
            raise ConfigError(
                f"the server {server.name!r} names more than {_MOST_FILES} files of the project",
                hint="start it from one file",
            )
    return tuple(found)


def _filled(variables: Variables, text: str) -> Iterator[str]:
    """Yield a text as it would be now, and as all answers that it offers would make it.

    Raises:
        ConfigError: There are too many.
    """
    yield _tried(variables, text)
    inputs = {f"${{input:{name}}}": wanted for name, wanted in variables.inputs.items()}
    offered = {
        reference: (wanted.default or "", *wanted.options)
        for reference, wanted in inputs.items()
        if reference in text
    }
    if not offered:
        return
    if prod(map(len, offered.values())) > _MOST_WORDS:
        raise _too_many_words()
    reference = re.compile("|".join(map(re.escape, offered)))
    for chosen in product(*offered.values()):
        answers = dict(zip(offered, chosen, strict=True))
        yield _tried(variables, reference.sub(lambda found, by=answers: by[found[0]], text))


def _tried(variables: Variables, text: str) -> str:
    """Return a text as it would be now; as it is written where a variable has no value."""
    try:
        return variables.fill(text)
    except ConfigError:
        return text


def _words(texts: Iterable[str]) -> tuple[str, ...]:
    """Return all that may be a name in texts: the whole, the words of a shell, their parts.

    Raises:
        ConfigError: There are too many.
    """
    words: dict[str, None] = {}
    for text in texts:
        found = [text, *_BETWEEN().split(text)]
        with suppress(ValueError):  # no command of a shell
            found += shlex.split(text)
        found += [part for word in found for part in (word.partition("=")[2], word[2:])]
        words |= dict.fromkeys(word for word in found if word and not _NO_NAME().search(word))
        if len(words) > _MOST_WORDS:
            raise _too_many_words()
    return tuple(words)


def _too_many_words() -> ConfigError:
    return ConfigError(
        f"its definition has more than {_MOST_WORDS:,} words, any of which may be a file",
        hint="put what is long there into a file of the project",
    )


def _folders(words: Iterable[str], folder: Path, root: str) -> list[Path]:
    """Return the folders of the project that words name, the first few."""
    found: dict[Path, None] = {}
    for word in words:
        path = folder / word
        if _is_folder(path) and _is_ours(path, word, root):
            found[Path(os.path.realpath(path))] = None
    found.pop(Path(os.path.realpath(folder)), None)
    return list(found)[:_MOST_FOLDERS]


def _meant(folder: Path, word: str) -> Iterator[Path]:
    """Yield what a word may mean: the file, what starts a folder, a module of Python."""
    path = folder / word
    yield path
    if word.startswith("~"):
        yield Path(os.path.expanduser(word))  # noqa: PTH111  Path's raises for unknown users
    if _is_folder(path):
        yield from (path / name for name in _STARTS)
    elif _MODULE().fullmatch(word) and len(word) < 200:
        module = folder / word.replace(".", "/")
        yield module.with_name(f"{module.name}.py")
        yield from (module / "__init__.py", module / "__main__.py")


def _is_ours(path: Path, word: str, root: str) -> bool:
    """Return whether the project's author can have written a file too.

    It lies in the repository, or above it where words go up: copies without their history have no
    root that could be seen.
    """
    if Path(os.path.realpath(path)).is_relative_to(root):
        return True
    goes_up = ".." in Path(word).parts
    return goes_up and not Path(os.path.normpath(path)).is_relative_to(root)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
