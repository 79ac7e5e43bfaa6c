from datetime import date, timedelta

a = datetime.datetime(2026, 2, 27, 14, 30)
b = a + timedelta(days=2, hours=12)
gap = datetime.datetime(2026, 12, 24) - a
return [
    b.isoformat(), gap.days, gap.total_seconds(), a.strftime("%Y/%m/%d %H:%M"), a.weekday(),
    date(2026, 3, 1).isoformat(), str(date(2028, 2, 28) + timedelta(days=1)), a < b,
    a.replace(month=5).month, b.date().isoformat(), date.fromisoformat("2026-03-04").day,
]
