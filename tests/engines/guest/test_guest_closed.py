"""What a script cannot do in Python alone: an error at once that names the tool to use."""

import pytest

from engines.guest.conftest import Guest

READING, WRITING, LISTING = "`await read_file(...)`", "`await write_file(...)`", "list_files"

FILES: dict[str, tuple[str, str]] = {
    "open": ("open('a.txt')", READING),
    "open to write": ("open('a.txt', 'w')", WRITING),
    "open caught as absent": (
        "try:\n    open('a')\nexcept FileNotFoundError:\n    print('none')",
        READING,
    ),
    "io": ("import io\nio.open('a')", READING),
    "codecs": ("import codecs\ncodecs.open('a')", READING),
    "os.open": ("import os\nos.open('a', 0)", READING),
    "Path.read_text": ("from pathlib import Path\nPath('a').read_text()", READING),
    "Path.write_text": ("from pathlib import Path\nPath('a').write_text('x')", WRITING),
    "Path.exists": ("from pathlib import Path\nPath('a').exists()", LISTING),
    "Path.is_file": ("from pathlib import Path\nPath('a').is_file()", LISTING),
    "Path.iterdir": ("from pathlib import Path\nlist(Path('.').iterdir())", LISTING),
    "Path.glob": ("from pathlib import Path\nlist(Path('.').glob('*'))", LISTING),
    "Path.rglob": ("from pathlib import Path\nlist(Path('.').rglob('*'))", LISTING),
    "Path.mkdir": ("from pathlib import Path\nPath('a').mkdir(exist_ok=True)", WRITING),
    "listdir": ("import os\nos.listdir()", LISTING),
    "scandir": ("import os\nos.scandir('.')", LISTING),
    "walk": ("import os\nlist(os.walk('.'))", LISTING),
    "glob": ("import glob\nglob.glob('**/*.py', recursive=True)", LISTING),
    "exists": ("import os\nos.path.exists('a')", LISTING),
    "isdir": ("import os\nos.path.isdir('a')", LISTING),
    "stat": ("import os\nos.stat('a')", LISTING),
    "makedirs": ("import os\nos.makedirs('a', exist_ok=True)", WRITING),
    "remove": ("import os\nos.remove('a')", WRITING),
    "chdir": ("import os\nos.chdir('a')", LISTING),
    "copy": ("import shutil\nshutil.copy('a', 'b')", WRITING),
    "a database": ("import sqlite3\nsqlite3.connect('a.db')", WRITING),
    "a configuration": ("import configparser\nconfigparser.ConfigParser().read('a.ini')", READING),
    "a log": ("import logging\nlogging.basicConfig(filename='x.log')", WRITING),
    "a temporary file": ("import tempfile\ntempfile.NamedTemporaryFile()", WRITING),
    "a temporary folder": ("import tempfile\ntempfile.mkdtemp()", WRITING),
    "an archive": ("import zipfile\nzipfile.ZipFile('a.zip')", READING),
    "standard input by its number": ("import os\nos.read(0, 1)", READING),
}


@pytest.mark.parametrize(("source", "tool"), FILES.values(), ids=FILES)
def test_files_are_closed_and_the_error_names_the_tool(
    guest: Guest, source: str, tool: str
) -> None:
    error = guest(source).error
    assert error["kind"] in ("PermissionError", "OSError")
    assert "is not possible in a script" in error["message"]
    assert tool in error["message"]
    assert error["line"] is not None


def test_only_tools_that_the_run_has_are_named(guest: Guest) -> None:
    error = guest("open('a')", tools=["give"]).error
    assert "read_file" not in error["message"]
    assert "a tool that reads files is needed" in error["message"]


CLOSED: dict[str, str] = {
    "subprocess": "import subprocess\nsubprocess.run(['ls'])",
    "subprocess in a loop": "await asyncio.create_subprocess_exec('ls')",
    "system": "import os\nos.system('ls')",
    "popen": "import os\nos.popen('ls')",
    "which": "import shutil\nshutil.which('git')",
    "a socket": "import socket\nsocket.socket()",
    "a name": "import socket\nsocket.getaddrinfo('localhost', 80)",
    "a connection": "await asyncio.open_connection('localhost', 80)",
    "a page": "import urllib.request\nurllib.request.urlopen('https://example.com')",
    "a server": "import http.server\nhttp.server.HTTPServer(('', 0), None)",
    "a question": "input('name? ')",
    "standard input": "import sys\nsys.stdin.read()",
    "lines of standard input": "import sys\nlist(sys.stdin)",
    "bytes of standard input": "import sys\nsys.stdin.buffer.read().split()",
    "a question once standard input is given back": (
        "import io, sys\nsys.stdin = io.StringIO('a')\nsys.stdin = sys.__stdin__\ninput()"
    ),
    "a debugger": "breakpoint()",
    "a thread": "import threading\nthreading.Thread(target=print).start()",
    "a thread by hand": "import _thread\n_thread.start_new_thread(print, ())",
    "a process": "from multiprocessing import Process\nProcess(target=print).start()",
    "an alarm": "import signal\nsignal.alarm(1)",
    "a wait for descriptors": "import select\nselect.select([], [], [], 1)",
    "an end that is not told": "import os\nos._exit(0)",
    "a crash": "import os\nos.abort()",
}


@pytest.mark.parametrize("source", CLOSED.values(), ids=CLOSED)
def test_what_is_closed_says_so(guest: Guest, source: str) -> None:
    error = guest(source).error
    assert "is not possible in a script" in error["message"]


def test_a_question_names_inputs_and_the_network_the_tool_that_fetches(guest: Guest) -> None:
    tools = ["search_tools", "fetch_url"]
    asked = guest("input('name? ')", tools=tools).error["message"]
    assert asked.endswith("give the answer to the script as an input, which it finds by name")
    opened = guest("import urllib.request as u\nu.urlopen('https://x.org')", tools=tools).error
    assert "use `await fetch_url(...)`, `await search_tools(...)`" in opened["message"]


def test_a_question_is_answered_from_what_the_script_puts_into_standard_input(
    guest: Guest,
) -> None:
    source = """
import io, sys
sys.stdin = io.StringIO("2\\n3 4\\n\\nlast")
n, pair, empty, last = input(), input("pair? "), input(), input()
try:
    input()
except EOFError as error:
    end = str(error)
[n, pair, empty, last, end]
"""
    ran = guest(source)
    assert ran.value == ["2", "3 4", "", "last", "EOF when reading a line"]
    assert ran.stdout == "pair? "


WORKS: dict[str, tuple[str, object]] = {
    "paths that are only text": (
        (
            "import os\nfrom pathlib import Path\n"
            "[os.path.join('a', 'b'), Path('a/b.md').stem, str(Path('a') / 'b')]"
        ),
        ["a/b", "b", "a/b"],
    ),
    "a file in memory": (
        "import io, csv\nb = io.StringIO()\ncsv.writer(b).writerow([1])\nb.getvalue()",
        "1\r\n",
    ),
    "a spooled file": (
        (
            "import tempfile\nwith tempfile.SpooledTemporaryFile(mode='w+') as f:\n"
            "    f.write('x')\n    f.seek(0)\n    r = f.read()\nr"
        ),
        "x",
    ),
    "a database in memory": (
        "import sqlite3\nsqlite3.connect(':memory:').execute('select 1').fetchone()",
        [1],
    ),
    "an archive in memory": (
        (
            "import zipfile, io\nb = io.BytesIO()\n"
            "with zipfile.ZipFile(b, 'w') as z: z.writestr('a', 'x')\n"
            "zipfile.ZipFile(b).read('a').decode()"
        ),
        "x",
    ),
    "a uuid of a machine": ("import uuid\nlen(str(uuid.uuid1()))", 36),
    "sources of the library": (
        "import inspect\n'def loads' in inspect.getsource(json.loads)",
        True,
    ),
    "a handler of signals": (
        "import signal\nasyncio.get_running_loop().add_signal_handler(signal.SIGINT, print)",
        None,
    ),
    "a key of a password": (
        "import hashlib\nhashlib.pbkdf2_hmac('sha256', b'p', b's', 2).hex()[:8]",
        "1998f3d3",
    ),
    "a module imported anew": (
        "import sys, json\ndel sys.modules['json']\nimport json\njson.loads('[1]')",
        [1],
    ),
    "all frames of a stack": (
        "import inspect\ndef f(): return [i.filename for i in inspect.stack()]\nf()",
        ["script.py", "script.py"],
    ),
    "help": ("help(json.dumps)", None),
}


@pytest.mark.parametrize(("source", "value"), WORKS.values(), ids=WORKS)
def test_what_needs_no_system_works(guest: Guest, source: str, value: object) -> None:
    assert guest(source).value == value


def test_time_zones_are_all_there_in_the_image(guest: Guest) -> None:
    if not guest.place.is_wasm:
        pytest.skip("platform: elsewhere they are the machine's")
    source = """
from zoneinfo import ZoneInfo, available_timezones
summer = datetime.datetime(2026, 7, 1, tzinfo=ZoneInfo("Europe/Berlin"))
[str(summer.utcoffset()), len(available_timezones()) > 500]
"""
    assert guest(source).value == ["2:00:00", True]
    error = guest("from zoneinfo import ZoneInfo\nZoneInfo('No/Where')").error
    assert error["kind"] == "ZoneInfoNotFoundError"


HELD = """
import sys, types
def held(value):
    if isinstance(value, types.FunctionType):
        return [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    return list(vars(value).values()) if isinstance(value, (type, types.ModuleType)) else []
def is_sleep(value):
    return getattr(value, "__name__", "") == "sleep" and isinstance(value, type(len))
found = []
for name, module in list(sys.modules.items()):
    for key, value in list(vars(module).items()):
        for each in (value, *held(value), *(d for v in held(value) for d in held(v))):
            if is_sleep(each):
                found.append(f"{name}.{key}")
return found
"""


def test_no_module_holds_the_sleep_of_the_system(guest: Guest) -> None:
    assert guest(HELD).value == []
