def plain(value):
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(type(value))

return json.dumps({"tags": {"b", "a"}, "day": datetime.date(2026, 3, 1)}, default=plain, sort_keys=True)
