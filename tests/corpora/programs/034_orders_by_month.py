from collections import defaultdict
from datetime import datetime as dt

months = defaultdict(list)
for order in await find_orders():
    months[dt.strptime(order["placed"], "%Y-%m-%d").strftime("%Y-%m")].append(order["id"])
for month in sorted(months):
    print(month, ", ".join(months[month]))
return dict(months)
