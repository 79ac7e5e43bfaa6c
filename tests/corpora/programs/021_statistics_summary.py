import statistics

prices = [item["price"] for order in await find_orders() for item in order["items"]]
summary = {
    "n": len(prices),
    "mean": round(statistics.mean(prices), 3),
    "median": statistics.median(prices),
    "stdev": round(statistics.stdev(prices), 3),
}
for key, value in summary.items():
    print(f"{key:>8}: {value}")
summary
