def flatten(value, prefix=""):
    if isinstance(value, dict):
        out = {}
        for key, item in value.items():
            out.update(flatten(item, f"{prefix}.{key}" if prefix else key))
        return out
    if isinstance(value, list):
        out = {}
        for i, item in enumerate(value):
            out.update(flatten(item, f"{prefix}[{i}]"))
        return out
    return {prefix: value}

settings = json.loads((await read_file(path="config/settings.json"))["content"])
order = (await find_orders(customer="di"))[0]
flatten({"settings": settings, "order": order})
