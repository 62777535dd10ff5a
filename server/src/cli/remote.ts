import type { ErrorBody } from '@swapyard/schema'
import { createHttp } from '../lib/http.ts'
import { fail } from './print.ts'
import { readSession } from './session-file.ts'

const TIMEOUT_MS = 60_000
const REPLY_BYTES_MAX = 64 * 1024 * 1024

export type Reply = Readonly<Record<string, unknown>>

/** Calls the admin API. Fails with its message. `isOpen`: without a session. */
export async function callAdmin(
  url: string,
  method: 'GET' | 'POST',
  path: string,
  { body, isOpen = false }: Readonly<{ body?: object; isOpen?: boolean }> = {},
): Promise<Reply> {
  if (!url.startsWith('https://') && !/^http:\/\/(127\.0\.0\.1|localhost|\[::1\])([:/]|$)/.test(url))
    fail(`${url} is not https: a session must not be readable on its way`)
  const session = isOpen ? null : readSession(url)
  if (!isOpen && session === null) fail(`there is no session at ${url}: swapyard login LOGIN --url ${url}`)
  const http = createHttp()
  try {
    const answer = await http.call({
      ...{ url: `${url}${path}`, method, timeoutMs: TIMEOUT_MS, replyBytesMax: REPLY_BYTES_MAX },
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(session === null ? {} : { authorization: `Bearer ${session.token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (answer.kind === 'unknown') return fail(`${url} does not answer (${answer.reason}): it may have acted or not`)
    return readReply(url, answer.status, answer.body)
  } finally {
    await http.close()
  }
}

function readReply(url: string, status: number, bytes: Buffer): Reply {
  let reply: unknown
  try {
    reply = JSON.parse(bytes.toString('utf8'))
  } catch {
    return fail(`${url} has no admin API: it answered ${status} without JSON`)
  }
  if (status < 400) return reply as Reply
  const { message, code } = reply as ErrorBody
  return fail(`${message} (${code})`)
}

export type PageQuery = Readonly<Record<string, string>>

/** All rows of a list, page by page. */
export const readRemote = (url: string, path: string, query: PageQuery): Promise<readonly Reply[]> =>
  readPages(query, (page) => {
    const search = new URLSearchParams(page).toString()
    return callAdmin(url, 'GET', search === '' ? path : `${path}?${search}`)
  })

/** Reads until the stated limit of rows, or the end. A page may have fewer rows, or none, before the end. */
export async function readPages(
  query: PageQuery,
  readPage: (query: PageQuery) => Promise<Reply>,
): Promise<readonly Reply[]> {
  const most = query['limit'] === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(query['limit'], 10)
  const rows: Reply[] = []
  let cursor: string | null = null
  do {
    const reply: Reply = await readPage(cursor === null ? query : { ...query, cursor })
    if (!Array.isArray(reply['data'])) return [reply]
    rows.push(...(reply['data'] as Reply[]))
    cursor = (reply['next'] as string | null) ?? null
  } while (cursor !== null && rows.length < most)
  return rows.slice(0, most)
}
