import csv
import io

users = await list_users(team="web")
buffer = io.StringIO()
writer = csv.DictWriter(buffer, fieldnames=["id", "name", "email"], extrasaction="ignore", lineterminator="\n")
writer.writeheader()
writer.writerows(users)
await write_file(path="out/web.csv", content=buffer.getvalue())
print(buffer.getvalue(), end="")
