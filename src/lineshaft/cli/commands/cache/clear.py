"""`lineshaft cache clear`: what can be made again goes."""

import json as json_module

from lineshaft.cli._options import json_option
from lineshaft.cli._stored import shown, size_of
from lineshaft.cli._terminal import clean, note, paint, result
from lineshaft.files import cache_folder, remove_tree
from lineshaft.sandbox.webassembly import remove_native_code


@json_option
def command(*, json: bool) -> None:
    """Remove the cache: native code, copies of Python, packages. Records and settings stay."""
    folder = cache_folder()
    freed = remove_native_code()
    left: list[str] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        before = size_of(path)
        remove_tree(path)
        if path.exists():
            left.append(str(path))
            before -= size_of(path)
        freed += before
    if json:
        result(json_module.dumps({"bytes": freed, "left": left}, ensure_ascii=False))
        return
    note(paint(f"{shown(freed)} freed; it is made again when it is needed", "dim"))
    for path in left:
        note(f"{clean(path)} cannot be removed by this user")
