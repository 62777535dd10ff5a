import { lexer, type Token, type Tokens } from 'marked'
import { type Html, html } from '../../lib/html.ts'
import { createOutline, type Outline, type Section } from './outline.ts'
import { isComment, plainText, type ResolveLink, renderInline } from './render-inline.ts'
import { renderTable } from './render-table.ts'
import { codeBlock, isSampleGroup, SAMPLE_LANGUAGES, type Sample, sampleGroup } from './samples.ts'

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
  resolve: ResolveLink
}>

type Context = MarkdownOptions & Readonly<{ outline: Outline }>

/** References to tests are for maintainers. */
const TEST_LINKS = /\s*\((?:\[[^\]]+\]\([^)]+\.test\.ts\)(?:, )?)+\)/g

/** Renders Markdown with our own templates, which escape every text. */
export function renderMarkdown(markdown: string, options: MarkdownOptions): MarkdownPage {
  const tokens = lexer(markdown.replaceAll(TEST_LINKS, ''))
  const outline = createOutline()
  const body = renderBlocks(tokens, { ...options, outline })
  const sections = outline.sections()
  const firstParagraph = tokens.find(({ type }) => type === 'paragraph') as Tokens.Paragraph | undefined
  return { title: sections[0]?.title ?? '', summary: plainText(firstParagraph?.tokens), body, sections }
}

function renderBlocks(tokens: readonly Token[], context: Context): Html {
  const parts: Html[] = []
  const rest = tokens.filter((token) => token.type !== 'space' && !(token.type === 'html' && isComment(token)))
  while (rest.length > 0) {
    const samples = rest.slice(0, SAMPLE_LANGUAGES.length).filter(isCode).map(toSample)
    if (isSampleGroup(samples)) {
      parts.push(sampleGroup(samples))
      rest.splice(0, samples.length)
    } else {
      parts.push(renderBlock(rest.shift() as Token, context))
    }
  }
  return html`${parts}`
}

function renderBlock(token: Token, context: Context): Html {
  const { outline, resolve } = context
  switch (token.type) {
    case 'heading':
      return renderHeading(token as Tokens.Heading, context)
    case 'paragraph':
      outline.addText(plainText(token.tokens))
      return html`<p>${renderInline(token.tokens, resolve)}</p>\n`
    case 'text':
      outline.addText(plainText([token]))
      return renderInline([token], resolve)
    case 'list':
      return renderList(token as Tokens.List, context)
    case 'table':
      return renderTable(token as Tokens.Table, outline, resolve)
    case 'code':
      return codeBlock(toSample(token as Tokens.Code))
    case 'blockquote':
      return html`<blockquote>${renderBlocks(token.tokens ?? [], context)}</blockquote>\n`
    case 'hr':
      return html`<hr>\n`
    default:
      return html`<p>${token.raw.trim()}</p>\n`
  }
}

function renderHeading({ depth, tokens }: Tokens.Heading, { title, outline, resolve }: Context): Html {
  const text = depth === 1 && title !== undefined ? title : plainText(tokens)
  const id = outline.addHeading(text, depth)
  if (depth === 1) return html`<h1 id="${id}">${text}</h1>\n`
  const link = html`<a href="#${id}">${renderInline(tokens, resolve)}</a>`
  return depth === 2 ? html`<h2 id="${id}">${link}</h2>\n` : html`<h3 id="${id}">${link}</h3>\n`
}

function renderList({ ordered, start, items }: Tokens.List, context: Context): Html {
  const content = items.map((item) => html`<li>${renderBlocks(item.tokens, context)}</li>\n`)
  return ordered ? html`<ol start="${start}">\n${content}</ol>\n` : html`<ul>\n${content}</ul>\n`
}

const isCode = (token: Token): token is Tokens.Code => token.type === 'code'
const toSample = ({ lang = '', text }: Tokens.Code): Sample => ({ language: lang, code: text })
