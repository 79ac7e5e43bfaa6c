import csv
import io

content = (await read_file(path="data/sales.csv"))["content"]
totals = {}
for row in csv.DictReader(io.StringIO(content)):
    amount = int(row["units"]) * float(row["price"])
    totals[row["region"]] = round(totals.get(row["region"], 0) + amount, 2)
best = max(totals, key=totals.get)
print("best region:", best)
return totals
