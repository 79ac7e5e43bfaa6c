text = (await read_file(path="data/sales.csv"))["content"]
header, *rows = text.strip().split("\n")
columns = header.split(",")
records = [dict(zip(columns, row.split(","))) for row in rows if '"' not in row]
cheap = [r for r in records if float(r["price"]) < 10]
units = sum(int(r["units"]) for r in cheap)
return {"columns": columns, "cheap": len(cheap), "units": units}
