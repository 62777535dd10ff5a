import { lexer, type Token, type Tokens } from 'marked'
import { type Html, html } from '../../lib/html.ts'
import { isComment, plainText, renderInline } from './render-inline.ts'
import { codeBlock, isSampleGroup, SAMPLE_LANGUAGES, type Sample, sampleGroup } from './samples.ts'

/** A part of a page with an address of its own. */
export type Section = Readonly<{
  id: string
  title: string
  /** 1 is the page itself, 2 and 3 are headings, 0 is a row of a table. */
  depth: number
  text: string
}>

export type MarkdownPage = Readonly<{
  title: string
  /** The first paragraph, as text. */
  summary: string
  body: Html
  sections: readonly Section[]
}>

export type MarkdownOptions = Readonly<{
  /** Replaces the first heading. */
  title?: string | undefined
  /** Null for links that the site cannot follow: they become text. */
  resolve(href: string): string | null
}>

/** First header cells of tables whose rows have an address of their own. */
const ADDRESSED = ['code', 'status', 'reason']
/** References to tests and the columns that hold them are for maintainers. */
const TEST_LINKS = /\s*\((?:\[[^\]]+\]\([^)]+\.test\.ts\)(?:, )?)+\)/g
const TEST_COLUMN = 'test'

/** Renders Markdown with our own templates, which escape every text. */
export function renderMarkdown(markdown: string, options: MarkdownOptions): MarkdownPage {
  const renderer = createRenderer(options)
  const body = renderer.blocks(lexer(markdown.replaceAll(TEST_LINKS, '')))
  const [page, ...others] = renderer.sections()
  if (page === undefined) throw new Error('a page needs a heading of the first level')
  return { title: page.title, summary: renderer.summary(), body, sections: [page, ...others] }
}

function createRenderer({ title, resolve }: MarkdownOptions) {
  const sections: { id: string; title: string; depth: number; texts: string[] }[] = []
  const ids = new Set<string>()
  let summary = ''
  const inline = (tokens: readonly Token[] | undefined): Html => renderInline(tokens, resolve)
  const note = (text: string): void => void sections.findLast(({ depth }) => depth > 0)?.texts.push(text)

  function uniqueId(name: string): string {
    let id = name
    for (let count = 2; ids.has(id); count += 1) id = `${name}-${count}`
    ids.add(id)
    return id
  }

  function heading({ depth, tokens }: Tokens.Heading): Html {
    const text = depth === 1 && title !== undefined ? title : plainText(tokens)
    const id = uniqueId(toSlug(text))
    sections.push({ id, title: text, depth, texts: [] })
    if (depth === 1) return html`<h1 id="${id}">${text}</h1>\n`
    const link = html`<a href="#${id}">${inline(tokens)}</a>`
    return depth === 2 ? html`<h2 id="${id}">${link}</h2>\n` : html`<h3 id="${id}">${link}</h3>\n`
  }

  function paragraph({ tokens }: Tokens.Paragraph): Html {
    const text = plainText(tokens)
    note(text)
    summary ||= text
    return html`<p>${inline(tokens)}</p>\n`
  }

  function list({ ordered, start, items }: Tokens.List): Html {
    const content = items.map((item) => html`<li>${blocks(item.tokens)}</li>\n`)
    return ordered ? html`<ol start="${start}">\n${content}</ol>\n` : html`<ul>\n${content}</ul>\n`
  }

  function table({ header, rows }: Tokens.Table): Html {
    const isAddressed = ADDRESSED.includes(header[0]?.text ?? '')
    const shown = header.flatMap(({ text }, at) => (text === TEST_COLUMN ? [] : [at]))
    const head = shown.map((at) => html`<th scope="col">${inline(header[at]?.tokens)}</th>`)
    const body = rows.map((row) => {
      const [first, ...others] = shown.map((at) => ({ name: header[at]?.text ?? '', cell: row[at] }))
      const name = plainText(first?.cell?.tokens)
      const cells = others.map((one) => html`<td data-name="${one.name}">${inline(one.cell?.tokens)}</td>`)
      const texts = others.map((one) => plainText(one.cell?.tokens))
      if (!isAddressed) {
        note([name, ...texts].join(' '))
        return html`<tr><th scope="row">${inline(first?.cell?.tokens)}</th>${cells}</tr>\n`
      }
      const id = uniqueId(name)
      sections.push({ id, title: name, depth: 0, texts })
      return html`<tr id="${id}"><th scope="row"><a href="#${id}"><code>${name}</code></a></th>${cells}</tr>\n`
    })
    return html`<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body}</tbody>\n</table>\n`
  }

  function blocks(tokens: readonly Token[]): Html {
    const parts: Html[] = []
    const rest = tokens.filter((token) => token.type !== 'space' && !(token.type === 'html' && isComment(token)))
    while (rest.length > 0) {
      const samples = rest.slice(0, SAMPLE_LANGUAGES.length).filter(isCode).map(toSample)
      if (isSampleGroup(samples)) {
        parts.push(sampleGroup(samples))
        rest.splice(0, samples.length)
      } else {
        parts.push(block(rest.shift() as Token))
      }
    }
    return html`${parts}`
  }

  function block(token: Token): Html {
    switch (token.type) {
      case 'heading':
        return heading(token as Tokens.Heading)
      case 'paragraph':
        return paragraph(token as Tokens.Paragraph)
      case 'list':
        return list(token as Tokens.List)
      case 'table':
        return table(token as Tokens.Table)
      case 'code':
        return codeBlock(toSample(token as Tokens.Code))
      case 'blockquote':
        return html`<blockquote>${blocks((token as Tokens.Blockquote).tokens)}</blockquote>\n`
      case 'hr':
        return html`<hr>\n`
      case 'text':
        note(plainText([token]))
        return inline([token])
      default:
        return html`<p>${token.raw}</p>\n`
    }
  }

  return {
    blocks,
    summary: () => summary,
    sections: (): Section[] => sections.map(({ texts, ...section }) => ({ ...section, text: texts.join(' ') })),
  }
}

const isCode = (token: Token): token is Tokens.Code => token.type === 'code'
const toSample = ({ lang = '', text }: Tokens.Code): Sample => ({ language: lang, code: text })

/** As GitHub makes the addresses of headings, so that a link works in both. */
const toSlug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-')
