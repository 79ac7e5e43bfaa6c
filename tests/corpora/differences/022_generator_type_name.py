g = (n for n in range(3))
return [type(g).__name__, type(map(str, [])).__name__, type(zip()).__name__]
