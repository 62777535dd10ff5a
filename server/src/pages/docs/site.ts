import { readFile } from 'node:fs/promises'
import { createStaticBody, type StaticBody } from '../../core/http/static-files.ts'
import { docDocument, type Site } from './layout.ts'
import { resolveLink } from './links.ts'
import { type DocPage, docPages, POSTMAN_PATH, REFERENCE_PATH, SDK_PATH } from './page-list.ts'
import { type MarkdownPage, renderMarkdown } from './render-markdown.ts'
import { rootDocument } from './root-page.ts'
import { createSearchIndex, type Operation } from './search-index.ts'
import { HTML_TYPE, JSON_TYPE, ROOT_PATH, repository, SEARCH_PATH, siteFiles } from './site-paths.ts'

const postmanFile = new URL('docs/partners/postman.generated.json', repository)
/** The address of the sandbox in the samples. */
const SAMPLE_URL = 'http://127.0.0.1:8080'

/** Renders every page and reads every file of the site. */
export async function renderSite(
  site: Site,
  operations: readonly Operation[],
): Promise<ReadonlyMap<string, StaticBody>> {
  const pages = new Map<string, MarkdownPage>()
  for (const page of docPages) pages.set(page.path, await renderPage(site, page))
  const contents: (readonly [path: string, content: string | Buffer, contentType: string])[] = [
    ...[...pages].map(([path, page]) => [path, docDocument(site, path, page), HTML_TYPE] as const),
    ...(site.isSandbox ? [] : [[ROOT_PATH, rootDocument(site), HTML_TYPE] as const]),
    [SEARCH_PATH, createSearchIndex(pages, operations, REFERENCE_PATH), JSON_TYPE],
  ]
  for (const [path, [file, type]] of Object.entries(siteFiles)) contents.push([path, await readFile(file), type])
  contents.push([POSTMAN_PATH, postmanCollection(site, await readFile(postmanFile, 'utf8')), JSON_TYPE])
  const bodies = contents.map(
    async ([path, content, type]) => [path, await createStaticBody(Buffer.from(content), type)] as const,
  )
  return new Map(await Promise.all(bodies))
}

/** The collection with the address of this server. Only the sandbox publishes its API key. */
function postmanCollection({ publicUrl, isSandbox }: Site, text: string): string {
  const collection = JSON.parse(text.replaceAll(SAMPLE_URL, publicUrl)) as {
    variable: { key: string; value: string }[]
  }
  for (const variable of collection.variable) if (variable.key === 'apiKey') variable.value = isSandbox ? 'sandbox' : ''
  return JSON.stringify(collection)
}

async function renderPage({ publicUrl, isSandbox }: Site, { file, title }: DocPage): Promise<MarkdownPage> {
  const text = await readFile(new URL(file, repository), 'utf8')
  // Every server has the client library.
  const markdown = text.replaceAll(`${SAMPLE_URL}${SDK_PATH}`, `${publicUrl}${SDK_PATH}`)
  // The samples on the pages of a sandbox call this sandbox.
  const own = isSandbox ? markdown.replaceAll(SAMPLE_URL, publicUrl) : markdown
  return renderMarkdown(own, { title, resolve: (href) => resolveLink(file, href) })
}
