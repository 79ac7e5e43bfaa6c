"""A browser for tests, in a process of its own: JSON lines in (what to do), JSON lines out.

The page of the editor has to stay open: its windows, terminals and dialogs go through it.
"""

import json
import sys
from contextlib import suppress

from playwright.sync_api import Page, sync_playwright
from playwright.sync_api import TimeoutError as TooLate

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


def done(page: Page, order: dict[str, str]) -> object:
    """Carry out an order."""
    given = order.get("text", "")
    match order["act"]:
        case "open":
            page.goto(given)
            page.wait_for_selector(".monaco-workbench", timeout=120_000)
        case "keys":
            page.keyboard.press(given)
        case "type":
            page.keyboard.type(given)
        case "click":
            page.click(given, timeout=60_000)
        case "hover":
            page.hover(given, timeout=60_000)
        case "wait":
            page.wait_for_selector(given, timeout=60_000)
        case "appears":
            with suppress(TooLate):
                page.wait_for_selector(given, timeout=2_000)
                return True
            return False
        case "text":
            return page.inner_text(given, timeout=60_000)
        case "count":
            return page.locator(given).count()
        case "reload":
            page.reload()
            page.wait_for_selector(".monaco-workbench", timeout=120_000)
        case "shot":
            page.screenshot(path=given)
        case _:
            raise ValueError(order["act"])
    return None


def main(chromium: str) -> None:
    """Serve until standard input ends."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        for line in sys.stdin:
            try:
                said: dict[str, object] = {"value": done(page, json.loads(line))}
            except Exception as error:  # noqa: BLE001  told to the test
                said = {"error": str(error)}
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
