import csv
rows = list(csv.DictReader((await read_file(path="data/sales.csv"))["content"].splitlines()))
months = sorted({r["date"][:7] for r in rows})
regions = sorted({r["region"] for r in rows})
pivot = {region: [0.0] * len(months) for region in regions}
for r in rows:
    pivot[r["region"]][months.index(r["date"][:7])] += int(r["units"]) * float(r["price"])
print("region".ljust(8) + "".join(m.rjust(10) for m in months))
for region, values in pivot.items():
    print(region.ljust(8) + "".join(f"{v:10.2f}" for v in values))
