from typing import Any, Callable, Iterable, Optional

Row = dict[str, Any]

def pick(rows: Iterable[Row], key: str, where: Optional[Callable[[Row], bool]] = None) -> list[Any]:
    """Return the values of one column."""
    return [row[key] for row in rows if where is None or where(row)]

users: list[Row] = await list_users()
total: int = len(users)
names: list[str] = pick(users, "name", lambda u: u["active"])
return [total, names, pick([], "x")]
