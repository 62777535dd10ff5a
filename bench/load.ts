import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'

/** A complete request, rendered in advance, so that the client costs little and the same for both servers. */
export type Request = Readonly<{
  bytes: Buffer
  /** The expected status. Any other ends the benchmark, so that fast errors do not count. */
  status: number
  /** Whether the latency of its response is recorded. */
  isTimed: boolean
}>

/** Requests for keep-alive connections without pipelining: a connection sends the next request once it has a response. */
export type Load = Readonly<{
  /** Connections are distributed evenly over the ports. */
  ports: readonly number[]
  connections: number
  /** The next request; null: no more. */
  next(): Request | null
}>

/** `latencies`: milliseconds of the timed requests, in ascending order. */
export type LoadResult = Readonly<{ perSecond: number; responses: number; latencies: readonly number[] }>

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = /\r\ncontent-length: (\d+)/i
/** Time after the last request of a load in which every response must have arrived. */
const LAST_RESPONSES_MS = 30_000

/** Sends requests on all connections for `ms`, or until there are no more. */
export async function runLoad(load: Load, ms = Number.POSITIVE_INFINITY): Promise<LoadResult> {
  const progress = { responses: 0, latencies: [] as number[] }
  const startedAt = performance.now()
  const endsAt = startedAt + ms
  await Promise.all(
    Array.from({ length: load.connections }, async (_, n) => {
      const connection = await openConnection(portOf(load, n))
      try {
        for (let request = load.next(); request !== null; request = load.next()) {
          const sentAt = performance.now()
          await connection.send(request)
          const receivedAt = performance.now()
          progress.responses++
          if (request.isTimed) progress.latencies.push(receivedAt - sentAt)
          if (receivedAt >= endsAt) break
        }
      } finally {
        connection.close()
      }
    }),
  )
  return toResult(progress, performance.now() - startedAt)
}

/**
 * Sends requests at a fixed rate for `ms`. A latency begins at the time at which its request is due, so that waiting for a free
 * connection counts.
 */
export async function runAtRate(load: Load, perSecond: number, ms: number): Promise<LoadResult> {
  const connections = await Promise.all(
    Array.from({ length: load.connections }, (_, n) => openConnection(portOf(load, n))),
  )
  const idle = [...connections]
  const due: number[] = []
  const progress = { responses: 0, latencies: [] as number[] }
  const startedAt = performance.now()
  let scheduled = 0
  await new Promise<void>((resolve, reject) => {
    const finish = (error?: Error) => {
      clearInterval(timer)
      clearTimeout(limit)
      if (error) reject(error)
      else resolve()
    }
    const dispatch = () => {
      while (due.length > 0 && idle.length > 0) {
        const dueAt = due.shift() ?? 0
        const connection = idle.pop()
        const request = load.next()
        if (!connection || !request) return finish(new Error('the load has too few requests'))
        connection.send(request).then(() => {
          progress.responses++
          if (request.isTimed) progress.latencies.push(performance.now() - dueAt)
          idle.push(connection)
          dispatch()
        }, finish)
      }
      const isOver = performance.now() - startedAt >= ms && due.length === 0
      if (isOver && idle.length === connections.length) finish()
    }
    const timer = setInterval(() => {
      const now = Math.min(performance.now() - startedAt, ms)
      for (; scheduled < (now * perSecond) / 1000; scheduled++) due.push(startedAt + (scheduled * 1000) / perSecond)
      dispatch()
    }, 1)
    const limit = setTimeout(() => finish(new Error('responses are missing')), ms + LAST_RESPONSES_MS)
  }).finally(() => {
    for (const connection of connections) connection.close()
  })
  return toResult(progress, performance.now() - startedAt)
}

const portOf = ({ ports }: Load, index: number): number => ports[index % ports.length] ?? 0

function toResult({ responses, latencies }: { responses: number; latencies: number[] }, ms: number): LoadResult {
  return { responses, perSecond: (responses * 1000) / ms, latencies: latencies.sort((a, b) => a - b) }
}

type Connection = Readonly<{ send(request: Request): Promise<void>; close(): void }>
type Waiting = Readonly<{ status: number; resolve(): void; reject(error: Error): void }>

/**
 * A raw connection. Responses are delimited and not parsed, because Node's HTTP clients take longer per response than the servers that
 * are measured.
 */
async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let waiting: Waiting | null = null
  let headChunks: Buffer[] = []
  // Body bytes of the current response that have not arrived; 0 while its head is incomplete.
  let bodyBytesLeft = 0
  const fail = (error: Error) => waiting?.reject(error)
  const finishResponse = () => {
    const answered = waiting
    waiting = null
    answered?.resolve()
  }
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server closed the connection')))
  socket.on('data', (chunk) => {
    if (bodyBytesLeft > 0) {
      bodyBytesLeft -= chunk.length
      if (bodyBytesLeft === 0) finishResponse()
      return
    }
    headChunks.push(chunk)
    const bytes = headChunks.length === 1 ? chunk : Buffer.concat(headChunks)
    const end = bytes.indexOf(HEAD_END)
    if (end < 0) return
    headChunks = []
    const head = bytes.toString('latin1', 0, end)
    const length = Number(LENGTH.exec(head)?.[1])
    if (!head.startsWith(`HTTP/1.1 ${waiting?.status} `) || Number.isNaN(length)) {
      const start = bytes.toString().slice(0, 600)
      fail(new Error(`expected status ${waiting?.status} and a content-length, received: ${start}`))
      return
    }
    bodyBytesLeft = length - (bytes.length - end - HEAD_END.length)
    if (bodyBytesLeft === 0) finishResponse()
  })
  return {
    send: ({ bytes, status }) =>
      new Promise((resolve, reject) => {
        waiting = { status, resolve, reject }
        socket.write(bytes)
      }),
    close: () => {
      socket.destroy()
    },
  }
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The value that `share` of the values do not exceed. The values are in ascending order. */
export const quantile = (ascending: readonly number[], share: number): number =>
  ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? Number.NaN
