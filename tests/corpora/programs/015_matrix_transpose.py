rows = [[int(n) for n in line.split()] for line in (await read_file("data/matrix.txt"))["content"].splitlines()]
transposed = [list(column) for column in zip(*rows)]
trace = sum(rows[i][i] for i in range(len(rows)))
product = [[sum(a * b for a, b in zip(row, col)) for col in zip(*transposed)] for row in rows]
for row in product:
    print(" ".join(f"{n:4d}" for n in row))
return {"transposed": transposed, "trace": trace}
