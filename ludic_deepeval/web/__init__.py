"""Annotating in the browser: `ludic annotate --web FILE`.

`session` holds what is marked and writes it, `verdict` says what it comes to, `anchors` makes a quote of a selection,
`questions` has what is asked; none of them knows of HTTP, which is `server`'s. The page itself is `page.html`, with
`page.css` and plain JavaScript modules: nothing is built, and nothing comes from elsewhere.
"""
