const MARK = Symbol('html')

/** Markup that is safe to send. Only `html` creates it; every other value is inserted as text. */
export type Html = Readonly<{ [MARK]: string }>
export type HtmlPart = Html | string | number | bigint | null | readonly HtmlPart[]

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A template that escapes its values, for text between tags and quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  return { [MARK]: parts.reduce((page, part, at) => page + toMarkup(values[at - 1] ?? null) + part) }
}

export function markupOf(page: Html): string {
  return page[MARK]
}

function toMarkup(value: HtmlPart): string {
  if (value === null) return ''
  if (Array.isArray(value)) return (value as readonly HtmlPart[]).map(toMarkup).join('')
  if (typeof value === 'object') return (value as Html)[MARK]
  return String(value).replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '')
}
