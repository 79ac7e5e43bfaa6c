"""What is in the world of the programs."""

from typing import Any

FILES: dict[str, str] = {
    "README.md": (
        "# Harbour\n\nA small service that keeps track of ships.\n\n## Install\n\n"
        "    pip install harbour\n\n## Use\n\nSee `docs/`. TODO: write docs.\n"
    ),
    "CHANGELOG.md": (
        "## 1.2.0 - 2026-03-01\n- Faster search\n- Fixed login\n\n"
        "## 1.1.0 - 2026-01-15\n- Added search\n\n## 1.0.0 - 2025-12-01\n- First release\n"
    ),
    "src/app.py": (
        "import os\nimport json\nfrom util import load, save\n\n\n"
        "def main(path):\n    data = load(path)\n    # TODO: validate\n"
        "    for ship in data:\n        print(ship)\n    save(path, data)\n\n\n"
        'if __name__ == "__main__":\n    main("ships.json")\n'
    ),
    "src/util.py": (
        "import json\n\n\ndef load(path):\n    with open(path) as f:\n"
        "        return json.load(f)\n\n\ndef save(path, data):\n"
        '    # FIXME: not atomic\n    with open(path, "w") as f:\n        json.dump(data, f)\n'
    ),
    "src/legacy.py": "import os, sys\n\ndef old_main():\n    print 'hello'\n",
    "tests/test_app.py": (
        "from app import main\n\n\ndef test_main():\n    assert main\n\n\n"
        "def test_other():\n    assert True\n"
    ),
    "data/sales.csv": (
        "date,region,product,units,price\n2026-01-03,north,anchor,3,120.50\n"
        "2026-01-17,south,rope,40,2.25\n2026-02-02,north,rope,25,2.25\n"
        "2026-02-11,east,buoy,7,35.00\n2026-02-20,south,anchor,1,118.00\n"
        '2026-03-05,north,"lamp, brass",4,60.00\n2026-03-09,east,rope,100,2.10\n'
    ),
    "data/people.json": (
        '[{"name": "Ada", "born": "1990-05-17", "skills": ["python", "sql"]},\n'
        ' {"name": "Björn", "born": "1985-11-02", "skills": ["go"]},\n'
        ' {"name": "Chen", "born": "2001-01-30", "skills": ["python", "rust", "sql"]}]\n'
    ),
    "data/broken.json": '{"a": 1,',
    "data/matrix.txt": "1 2 3\n4 5 6\n7 8 9\n",
    "data/graph.txt": "a b 4\na c 1\nc b 2\nb d 5\nc d 8\nd e 3\n",
    "logs/app.log": (
        "2026-03-01 10:00:01 INFO start pid=41\n2026-03-01 10:00:05 WARNING slow query 1.8s\n"
        "2026-03-01 10:02:11 ERROR timeout host=db1 code=504\n"
        "2026-03-01 10:02:40 INFO retry host=db1\n"
        "2026-03-01 10:05:00 ERROR refused host=db2 code=111\n"
        "2026-03-01 11:15:30 INFO stop pid=41\n"
    ),
    "logs/web.log": (
        '10.0.0.1 - "GET /index" 200 512\n10.0.0.2 - "GET /ships" 200 2048\n'
        '10.0.0.1 - "POST /login" 401 64\n10.0.0.3 - "GET /ships" 500 0\n'
        '10.0.0.1 - "GET /ships" 200 2048\n'
    ),
    "config/settings.ini": (
        "[server]\nhost = localhost\nport = 8080\n\n[limits]\nusers = 100\nrate = 2.5\n"
    ),
    "config/settings.json": '{"debug": false, "retries": 3, "hosts": ["a.test", "b.test"]}\n',
    "notes/todo.md": "- [x] buy rope\n- [ ] paint hull\n- [ ] call Ada\n- [x] sell buoys\n",
    "notes/poem.txt": (
        "The sea is calm tonight.\nThe tide is full, the moon lies fair\n"
        "upon the straits; the light\ngleams and is gone.\n"
    ),
}

TEMPERATURES: dict[str, float] = {
    "Oslo": 4.5,
    "Rome": 18.25,
    "Lima": 22.0,
    "Cairo": 31.5,
    "Quito": 14.0,
    "Kyiv": 9.75,
}

USERS: list[dict[str, Any]] = [
    {"id": 1, "name": "Ada Vik", "team": "core", "active": True, "manager": None},
    {"id": 2, "name": "Bo Lind", "team": "core", "active": True, "manager": 1},
    {"id": 3, "name": "Cy Young", "team": "web", "active": False, "manager": 1},
    {"id": 4, "name": "Di Ross", "team": "web", "active": True, "manager": 3},
    {"id": 5, "name": "Eli Ono", "team": "ops", "active": True, "manager": 2},
    {"id": 6, "name": "Fay Oz", "team": "ops", "active": False, "manager": 5},
]
for _user in USERS:
    _user["email"] = _user["name"].lower().replace(" ", ".") + "@ships.test"


def _order(id: str, customer: str, status: str, placed: str, *items: Any) -> dict[str, Any]:  # noqa: A002  the field's name
    lines = [{"sku": sku, "quantity": quantity, "price": price} for sku, quantity, price in items]
    return {"id": id, "customer": customer, "status": status, "placed": placed, "items": lines}


ORDERS: list[dict[str, Any]] = [
    _order("A-1", "ada", "paid", "2026-01-05", ("rope", 10, 2.5), ("hook", 4, 1.25)),
    _order("A-2", "bo", "open", "2026-01-09", ("anchor", 1, 120.0)),
    _order("A-3", "ada", "shipped", "2026-02-01", ("buoy", 2, 35.0), ("rope", 5, 2.5)),
    _order("A-4", "cy", "open", "2026-02-14", ("lamp", 3, 60.0)),
    _order("A-5", "bo", "paid", "2026-02-28", ("rope", 100, 2.1), ("hook", 50, 1.0)),
    _order("A-6", "di", "cancelled", "2026-03-03", ("sail", 1, 900.0)),
    _order("A-7", "ada", "open", "2026-03-04", ("sail", 1, 880.0), ("rope", 20, 2.4)),
]


def _issue(number: int, title: str, state: str, *, author: str, labels: str, comments: int) -> Any:
    return {
        "number": number,
        "title": title,
        "state": state,
        "author": author,
        "labels": labels.split(),
        "comments": comments,
        "created": f"2026-0{1 + number % 3}-{10 + number}",
    }


ISSUES: list[dict[str, Any]] = [
    _issue(1, "Crash on empty file", "open", author="ada", labels="bug urgent", comments=4),
    _issue(2, "Add dark mode", "open", author="bo", labels="feature", comments=11),
    _issue(3, "Typo in README", "closed", author="cy", labels="docs", comments=1),
    _issue(4, "Login is slow", "open", author="ada", labels="bug performance", comments=7),
    _issue(5, "Search finds nothing", "open", author="di", labels="bug", comments=0),
    _issue(6, "Document the API", "open", author="bo", labels="docs", comments=2),
    _issue(7, "Crash on empty line", "closed", author="eli", labels="bug", comments=3),
    _issue(8, "Question about install", "open", author="fay", labels="", comments=5),
]

PRODUCTS: list[str] = [
    "anchor", "rope", "buoy", "lamp", "sail", "mast", "oar", "keel", "hook", "chart",
    "compass", "bell", "flag", "net", "pump", "winch", "ladder", "horn",
]  # fmt: skip  # words, not one a line

RATES: dict[str, float] = {"USD": 1.1, "GBP": 0.85, "JPY": 160.0, "NOK": 11.5}
