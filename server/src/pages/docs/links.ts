import { posix } from 'node:path'
import { docPages } from './page-list.ts'

const pathOfFile: ReadonlyMap<string, string> = new Map(docPages.map(({ file, path }) => [file, path]))

/**
 * The address of a link in a Markdown file: another page of the site, a path of this server, or another host. Null for a file
 * of the repository that is no page.
 */
export function resolveLink(file: string, href: string): string | null {
  if (href.startsWith('#') || href.startsWith('/') || href.startsWith('https://')) return href
  const [target = '', fragment] = href.split('#', 2)
  const path = pathOfFile.get(posix.join(posix.dirname(file), target))
  if (path === undefined) return null
  return fragment === undefined ? path : `${path}#${fragment}`
}
