"""Run programs that rename folders, as the user who starts this; a program.

Arguments: the boundary, and the full Python to use. It prints one JSON object: the answers, and
what the workspace holds afterwards.
"""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import anyio

from behaviour.programs import value_of
from lineshaft import Session, kit
from lineshaft.values import PythonOptions

PROGRAMS = {
    "rename": "import os; os.rename('a', 'renamed'); print(sorted(os.listdir('renamed')))",
    "path": "import pathlib; pathlib.Path('b').rename('sub/renamed'); print('done')",
    "replace": "import os; os.mkdir('empty'); os.replace('c', 'empty'); print('done')",
    "bytes": "import os; os.rename(b'd', b'renamed bytes'); print('done')",
    "shutil": "import shutil; shutil.move('e', 'moved'); print('done')",
    "onto what is not empty": (
        "import os\ntry:\n    os.rename('f', 'sub')\n"
        "except OSError as error:\n    print(type(error).__name__, error.errno)"
    ),
    "onto a file": (
        "import os\ntry:\n    os.rename('f', 'file')\n"
        "except OSError as error:\n    print(type(error).__name__, error.errno)"
    ),
    "into itself": (
        "import os\ntry:\n    os.rename('f', 'f/inside')\n"
        "except OSError as error:\n    print(type(error).__name__, error.errno)"
    ),
    "what is not there": (
        "import os\ntry:\n    os.rename('nothing', 'something')\n"
        "except OSError as error:\n    print(type(error).__name__, error.errno)"
    ),
    "a file": "import os; os.rename('file', 'sub/file'); print('done')",
}


def _fill(root: Path) -> None:
    for name in "abcdef":
        (root / name / "deep").mkdir(parents=True)
        (root / name / "x").write_text(f"{name} x", encoding="utf-8")
        (root / name / "deep" / "y").write_text(f"{name} y", encoding="utf-8")
    (root / "sub").mkdir()
    (root / "sub" / "there").write_text("there", encoding="utf-8")
    (root / "file").write_text("file", encoding="utf-8")


async def main(words: Sequence[str]) -> None:
    """Print what came of it."""
    boundary, python = words
    options = PythonOptions(boundary=boundary, path=python)
    said: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        _fill(root)
        async with Session(kit.tools(), workspace=root, python=options) as session:
            for name, code in PROGRAMS.items():
                answer = value_of(await session.call("python_run", {"code": code}))
                said[name] = answer["stdout"] + answer["stderr"] if answer["ok"] else str(answer)
        files = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
    sys.stdout.write(json.dumps({"user": os.geteuid(), "said": said, "files": files}))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
