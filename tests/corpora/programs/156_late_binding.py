late = [lambda: n for n in range(3)]
early = [lambda n=n: n for n in range(3)]
return [[f() for f in late], [f() for f in early]]
