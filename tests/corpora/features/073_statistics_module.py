import statistics
values = await asyncio.gather(*[temperature(city=c) for c in ("Oslo", "Rome", "Lima", "Cairo")])
return [
    statistics.mean(values), statistics.median(values), round(statistics.stdev(values), 6),
    statistics.mode([1, 2, 2, 3]), statistics.quantiles([1, 2, 3, 4, 5], n=4), round(statistics.pstdev(values), 6),
]
