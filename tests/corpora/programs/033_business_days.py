def business_days(start, end):
    day, count = start, 0
    while day < end:
        if day.weekday() < 5:
            count += 1
        day += datetime.timedelta(days=1)
    return count

orders = await find_orders()
dates = [datetime.date.fromisoformat(o["placed"]) for o in orders]
gaps = [business_days(a, b) for a, b in zip(dates, dates[1:])]
print(gaps)
return {"total": sum(gaps), "longest": max(gaps)}
