import type { FastifyReply } from 'fastify'
import { type Html, html, markupOf } from '../lib/html.ts'
import { policy, style } from './style.ts'

export type Page = Readonly<{
  title: string
  /** Breadcrumbs above the title, outermost first. */
  trail: readonly Readonly<{ name: string; href: string | null }>[]
  body: Html
  /** The page reloads after this many seconds. */
  refreshSeconds?: number
}>

/** A table with its header cells, and a row for each item. */
export const table = <T>(head: Html, items: readonly T[], toRow: (item: T) => Html): Html => html`<table>
<thead><tr>${head}</tr></thead>
<tbody>
${items.map(toRow)}
</tbody>
</table>`

const headers = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

export function sendPage(reply: FastifyReply, status: number, page: Page): FastifyReply {
  return reply.code(status).headers(headers).type('text/html; charset=utf-8').send(render(page))
}

function render({ title, trail, body, refreshSeconds }: Page): string {
  const refresh = refreshSeconds === undefined ? null : html`<meta http-equiv="refresh" content="${refreshSeconds}">`
  const steps = trail.map(({ name, href }) =>
    href === null ? html`<span>${name}</span>` : html`<a href="${href}">${name}</a>`,
  )
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refresh}
<title>${title}</title>
<link rel="icon" href="data:,">
<style>`
  const rest = html`</style>
</head>
<body>
<header>${steps}</header>
<main>
${body}
</main>
</body>
</html>
`
  // Inserted unchanged: the Content-Security-Policy contains its hash.
  return `${markupOf(head)}${style}${markupOf(rest)}`
}
