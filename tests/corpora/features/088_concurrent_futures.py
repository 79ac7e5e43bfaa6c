from concurrent.futures import ThreadPoolExecutor

def cube(n):
    return n ** 3

with ThreadPoolExecutor(max_workers=3) as pool:
    results = list(pool.map(cube, range(5)))
    one = pool.submit(cube, 10).result()
return [results, one]
