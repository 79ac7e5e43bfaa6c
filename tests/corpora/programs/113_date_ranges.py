from datetime import date, timedelta
start, end = date(2026, 2, 26), date(2026, 3, 3)
days = [start + timedelta(days=n) for n in range((end - start).days + 1)]
weekend = [d.isoformat() for d in days if d.weekday() >= 5]
print([d.strftime("%a %d %b") for d in days])
return {"days": len(days), "weekend": weekend, "quarter": (end.month - 1) // 3 + 1, "iso": list(end.isocalendar())}
