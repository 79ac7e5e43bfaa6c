"""Writes down what every program gives on plain CPython.

`python tests/corpora/reference.py --write`; without `--write` it only compares.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpora.plain import CORPORA, HERE, as_data, expectations, observe, programs


def main() -> int:
    """Write or compare; return how many programs are not as written."""
    different = 0
    for corpus in CORPORA:
        found = {n: as_data(observe(text, name=f"{n}.py")) for n, text in programs(corpus).items()}
        if "--write" in sys.argv:
            lines = [f"{json.dumps(name)}: {_line(entry)}" for name, entry in found.items()]
            text = "{\n" + ",\n".join(lines) + "\n}\n"
            (HERE / f"{corpus}.json").write_text(text, encoding="utf-8")
        written = expectations(corpus)
        wrong = [n for n in {**found, **written} if found.get(n) != written.get(n)]
        different += len(wrong)
        sys.stdout.write(f"{corpus}: {len(found)} programs, {len(wrong)} not as written\n")
        sys.stdout.writelines(f"  {name}\n" for name in wrong)
    return different


def _line(entry: object) -> str:
    return json.dumps(entry, ensure_ascii=False, sort_keys=True)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
