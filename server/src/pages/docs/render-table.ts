import type { Tokens } from 'marked'
import { type Html, html } from '../../lib/html.ts'
import type { Outline } from './outline.ts'
import { plainText, type ResolveLink, renderInline } from './render-inline.ts'

/** First header cells of tables whose rows have an address of their own. */
const ADDRESSED = ['code', 'status', 'reason']
/** A column for maintainers. */
const TEST_COLUMN = 'test'

export function renderTable({ header, rows }: Tokens.Table, outline: Outline, resolve: ResolveLink): Html {
  const columns = header.flatMap((cell, at) => (cell.text === TEST_COLUMN ? [] : [{ ...cell, at }]))
  const isAddressed = ADDRESSED.includes(columns[0]?.text ?? '')
  const body = rows.map((row) => {
    const [first, ...others] = columns.map(({ at, text }) => ({ column: text, tokens: row[at]?.tokens }))
    const name = plainText(first?.tokens)
    const text = others.map(({ tokens }) => plainText(tokens)).join('. ')
    const cells = others.map(
      ({ column, tokens }) => html`<td data-name="${column}">${renderInline(tokens, resolve)}</td>`,
    )
    if (isAddressed) {
      const id = outline.addRow(name, text)
      return html`<tr id="${id}"><th scope="row"><a href="#${id}"><code>${name}</code></a></th>${cells}</tr>\n`
    }
    outline.addText(`${name}. ${text}`)
    return html`<tr><th scope="row">${renderInline(first?.tokens, resolve)}</th>${cells}</tr>\n`
  })
  const head = columns.map(({ text, tokens }) =>
    text === '' ? html`<td></td>` : html`<th scope="col">${renderInline(tokens, resolve)}</th>`,
  )
  return html`<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body}</tbody>\n</table>\n`
}
