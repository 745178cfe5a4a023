"""The style sheet of a page: light and dark, screen and paper."""

from typing import Final

STYLE: Final = """:root {
  --paper: #ffffff; --ink: #1b1f24; --muted: #57606a; --line: #d0d7de; --shade: #f3f5f7; --best: #d9ecff;
  --link: #0b5cad;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181d; --ink: #e4e8ec; --muted: #9aa4af; --line: #39424d; --shade: #1f252c; --best: #1d4468;
    --link: #79b8ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 76rem; padding: 1rem clamp(0.75rem, 3vw, 2rem) 3rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 0.75rem; padding-bottom: 0.25rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 2rem 0 0.5rem; }
p { max-width: 48rem; margin: 0.5rem 0; }
a { color: var(--link); }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 0; padding: 0; list-style: none; }
footer { margin-top: 3rem; color: var(--muted); font-size: 0.875rem; }
dl { margin: 0.75rem 0; max-width: 60rem; }
dl > div { display: grid; grid-template-columns: 13rem 1fr; gap: 0 1rem; padding: 0.15rem 0; }
dt { color: var(--muted); }
dd { margin: 0; }
.row { display: flex; flex-wrap: wrap; gap: 1.5rem 2rem; align-items: flex-start; margin: 1.25rem 0; }
.row > * { max-width: 100%; min-width: min(100%, 18rem); }
details { margin: 1.25rem 0; }
.title, summary { font-weight: 600; margin: 0 0 0.4rem; }
summary { cursor: pointer; padding: 0.2rem 0; }
.note, figcaption { color: var(--muted); font-size: 0.875rem; margin: 0.4rem 0 0; }
.row .note, figcaption { width: 0; min-width: 100%; }  /* as wide as what is above, not as the text */
.table {
  overflow: auto; width: fit-content; max-width: 100%; max-height: 85vh; border: 1px solid var(--line);
  border-radius: 4px;
}
table { border-collapse: separate; border-spacing: 0; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td {
  padding: 0.25rem 0.6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line);
  font-weight: 400; overflow-wrap: normal;
}
tbody tr:last-child > * { border-bottom: 0; }
thead th {
  position: sticky; top: 0; z-index: 1; background: var(--shade); font-weight: 600; white-space: normal;
  vertical-align: bottom; min-width: 4.5rem; line-height: 1.25;
}
tbody th, thead th:first-child { position: sticky; left: 0; text-align: left; background: var(--paper); }
thead th:first-child { z-index: 2; background: var(--shade); }
tbody th { max-width: 22rem; white-space: normal; overflow-wrap: anywhere; min-width: 7rem; }
tbody tr:hover > * { background: var(--shade); }
.text { text-align: left; }
td.text { white-space: normal; min-width: 12rem; max-width: 48rem; overflow-wrap: anywhere; }
td.best, tbody tr:hover > td.best { background: var(--best); }
figure { margin: 0; }
.card { max-width: 100%; width: max-content; overflow-x: auto; padding: 0.5rem; background: #ffffff; }
.card { border: 1px solid var(--line); border-radius: 4px; }
.card svg { display: block; }
figcaption strong { color: var(--ink); font-weight: 600; }
@media (max-width: 40rem) {
  dl > div { grid-template-columns: 1fr; padding: 0.3rem 0; }
  tbody th, td.text { min-width: 6rem; }
  tbody th { max-width: 9rem; }
  .card svg { min-width: min(var(--natural), 30rem); }
}
@media print {
  :root { --paper: #ffffff; --ink: #000000; --muted: #444444; --line: #bbbbbb; --shade: #f0f0f0; --best: #dddddd; }
  @page { size: A4 landscape; margin: 12mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  h2, h3, .title, summary { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  .table { max-height: none; overflow: visible; border: 0; }
  .many table { font-size: 6.5pt; }
  .many th, .many td { padding: 0.1rem 0.25rem; min-width: 0; }
  .many tbody th { white-space: nowrap; max-width: none; }
  thead th, tbody th, thead th:first-child { position: static; }
  details::details-content { content-visibility: visible; height: auto; }
  details > summary { list-style: none; }
}
"""
