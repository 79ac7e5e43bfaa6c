"""A browser for tests, in a process of its own: JSON lines in (what to do), JSON lines out.

The page of the editor has to stay open: its windows, terminals and dialogs go through it.
"""

import json
import sys
from contextlib import suppress

from playwright.sync_api import Locator, Page, sync_playwright
from playwright.sync_api import TimeoutError as TooLate

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


PANEL = "panel >> "
"""Before a selector: in the page of the extension's panel, which is two frames below."""


CONTRAST = """
each => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = text => {
    const [r, g, b] = numbers(text).map(part => {
      const one = part / 255;
      return one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let behind = each;
  const ground = () => getComputedStyle(behind).backgroundColor;
  while (behind.parentElement && numbers(ground())[3] === 0) behind = behind.parentElement;
  const [a, b] = [light(getComputedStyle(each).color), light(ground())];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
"""
"""The contrast of an element's text with what is behind it, from 1 to 21, as WCAG has it."""


def located(page: Page, selector: str) -> Locator:
    """Return the first element of a selector."""
    if not selector.startswith(PANEL):
        return page.locator(selector).first
    frame = page.frame_locator("iframe.webview").frame_locator("#active-frame")
    return frame.locator(selector.removeprefix(PANEL)).first


def done(page: Page, order: dict[str, str]) -> object:
    """Carry out an order."""
    given = order.get("text", "")
    match order["act"]:
        case "open":
            page.goto(given, timeout=150_000)
            page.wait_for_selector(".monaco-workbench", timeout=150_000)
        case "keys":
            page.keyboard.press(given)
        case "type":
            page.keyboard.type(given)
        case "click":
            located(page, given).click(timeout=150_000)
        case "hover":
            located(page, given).hover(timeout=150_000)
        case "wait":
            located(page, given).wait_for(timeout=150_000)
        case "appears":
            with suppress(TooLate):
                located(page, given).wait_for(timeout=2_000)
                return True
            return False
        case "text":
            return located(page, given).inner_text(timeout=150_000)
        case "count":
            return page.locator(given).count()
        case "focus":
            located(page, given).focus(timeout=150_000)
        case "enabled":
            return located(page, given).is_enabled(timeout=150_000)
        case "fits":
            fits = "each => each.scrollWidth <= each.clientWidth"
            return located(page, given).evaluate(fits, timeout=150_000)
        case "size":
            width, height = map(int, given.split("x"))
            page.set_viewport_size({"width": width, "height": height})
        case "contrast":
            return located(page, given).evaluate(CONTRAST, timeout=150_000)
        case "reload":
            page.reload()
            page.wait_for_selector(".monaco-workbench", timeout=150_000)
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
