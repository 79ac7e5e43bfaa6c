"""The page on scripts: its table of missing modules is the one that errors are made of."""

import re
from pathlib import Path

from lineshaft.engines.guest.missing import MISSING, STUBBED

PAGE = (Path(__file__).parent.parent / "docs" / "scripts.md").read_text(encoding="utf-8")


def test_the_page_names_the_modules_that_the_image_lacks_and_no_others() -> None:
    table = PAGE.partition("### What `wasm` lacks")[2].partition("###")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]
    private = {name for name in MISSING if name.startswith("_")}
    assert sorted(named) == sorted({*MISSING, *STUBBED} - private)
