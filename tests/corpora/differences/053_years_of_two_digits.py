"""Years of two digits from 69 on are of the last century."""

days = ["31-12-68", "01-01-69", "24-05-99"]
return [datetime.datetime.strptime(day, "%d-%m-%y").year for day in days]
