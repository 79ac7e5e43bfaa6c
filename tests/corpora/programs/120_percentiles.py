def percentile(values, p):
    ordered = sorted(values)
    k = (len(ordered) - 1) * p / 100
    low, high = math.floor(k), math.ceil(k)
    return ordered[low] + (ordered[high] - ordered[low]) * (k - low)

amounts = [sum(i["quantity"] * i["price"] for i in o["items"]) for o in await find_orders()]
mean = sum(amounts) / len(amounts)
deviation = math.sqrt(sum((a - mean) ** 2 for a in amounts) / len(amounts))
return {"p50": percentile(amounts, 50), "p90": round(percentile(amounts, 90), 3), "mean": round(mean, 3), "sd": round(deviation, 3)}
