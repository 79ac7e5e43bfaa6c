"""A small world for programs: files, users, orders, issues and weather; the same every time.

Plain Python on purpose: what a program must give is found without any engine.
"""

import asyncio
import copy
from collections.abc import Callable
from typing import Any, TypedDict

from corpora import data
from lineshaft.errors import ToolError


class FileText(TypedDict):
    """A file."""

    path: str
    content: str
    lines: int


class Written(TypedDict):
    """What writing did."""

    path: str
    bytes: int
    created: bool


class Day(TypedDict):
    """The weather of a day."""

    day: int
    high: float
    low: float
    rain: bool


class User(TypedDict):
    """Somebody."""

    id: int
    name: str
    email: str
    team: str
    active: bool
    manager: int | None


class Item(TypedDict):
    """A line of an order."""

    sku: str
    quantity: int
    price: float


class Order(TypedDict):
    """An order."""

    id: str
    customer: str
    status: str
    placed: str
    items: list[Item]


class Issue(TypedDict):
    """An issue."""

    number: int
    title: str
    state: str
    author: str
    labels: list[str]
    comments: int
    created: str


class Page(TypedDict):
    """A page of results."""

    items: list[str]
    next: int | None


class Sent(TypedDict):
    """A message that was sent."""

    id: int
    to: str


class World:
    """What the tools of one run look at and change."""

    def __init__(self) -> None:
        self.files: dict[str, str] = dict(data.FILES)
        self.orders: list[Any] = copy.deepcopy(data.ORDERS)
        self.issues: list[Any] = copy.deepcopy(data.ISSUES)
        self.counters: dict[str, int] = {}
        self.sent = 0


async def read_file(world: World, path: str) -> FileText:
    """Return a text file."""
    if path not in world.files:
        raise ToolError("E_FILE_NOT_FOUND", f"there is no file {path!r}")
    content = world.files[path]
    return {"path": path, "content": content, "lines": len(content.splitlines())}


async def write_file(world: World, path: str, content: str) -> Written:
    """Write a text file."""
    if path.startswith("/"):
        raise ToolError("E_SANDBOX_VIOLATION", f"{path!r} is outside")
    created = path not in world.files
    world.files[path] = content
    return {"path": path, "bytes": len(content.encode()), "created": created}


async def list_files(world: World, folder: str = "") -> list[str]:
    """Return the paths of the files below a folder, sorted."""
    return sorted(path for path in world.files if path.startswith(folder))


async def temperature(world: World, city: str) -> float:
    """Return the temperature in a city, in degrees Celsius."""
    if city not in data.TEMPERATURES:
        raise ToolError("E_TOOL_FAILED", f"no station in {city}")
    return data.TEMPERATURES[city]


async def forecast(world: World, city: str, days: int = 3) -> list[Day]:
    """Return the weather of the next days."""
    base = await temperature(world, city)
    return [
        {"day": n, "high": base + n * 1.5, "low": base - n, "rain": (n + len(city)) % 3 == 0}
        for n in range(1, days + 1)
    ]


async def get_user(world: World, id: int) -> User:  # noqa: A002  the name that tools have
    """Return a user by number."""
    found = [user for user in data.USERS if user["id"] == id]
    if not found:
        raise ToolError("E_TOOL_FAILED", f"no user {id}")
    return copy.deepcopy(found[0])  # pyright: ignore[reportReturnType]  plain data


async def list_users(world: World, team: str | None = None) -> list[User]:
    """Return the users, of one team or all."""
    users: list[Any] = [user for user in data.USERS if team in (None, user["team"])]
    return copy.deepcopy(users)


async def find_orders(
    world: World, customer: str | None = None, status: str | None = None
) -> list[Order]:
    """Return orders."""
    return copy.deepcopy(
        [
            order
            for order in world.orders
            if customer in (None, order["customer"]) and status in (None, order["status"])
        ]
    )


async def set_status(world: World, order: str, status: str) -> Order:
    """Change the status of an order."""
    for entry in world.orders:
        if entry["id"] == order:
            if entry["status"] == "shipped":
                raise ToolError("E_PRECONDITION_FAILED", f"{order} is shipped already")
            entry["status"] = status
            return copy.deepcopy(entry)
    raise ToolError("E_TOOL_FAILED", f"no order {order}")


async def increment(world: World, name: str, by: int = 1) -> int:
    """Add to a counter and return what it is then."""
    world.counters[name] = world.counters.get(name, 0) + by
    return world.counters[name]


async def fetch_page(world: World, page: int = 1) -> Page:
    """Return one page of the names of all products."""
    if page < 1 or page > 4:
        raise ToolError("E_TOOL_FAILED", f"no page {page}")
    items = data.PRODUCTS[(page - 1) * 5 : page * 5]
    return {"items": items, "next": page + 1 if page < 4 else None}


async def convert(world: World, amount: float, currency: str) -> float:
    """Return an amount of euros in another currency."""
    if currency not in data.RATES:
        raise ToolError("E_TOOL_FAILED", f"no rate for {currency}")
    return round(amount * data.RATES[currency], 2)


async def send_message(world: World, to: str, text: str) -> Sent:
    """Send a message."""
    world.sent += 1
    return {"id": world.sent, "to": to}


async def list_issues(world: World, state: str = "open", label: str | None = None) -> list[Issue]:
    """Return the issues in a state (`open`, `closed`, `all`)."""
    return copy.deepcopy(
        [
            issue
            for issue in world.issues
            if state in ("all", issue["state"]) and (label is None or label in issue["labels"])
        ]
    )


async def get_issue(world: World, number: int) -> Issue:
    """Return one issue."""
    for issue in world.issues:
        if issue["number"] == number:
            return copy.deepcopy(issue)
    raise ToolError("E_TOOL_FAILED", f"no issue {number}")


async def add_label(world: World, number: int, label: str) -> list[str]:
    """Add a label to an issue and return all that it has then."""
    for issue in world.issues:
        if issue["number"] == number:
            if label not in issue["labels"]:
                issue["labels"].append(label)
            return list(issue["labels"])
    raise ToolError("E_TOOL_FAILED", f"no issue {number}")


async def close_issue(world: World, number: int, comment: str = "") -> Issue:
    """Close an issue."""
    for issue in world.issues:
        if issue["number"] == number:
            if issue["state"] == "closed":
                raise ToolError("E_PRECONDITION_FAILED", f"issue {number} is closed already")
            issue["state"] = "closed"
            issue["comments"] += bool(comment)
            return copy.deepcopy(issue)
    raise ToolError("E_TOOL_FAILED", f"no issue {number}")


Function = Callable[..., Any]

TOOLS: dict[str, Function] = {
    "read_file": read_file,
    "write_file": write_file,
    "list_files": list_files,
    "temperature": temperature,
    "forecast": forecast,
    "get_user": get_user,
    "list_users": list_users,
    "find_orders": find_orders,
    "set_status": set_status,
    "increment": increment,
    "fetch_page": fetch_page,
    "convert": convert,
    "send_message": send_message,
    "github.list_issues": list_issues,
    "github.get_issue": get_issue,
    "github.add_label": add_label,
    "github.close_issue": close_issue,
}
"""By canonical name; the first parameter is the world."""

WRITES = frozenset({"write_file", "set_status", "increment"})
EXTERNAL = frozenset({"send_message", "github.add_label", "github.close_issue"})


async def use(name: str, world: World, arguments: dict[str, Any]) -> Any:
    """Make a call that others may overtake, as real ones do."""
    await asyncio.sleep(0)
    return await TOOLS[name](world, **arguments)
