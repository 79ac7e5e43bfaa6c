import html
return [html.escape("<a href='x'>&</a>"), html.unescape("&lt;b&gt; &eacute; &#65;")]
