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

/** All rows of a list, page by page. */
export async function readRemote(
  url: string,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<readonly Reply[]> {
  const rows: Reply[] = []
  let cursor: string | null = null
  do {
    const search: string = new URLSearchParams({ ...query, ...(cursor === null ? {} : { cursor }) }).toString()
    const reply: Reply = await callAdmin(url, 'GET', search === '' ? path : `${path}?${search}`)
    if (!Array.isArray(reply['data'])) return [reply]
    rows.push(...(reply['data'] as Reply[]))
    // A stated limit is the number of rows that are wanted.
    cursor = query['limit'] === undefined ? ((reply['next'] as string | null) ?? null) : null
  } while (cursor !== null)
  return rows
}
