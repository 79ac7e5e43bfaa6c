text = """Contact: ada@ships.test, bo.lind@ships.test
Phone: +47 22 33 44 55 / (020) 7946-0018
Total: $1,234.50 and $99"""
emails = re.findall(r"[\w.]+@[\w.]+\w", text)
money = [float(m.replace(",", "")) for m in re.findall(r"\$([\d,]+(?:\.\d+)?)", text)]
masked = re.sub(r"(\w)[\w.]*@", r"\1***@", text.splitlines()[0])
return {"emails": emails, "money": money, "masked": masked, "phone": bool(re.search(r"\+47(?: \d\d){4}", text))}
