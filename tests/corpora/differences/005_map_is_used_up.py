numbers = map(int, "1 2 3".split())
return [sum(numbers), sum(numbers)]
