import type { FastifyInstance } from 'fastify'
import { type ErrorCode, errorCodes } from '../core/domain/errors.ts'
import { type Html, html } from '../lib/html.ts'
import { errorMeanings } from './error-meanings.ts'
import { sendPage, table } from './page.ts'

const PATH = '/docs/errors'

/** Page for partners' developers: every code with its status and meaning. Each code is an anchor. */
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
<p>Every response with a status of 400 or more is JSON: <code>{message, error, statusCode, code, requestId, errors}</code>.
Decide by <code>code</code>, which never changes, and never by <code>message</code>. <code>errors</code> lists every
problem of the request, each with a code of this table. If waiting helps, the header <code>Retry-After</code> states the
seconds. After a timeout or a closed connection the result is unknown: repeat a create with the same
<code>Idempotency-Key</code>.</p>
<section>
${table(html`<th>Code</th><th>Status</th><th>Meaning</th><th>What to do</th>`, codes, (code) =>
  row(code, statusOf(code)),
)}
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

/** Renders text between backquotes as code. */
function withNames(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))
}
