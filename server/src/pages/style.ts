import { hash } from 'node:crypto'

/** Colors of all pages, for light and dark. */
export const colors = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #101318);
  --card: light-dark(#ffffff, #181c23);
  --line: light-dark(#e2e5ea, #2a303a);
  --text: light-dark(#171b22, #e7eaf0);
  --quiet: light-dark(#5b6473, #98a2b3);
  --link: light-dark(#1a56c4, #8ab4ff);
  --good: light-dark(#0b7a43, #4cd08a);
  --wait: light-dark(#8a5a00, #f2bd55);
  --bad: light-dark(#b3261e, #ff8a80);
  --button: light-dark(#1a56c4, #2f6fe0);
}
`

/** Inline style of the pages without scripts. The Content-Security-Policy allows it by its hash. */
export const style = `${colors}
* { box-sizing: border-box }
body {
  margin: 0; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
}
header, main { max-width: 62rem; margin: 0 auto; padding: 0 1rem }
header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; padding-block: 1rem .25rem }
header a { font-weight: 600 }
header span { color: var(--quiet) }
h1 { font-size: 1.375rem; line-height: 1.3; margin: .75rem 0 .25rem }
h2 { font-size: 1rem; margin: 0 0 .5rem }
p { margin: 0 0 .75rem }
a { color: var(--link); text-decoration: none }
a:hover { text-decoration: underline }
code { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere }
.quiet { color: var(--quiet) }
.subject { margin-bottom: 1rem }
section {
  background: var(--card); border: 1px solid var(--line); border-radius: .625rem;
  padding: 1rem; margin: 0 0 1rem;
}
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .375rem 1.25rem; margin: 0 }
dt { color: var(--quiet) }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% }
th { color: var(--quiet); font-weight: 500; text-align: left }
th, td { padding: .4375rem .75rem .4375rem 0; vertical-align: top; border-top: 1px solid var(--line) }
thead th { border-top: 0; padding-top: 0 }
tr > :last-child { padding-right: 0 }
th code { white-space: nowrap }
tr:target { background: color-mix(in srgb, var(--link) 14%, transparent) }
.amount { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.badge {
  display: inline-block; padding: 0 .5rem; border-radius: 1rem; font-weight: 600;
  color: var(--tone, var(--quiet)); border: 1px solid currentColor;
}
.confirmed { --tone: var(--good) }
.waiting { --tone: var(--wait) }
.failed, .dropped { --tone: var(--bad) }
.in { color: var(--good) }
.out { color: var(--bad) }
@media (max-width: 40rem) {
  section { padding: .75rem }
  dl { grid-template-columns: 1fr; gap: 0 }
  dd { margin-bottom: .5rem }
  dd:last-child { margin-bottom: 0 }
  thead { display: none }
  tr { display: block; padding: .5rem 0; border-top: 1px solid var(--line) }
  tbody tr:first-child { border-top: 0 }
  th, td { display: block; border: 0; padding: 0 }
  td[data-name]::before { content: attr(data-name) ' '; color: var(--quiet) }
  .amount { text-align: left; white-space: normal; overflow-wrap: anywhere }
}
`

/** Nothing but this style and the empty icon: no scripts, no other host, no frames. */
export const policy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
