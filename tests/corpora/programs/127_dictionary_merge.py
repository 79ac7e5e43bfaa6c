defaults = {"debug": True, "retries": 1, "hosts": [], "nested": {"a": 1, "b": 2}}
settings = json.loads((await read_file(path="config/settings.json"))["content"])

def merge(base, extra):
    out = dict(base)
    for key, value in extra.items():
        if isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = merge(out[key], value)
        else:
            out[key] = value
    return out

merged = merge(merge(defaults, settings), {"nested": {"b": 3}})
return {"merged": merged, "plain": defaults | {"debug": 5}, "keys": list(merged)}
