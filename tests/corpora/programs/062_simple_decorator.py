registry = {}

def command(name):
    def register(function):
        registry[name] = function
        return function
    return register

@command("sum")
def add(numbers):
    return sum(numbers)

@command("max")
def biggest(numbers):
    return max(numbers)

numbers = [int(n) for n in re.findall(r"\d+", (await read_file(path="data/matrix.txt"))["content"])]
return {name: run(numbers) for name, run in sorted(registry.items())}
