a = datetime.datetime.strptime("2026-03-01 10:02:11", "%Y-%m-%d %H:%M:%S")
b = datetime.datetime.strptime("01.04.2026", "%d.%m.%Y")
return [a.isoformat(), b.date().isoformat(), (b - a).days, a.hour * 60 + a.minute]
