import type { FastifyInstance } from 'fastify'
import { type ErrorCode, errorCodes } from '../core/domain/errors.ts'
import { type Html, html } from '../lib/html.ts'
import { errorMeanings } from './error-meanings.ts'
import { sendPage } from './page.ts'

const PATH = '/docs/errors'

/** Every code with its status and meaning, where partners' developers look: a code is an anchor. */
export function mountErrorPage(app: FastifyInstance, statusOf: (code: ErrorCode) => number): void {
  const trail = [
    { name: 'Swapyard', href: null },
    { name: 'API reference', href: '/docs' },
    { name: 'Errors', href: null },
  ]
  app.get(PATH, (request, reply) => {
    request.operation = PATH
    return sendPage(reply, 200, { title: 'Errors', trail, body: body(statusOf) })
  })
}

function body(statusOf: (code: ErrorCode) => number): Html {
  const codes = (Object.keys(errorCodes) as ErrorCode[]).toSorted()
  return html`<h1>Errors</h1>
<p>Every answer with a status of 400 or more is JSON: <code>{message, error, statusCode, code, requestId, errors}</code>.
Decide by <code>code</code>, which never changes, and never by <code>message</code>. <code>errors</code> names every
problem of the request, each with a code of this table. Where waiting helps, the header <code>Retry-After</code> says how
many seconds. An answer that never came says nothing about what was done: repeat a create with the same
<code>Idempotency-Key</code>.</p>
<section>
<table>
<thead><tr><th>Code</th><th>Status</th><th>Meaning</th><th>What to do</th></tr></thead>
<tbody>
${codes.map((code) => row(code, statusOf(code)))}
</tbody>
</table>
</section>`
}

function row(code: ErrorCode, status: number): Html {
  const [meaning, remedy] = errorMeanings[code]
  return html`<tr id="${code}">
<th scope="row"><a href="#${code}"><code>${code}</code></a></th>
<td data-name="Status">${status}</td>
<td>${withNames(meaning)}</td>
<td data-name="What to do:">${withNames(remedy)}</td>
</tr>
`
}

/** Names between backquotes are set as code. */
function withNames(text: string): Html[] {
  return text.split('`').map((part, at) => (at % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))
}
