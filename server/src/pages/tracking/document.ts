import { hash } from 'node:crypto'
import { type Html, html, markupOf } from '../../lib/html.ts'
import { depositsRegion, detailsRegion } from './details-region.ts'
import { fill, isolate, type Language, type Locale, languages } from './languages/locale.ts'
import { payRegion } from './pay-region.ts'
import { emptyForm, type RefundForm, refundRegion } from './refund-region.ts'
import { fingerprintOf, type ShownExchange } from './shown-exchange.ts'
import { deadlinesRegion, progressRegion, statusRegion } from './status-region.ts'
import { style } from './style.ts'

/** Reloads of a browser without scripts. */
const refreshSeconds = { live: 15, slow: 30 } as const
export const SCRIPT_PATH = '/track/client.js'

type Region = 'status' | 'progress' | 'refund' | 'pay' | 'deadlines' | 'deposits' | 'details'

/**
 * The parts of the page that change, in their order. Each has a version, by which the script replaces only what changed. It
 * depends on neither the time that is left nor what the user entered.
 */
function renderRegions(shown: ShownExchange, token: string, locale: Locale, form: RefundForm): Html {
  const action = `/track/${token}/refund?lang=${locale.language}`
  const render = (moment: ShownExchange, state: RefundForm): Readonly<Record<Region, Html | null>> => ({
    status: statusRegion(moment, locale),
    progress: progressRegion(moment, locale),
    refund: refundRegion(moment, action, state, locale),
    pay: payRegion(moment, locale),
    deadlines: deadlinesRegion(moment, locale),
    deposits: depositsRegion(moment, locale),
    details: detailsRegion(moment, locale),
  })
  const parts = render(shown, form)
  const timeless = render({ ...shown, now: shown.tracked.exchange.createdAt.getTime() }, emptyForm)
  const version = (region: Region) => hash('sha1', markupOf(html`${timeless[region]}`), 'base64url').slice(0, 12)
  return html`<div id="status" role="status" tabindex="-1" data-version="${version('status')}" data-title="${titleOf(shown, locale)}">${parts.status}</div>
<div id="progress" data-version="${version('progress')}">${parts.progress}</div>
<div id="refund" data-version="${version('refund')}">${parts.refund}</div>
<div id="pay" data-version="${version('pay')}">${parts.pay}</div>
<div id="deadlines" data-version="${version('deadlines')}">${parts.deadlines}</div>
<div id="deposits" data-version="${version('deposits')}">${parts.deposits}</div>
<div id="details" data-version="${version('details')}">${parts.details}</div>`
}

const titleOf = ({ status, from, to }: ShownExchange, { texts }: Locale): string =>
  `${texts.statuses[status]}: ${from.symbol} → ${to.symbol}`

export const regionsText = (shown: ShownExchange, token: string, locale: Locale): string =>
  markupOf(renderRegions(shown, token, locale, emptyForm))

export function trackingPage(shown: ShownExchange, token: string, locale: Locale, form: RefundForm): string {
  const { from, to, pace } = shown
  const { texts, language } = locale
  // A page with a form does not reload: the input would be lost.
  const reloads = pace !== 'final' && !shown.takesRefundAddress && form.problem === null
  const refresh = reloads
    ? html`<noscript><meta http-equiv="refresh" content="${refreshSeconds[pace]}"></noscript>
`
    : null
  const events =
    pace === 'final' ? null : html` data-events="/track/${token}/events?lang=${language}&seen=${fingerprintOf(shown)}"`
  return renderDocument(locale, {
    title: titleOf(shown, locale),
    head: html`${refresh}<script src="${SCRIPT_PATH}" defer></script>`,
    body: html`<h1>${fill(texts.heading, { from: isolate(from.symbol), to: isolate(to.symbol) })}</h1>
<div id="live"${events}>
${renderRegions(shown, token, locale, form)}
</div>
<p id="copied" class="unseen" role="status"></p>`,
  })
}

/** The page in place of one that cannot be shown. */
export function failurePage(locale: Locale, failure: 'notFound' | 'tooMany' | 'unavailable'): string {
  const { failures } = locale.texts
  return renderDocument(locale, {
    title: failures[failure],
    head: null,
    body: html`<h1>${failures[failure]}</h1>
<section><p>${failures[`${failure}Note`]}</p></section>`,
  })
}

type Content = Readonly<{ title: string; head: Html | null; body: Html }>

function renderDocument(locale: Locale, { title, head, body }: Content): string {
  const { language, dir } = locale
  const start = html`<!doctype html>
<html lang="${language}" dir="${dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
${head}
<style>`
  const rest = html`</style>
</head>
<body>
<header><p>Swapyard</p>${languageMenu(locale)}</header>
<main>
${body}
</main>
</body>
</html>
`
  // Inserted unchanged: the Content-Security-Policy contains its hash.
  return `${markupOf(start)}${style}${markupOf(rest)}`
}

function languageMenu({ language, texts }: Locale): Html {
  const items = (Object.keys(languages) as Language[]).map((code) => {
    const current = code === language ? html` aria-current="true"` : null
    return html`<li><a href="?lang=${code}" lang="${code}" hreflang="${code}"${current}>${languages[code].language}</a></li>
`
  })
  return html`<nav aria-label="${texts.languages}"><details class="languages"><summary>${texts.language}</summary><ul>
${items}</ul></details></nav>`
}
