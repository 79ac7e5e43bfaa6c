from zoneinfo import ZoneInfo
from datetime import datetime as DateTime, timezone
moment = DateTime(2026, 7, 1, 12, 0, tzinfo=timezone.utc)
oslo = moment.astimezone(ZoneInfo("Europe/Oslo"))
lima = moment.astimezone(ZoneInfo("America/Lima"))
return [oslo.isoformat(), lima.hour, oslo.utcoffset().total_seconds(), oslo == lima]
