import { invalidArgument } from './grpc-error.ts'

const pageSizeDefault = 50
const pageSizeMax = 1000

/** One page of a sorted list. The token is the key of the page's last entry. */
export function pageOf<T>(
  entries: readonly T[],
  keyOf: (entry: T) => string,
  { pageSize = pageSizeDefault, pageToken }: Readonly<{ pageSize?: number; pageToken?: Uint8Array }>,
): Readonly<{ page: readonly T[]; nextPageToken?: Uint8Array }> {
  let start = 0
  if (pageToken !== undefined) {
    const last = new TextDecoder().decode(pageToken)
    start = entries.findIndex((entry) => keyOf(entry) === last) + 1
    if (start === 0) throw invalidArgument('invalid page_token')
  }
  // As on a real node, 0 stands for the default.
  const size = Math.min(pageSize === 0 ? pageSizeDefault : pageSize, pageSizeMax)
  const page = entries.slice(start, start + size)
  const last = page.at(-1)
  if (last === undefined || start + size >= entries.length) return { page }
  return { page, nextPageToken: new TextEncoder().encode(keyOf(last)) }
}
