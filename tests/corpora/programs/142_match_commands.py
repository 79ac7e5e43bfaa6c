async def handle(command):
    match command.split():
        case ["read", path]:
            return (await read_file(path=path))["lines"]
        case ["weather", city, *_]:
            return await temperature(city=city)
        case ["sum", *numbers] if numbers:
            return sum(int(n) for n in numbers)
        case []:
            return "empty"
        case [unknown, *rest]:
            return f"unknown {unknown} with {len(rest)}"

return [await handle(c) for c in ("read README.md", "weather Oslo now", "sum 1 2 3", "", "fly to moon")]
