import type { Token, Tokens } from 'marked'
import { type Html, html } from '../../lib/html.ts'

/** The address of a link; null where the site cannot follow it: then it becomes text. */
export type ResolveLink = (href: string) => string | null

/** Inline tokens as HTML. Raw HTML is shown as text, except comments, which are dropped. */
export function renderInline(tokens: readonly Token[] | undefined, resolve: ResolveLink): Html {
  const inner = (token: Token) => renderInline((token as Tokens.Strong).tokens, resolve)
  return html`${(tokens ?? []).map((token) => {
    switch (token.type) {
      case 'strong':
        return html`<strong>${inner(token)}</strong>`
      case 'em':
        return html`<em>${inner(token)}</em>`
      case 'codespan':
        return html`<code>${token['text']}</code>`
      case 'br':
        return html`<br>`
      case 'link': {
        const href = resolve(token['href'])
        return href === null ? inner(token) : html`<a href="${href}">${inner(token)}</a>`
      }
      case 'html':
        return isComment(token) ? null : html`${token.raw}`
      default:
        return token.type === 'text' && 'tokens' in token ? inner(token) : html`${textOf(token)}`
    }
  })}`
}

export const isComment = (token: Token): boolean => token.raw.trim().startsWith('<!--')

/** The text of tokens without markup. */
export function plainText(tokens: readonly Token[] | undefined): string {
  return (tokens ?? [])
    .map((token) => {
      if (token.type === 'br') return ' '
      if (token.type === 'html') return isComment(token) ? '' : token.raw
      return 'tokens' in token && token.tokens !== undefined ? plainText(token.tokens) : textOf(token)
    })
    .join('')
}

const textOf = (token: Token): string => String('text' in token ? token.text : token.raw)
