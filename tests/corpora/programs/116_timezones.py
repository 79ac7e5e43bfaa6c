from datetime import datetime, timedelta, timezone
noon = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
offsets = {"Oslo": 1, "Lima": -5, "Kyiv": 2}
local = {city: noon.astimezone(timezone(timedelta(hours=h))).strftime("%H:%M %z") for city, h in offsets.items()}
print(noon.isoformat())
return [local, int(noon.timestamp()), datetime.fromtimestamp(0, tz=timezone.utc).year]
