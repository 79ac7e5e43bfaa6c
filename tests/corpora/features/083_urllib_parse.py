from urllib.parse import urlparse, urlencode, parse_qs, quote, unquote, urljoin
url = urlparse("https://user@ships.test:8443/a/b?x=1&x=2&y=%C3%A9#top")
return [
    url.scheme, url.hostname, url.port, url.path, parse_qs(url.query), url.fragment,
    urlencode({"q": "a b", "n": 3}), quote("a/b ü"), unquote("%41%20"), urljoin("https://a.test/x/y", "../z"),
]
