"""Every Python block of our pages runs, and prints what the page says that it prints."""

from pathlib import Path
from textwrap import indent

import pytest
from pytest_examples import CodeExample, EvalExample, find_examples

ROOT = Path(__file__).parent.parent


def _pages() -> list[str]:
    return [str(ROOT / "README.md"), *map(str, sorted((ROOT / "docs").rglob("*.md")))]


@pytest.mark.parametrize("example", find_examples(*_pages()), ids=str)
def test_a_block_prints_what_the_page_says(
    example: CodeExample,
    eval_example: EvalExample,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = example.prefix_settings()
    if settings.get("run") == "no":  # a part of a file, or a script for `lineshaft run`
        compile(f"async def script():\n{indent(example.source, ' ')}", str(example), "exec")
        return
    monkeypatch.chdir(tmp_path)
    eval_example.run_print_check(example)
