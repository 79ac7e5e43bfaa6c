values = [0, 1, "", "0", [], [0], {}, None, 0.0, (), "False", set()]
return [[bool(v) for v in values], [v or "default" for v in values[:4]], [v and "yes" for v in ("a", "")], not values, 1 < 2 < 3 != 4, None is None]
