import calendar
first, days = calendar.monthrange(2026, 2)
print(calendar.month(2026, 2))
return {"starts": calendar.day_name[first], "days": days, "leap": [y for y in range(2020, 2033) if calendar.isleap(y)]}
