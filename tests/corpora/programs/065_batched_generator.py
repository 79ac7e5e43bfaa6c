def windows(items, size):
    for i in range(len(items) - size + 1):
        yield items[i:i + size]

days = await forecast(city="Rome", days=6)
highs = [d["high"] for d in days]
moving = [round(sum(w) / 3, 3) for w in windows(highs, 3)]
return {"highs": highs, "moving": moving, "rain": sum(d["rain"] for d in days)}
