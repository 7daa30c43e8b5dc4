"""The parts of a page: escaped text, tables, and a frame with its style. A page needs no other file, no host and no script."""

import html
from collections.abc import Sequence

from envs_c.text import printable

_LONGEST = 2000  # characters of a text; the rest is cut

# A browser that opens the page runs nothing and loads nothing, whatever a run's files contain.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

_STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1c2430; --dim: #5d6b7c; --line: #d9dfe6; --card: #f6f8fa;
  --c0: #1f6feb; --c1: #d9480f; --c2: #2b8a3e; --c3: #9c36b5; --c4: #a6761d; --c5: #0b7285; --c6: #c2255c; --c7: #5f6b7a; }
@media (prefers-color-scheme: dark) { :root { --back: #12161c; --text: #e4e9f0; --dim: #98a5b5; --line: #2c3542;
  --card: #1a2029; --c0: #6cb0ff; --c1: #ff9259; --c2: #63d27e; --c3: #d58cf0; --c4: #e3bb5f; --c5: #4ecbdc; --c6: #ff7eaf;
  --c7: #a9b4c2; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 76rem; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
h3 { font-size: .95rem; margin: 0 0 .3rem; } p { margin: .4rem 0; } .dim, .none, figcaption { color: var(--dim); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--dim); font-weight: 600; white-space: nowrap; } .name { max-width: 30rem; overflow-wrap: break-word; }
.number { text-align: right; white-space: nowrap; padding-left: .7rem; padding-right: 0; }
.charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
.chart, .fact { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .8rem; }
.facts { display: grid; gap: .7rem; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); margin: 1rem 0; }
.fact b { display: block; font-size: 1.1rem; font-variant-numeric: tabular-nums; }
.fact span { color: var(--dim); font-size: .85rem; }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--dim); font-size: 11px; }
.grid { stroke: var(--line); fill: none; } .curve { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin: 0 0 .8rem; list-style: none; }
.legend i { display: inline-block; width: 1.4rem; height: .25rem; margin-right: .4rem; vertical-align: middle; }
figure { margin: 0; } .films { display: flex; flex-wrap: wrap; gap: 1.2rem; }
.films img { display: block; max-width: 100%; width: 16rem; image-rendering: pixelated; border-radius: .4rem; }
details { margin: .5rem 0; } summary { cursor: pointer; }
""" + "".join(f".curve.c{k} {{ stroke: var(--c{k}); }} .dot.c{k} {{ fill: var(--c{k}); }} "
              f".legend .c{k} {{ background: var(--c{k}); }}\n" for k in range(8))


def escape(text: object) -> str:
    """A text for a page: markup, and characters that are not printed or turn the direction of text, appear as text."""
    return html.escape(printable(str(text)[:_LONGEST], lines=True))


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], numbers: Sequence[str] = ()) -> str:
    """A table of escaped texts, which scrolls on a narrow screen. numbers: columns to align to the right."""
    def cells(row: Sequence[object], tag: str) -> str:
        kinds = ["number" if column in numbers else "name" for column in columns]
        return "".join(f'<{tag} class="{kind}">{escape(cell)}</{tag}>' for kind, cell in zip(kinds, row, strict=True))
    body = "".join(f"<tr>{cells(row, 'td')}</tr>\n" for row in rows)
    return f'<div class="wide"><table><thead><tr>{cells(columns, "th")}</tr></thead>\n<tbody>{body}</tbody></table></div>\n'


def section(title: str, *parts: str) -> str:
    """A section with a heading; empty if all parts are."""
    return f"<section><h2>{escape(title)}</h2>\n{''.join(parts)}</section>\n" if any(parts) else ""


def details(title: str, *parts: str) -> str:
    """A part that opens with a click."""
    return f"<details><summary>{escape(title)}</summary>\n{''.join(parts)}</details>\n"


def page(title: str, body: str) -> bytes:
    """A complete page in UTF-8."""
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{html.escape(_POLICY)}">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(title)}</title>\n<style>{_STYLE}</style></head>\n<body>\n{body}</body></html>\n").encode()
