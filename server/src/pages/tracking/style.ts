import { hash } from 'node:crypto'
import { colors } from '../style.ts'

/** Inline style of the tracking page. The Content-Security-Policy allows it by its hash. */
export const style = `${colors}
* { box-sizing: border-box }
body {
  margin: 0; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
}
header, main { max-width: 44rem; margin: 0 auto; padding-inline: 1rem }
header { display: flex; justify-content: space-between; align-items: baseline; padding-block: 1rem .5rem; gap: 1rem }
header p { margin: 0; font-weight: 600 }
main { padding-bottom: 1rem }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .25rem 0 1rem }
h2 { font-size: 1.125rem; line-height: 1.3; margin: 0 0 .5rem }
h3 { font-size: 1rem; margin: 1rem 0 .25rem }
p { margin: 0 0 .75rem }
a { color: var(--link) }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: .25rem }
[tabindex="-1"]:focus { outline: none }
code { font: .9375em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace; overflow-wrap: anywhere }
.unseen { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.quiet { color: var(--quiet); font-size: .9375rem }
.sum { font-variant-numeric: tabular-nums }
.card, section {
  background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem; margin: 0 0 1rem;
}
section > :last-child, .card > :last-child, dd > :last-child { margin-bottom: 0 }
.attention { border: 2px solid var(--wait) }
.badge { color: var(--tone); font-size: 1.25rem; margin: 0 0 .25rem }
.badge::before { content: ""; display: inline-block; width: .625em; height: .625em; margin-inline-end: .5em; border-radius: 50%; background: currentColor }
.pending, .confirming, .exchanging, .sending { --tone: var(--link) }
.verifying, .refunding, .failed { --tone: var(--wait) }
.finished, .refunded { --tone: var(--good) }
.now { font-size: 1.0625rem }
.warning { border-inline-start: .25rem solid var(--wait); padding-inline-start: .75rem }
.problem { color: var(--bad); font-weight: 600 }
.steps { list-style: none; display: flex; gap: .5rem; padding: 0; margin: .75rem 0 }
.steps li { flex: 1; min-width: 0; border-top: .25rem solid var(--line); padding-top: .375rem; color: var(--quiet); font-size: .875rem; overflow-wrap: anywhere }
.steps .done { border-color: var(--good) }
.steps .done::before { content: "✓ " }
.steps .current { border-color: var(--link); color: var(--text); font-weight: 600 }
.confirmations { margin: 0 0 .25rem }
progress { width: 100%; height: .75rem; accent-color: var(--link); margin-bottom: .75rem }
.clock { margin: 0 0 .25rem }
p time { font-weight: 600 }
.clock strong { font-size: 1.25rem; font-variant-numeric: tabular-nums }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .5rem 1.25rem; margin: 0 0 .75rem }
dt { color: var(--quiet) }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere }
.large { font-size: 1.125rem }
.pay { display: flex; gap: 1.5rem; align-items: flex-start }
.pay dl { flex: 1; grid-template-columns: 1fr; gap: 0 }
.pay dd { margin-bottom: .75rem }
.scan { flex: none; width: 13rem; text-align: center }
.qr { display: block; width: 100%; height: auto; border-radius: .5rem; margin-bottom: .5rem }
button, input, summary { font: inherit }
button { min-height: 2.75rem; padding: .375rem 1rem; border: 1px solid var(--button); border-radius: .5rem; background: var(--button); color: #fff; font-weight: 600; cursor: pointer }
button.second, button.copy { background: none; color: var(--link); border-color: currentColor }
button.copy { min-height: 2rem; padding: 0 .75rem; font-size: .875rem; vertical-align: middle }
label { display: block; font-weight: 600; margin-bottom: .25rem }
input { width: 100%; min-height: 2.75rem; padding: .375rem .75rem; margin-bottom: .75rem; color: var(--text); background: var(--ground); border: 1px solid var(--quiet); border-radius: .5rem; font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
[aria-invalid] { border: 2px solid var(--bad) }
form button { margin: .25rem .5rem 0 0 }
[dir=rtl] form button { margin: .25rem 0 0 .5rem }
.languages { position: relative }
summary { cursor: pointer; padding: .25rem .5rem; color: var(--link) }
.languages ul { position: absolute; inset-inline-end: 0; z-index: 1; margin: .25rem 0 0; padding: .5rem; list-style: none; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; min-width: 10rem }
.languages a { display: block; padding: .375rem .5rem }
@media (max-width: 40rem) {
  dl { grid-template-columns: 1fr; gap: 0 }
  dd { margin-bottom: .625rem }
  .steps { flex-wrap: wrap }
  .steps li { flex: 1 1 40% }
  .pay { flex-direction: column; gap: 0 }
  .scan { width: min(15rem, 100%); align-self: center }
}
@media (prefers-reduced-motion: no-preference) {
  .exchanging.badge::before, .confirming.badge::before, .sending.badge::before, .refunding.badge::before { animation: pulse 2s ease-in-out infinite }
  @keyframes pulse { 50% { opacity: .35 } }
}
`

/** The page's own style, script, stream and forms; no other host, no frames. */
export const policy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
  "script-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')
