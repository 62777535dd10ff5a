import { docPages, POSTMAN_PATH } from './page-list.ts'

const JAVASCRIPT = 'text/javascript; charset=utf-8'
export const HTML_TYPE = 'text/html; charset=utf-8'
export const JSON_TYPE = 'application/json; charset=utf-8'
export const ROOT_PATH = '/'
export const SEARCH_PATH = '/docs/search.json'

export const repository = new URL('../../../../', import.meta.url)

/** Files that are served as they are. */
export const siteFiles: Readonly<Record<string, readonly [file: URL, contentType: string]>> = {
  '/docs/assets/docs.css': [new URL('assets/docs.css', import.meta.url), 'text/css; charset=utf-8'],
  '/docs/assets/docs.js': [new URL('assets/docs.js', import.meta.url), JAVASCRIPT],
  '/docs/assets/icon.svg': [new URL('assets/icon.svg', import.meta.url), 'image/svg+xml'],
  '/docs/assets/minisearch.js': [new URL(import.meta.resolve('minisearch')), JAVASCRIPT],
}

/** Every path of the documentation. */
export const sitePaths: readonly string[] = [
  ...docPages.map(({ path }) => path),
  ...Object.keys(siteFiles),
  SEARCH_PATH,
  POSTMAN_PATH,
]
