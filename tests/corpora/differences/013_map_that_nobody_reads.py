steps = []
pending = map(lambda n: steps.append(n), [1, 2, 3])
return steps
