"""`lineshaft cache`: what is kept outside the workspace, and how much of it."""

import json as json_module
from dataclasses import asdict

from lineshaft.cli._options import json_option
from lineshaft.cli._stored import shown, stored
from lineshaft.cli._terminal import clean, note, paint, result, say


@json_option
def command(*, json: bool) -> None:
    """List what is kept in the four folders of Lineshaft, with sizes."""
    found = list(stored())
    if json:
        entries = [asdict(each) for each in found]
        total = sum(each.bytes for each in found)
        result(json_module.dumps({"entries": entries, "bytes": total}, ensure_ascii=False))
        return
    for each in found:
        say(f"{shown(each.bytes):>12}  {clean(each.path)}  {clean(each.text)}".rstrip())
    total = shown(sum(each.bytes for each in found))
    note(paint(f"{total} in all; `lineshaft cache clear` removes what can be made again", "dim"))
