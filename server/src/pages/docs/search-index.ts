import MiniSearch from 'minisearch'
import type { MarkdownPage } from './render-markdown.ts'

/** An operation of the reference. */
export type Operation = Readonly<{
  id: string
  tag: string
  method: string
  path: string
  summary: string
  description: string
}>

/** `docs.js` loads the index with the same fields. */
const fields = ['title', 'page', 'text']
const storeFields = ['title', 'page', 'excerpt']
const EXCERPT_LENGTH = 160

/** The index of every section, row and operation, as JSON. */
export function createSearchIndex(
  pages: ReadonlyMap<string, MarkdownPage>,
  operations: readonly Operation[],
  referencePath: string,
): string {
  const index = new MiniSearch({ idField: 'url', fields, storeFields })
  for (const [path, { title: page, sections }] of pages) {
    index.addAll(
      sections.map(({ id, title, depth, text }) => ({
        url: depth === 1 ? path : `${path}#${id}`,
        title,
        page: depth === 1 ? '' : page,
        text,
        excerpt: excerptOf(text),
      })),
    )
  }
  index.addAll(
    operations.map(({ id, tag, method, path, summary, description }) => ({
      url: `${referencePath}#/${encodeURIComponent(tag)}/${id}`,
      title: summary,
      page: `${method} ${path}`,
      text: `${id} ${description}`,
      excerpt: excerptOf(description.replaceAll('`', '')),
    })),
  )
  return JSON.stringify(index)
}

const excerptOf = (text: string): string =>
  text.length <= EXCERPT_LENGTH ? text : `${text.slice(0, EXCERPT_LENGTH).replace(/\s\S*$/, '')} …`
