from urllib.parse import urlencode, urlsplit, parse_qsl
base = "https://ships.test/search"
params = {"q": "rope & hook", "page": 2, "tags": "a,b"}
url = f"{base}?{urlencode(params)}"
parts = urlsplit(url)
print(url)
return {"host": parts.netloc, "query": dict(parse_qsl(parts.query))}
