"""Makes the repository of the tutorial: a small shop whose prices are in the wrong unit."""

import subprocess
import sys
from pathlib import Path

AREAS = ("books", "games", "music", "tools")
PRODUCTS = 6


def main(folder: Path) -> None:
    """Write the files and, where git is there, commit them."""
    for number, area in enumerate(AREAS, 1):
        place = folder / "shop" / area
        place.mkdir(parents=True)
        (place / "__init__.py").write_text("", encoding="utf-8")
        for product in range(1, PRODUCTS + 1):
            cents = number * 1_000 + product * 50
            text = f'"""One product."""\n\nNAME = "{area}-{product}"\nPRICE = {cents}  # cents\n'
            (place / f"product_{product}.py").write_text(text, encoding="utf-8")
    (folder / "shop" / "__init__.py").write_text("", encoding="utf-8")
    (folder / "README.md").write_text("# Shop\n\nPrices are in cents.\n", encoding="utf-8")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "A shop"]):
        subprocess.run(  # noqa: S603  our own words and no shell
            ["git", "-c", "user.name=Tutorial", "-c", "user.email=tutorial@example.org", *words],  # noqa: S607  whichever git is there
            cwd=folder,
            check=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
