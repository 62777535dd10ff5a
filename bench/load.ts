import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

/** Requests for keep-alive connections without pipelining: a connection sends the next request once it has a response. */
export type Load = Readonly<{
  port: number
  connections: number
  /** Complete requests, rendered in advance, so that the client costs little and the same for both servers. */
  requests: readonly Buffer[]
  /** The expected status. Any other ends the benchmark, so that fast errors do not count. */
  status: number
  /** Whether the client busy-waits. Only useful where no other process, such as the database, needs its core. */
  busyWaits: boolean
}>

export type LoadResult = Readonly<{ perSecond: number; medianMs: number; responses: number }>

type Progress = { next: number; responses: number; times: number[]; isOver(): boolean }

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = /\r\ncontent-length: (\d+)/i

/**
 * Sends the load for `ms`. Responses are counted and not parsed, because Node's HTTP clients take longer per response than the
 * servers that are measured.
 */
export function runLoad(load: Load, ms: number): Promise<LoadResult> {
  const until = performance.now() + ms
  return run(load, Math.floor(Math.random() * load.requests.length), () => performance.now() >= until)
}

/** Sends each request once, in order. */
export function sendOnce(load: Load): Promise<LoadResult> {
  let left = load.requests.length
  return run(load, 0, () => --left <= 0)
}

async function run(load: Load, next: number, isOver: () => boolean): Promise<LoadResult> {
  const progress: Progress = { next, responses: 0, times: [], isOver }
  const startedAt = performance.now()
  const stopBusyWait = load.busyWaits ? startBusyWait() : () => undefined
  await Promise.all(Array.from({ length: load.connections }, () => sendOnConnection(load, progress)))
  stopBusyWait()
  const { responses, times } = progress
  return { responses, perSecond: (responses * 1000) / (performance.now() - startedAt), medianMs: median(times) }
}

/** A sleeping client is woken by the server's write, which charges the wake-up to the server, and more often to a slow one. */
function startBusyWait(): () => void {
  let isRunning = true
  const spin = () => isRunning && setImmediate(spin)
  spin()
  return () => {
    isRunning = false
  }
}

function sendOnConnection({ port, requests, status }: Load, progress: Progress): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let sentAt = 0
    const send = () => {
      sentAt = performance.now()
      const request = requests[progress.next++ % requests.length]
      if (request) socket.write(request)
    }
    const close = readResponses(socket, status, reject, () => {
      progress.responses++
      progress.times.push(performance.now() - sentAt)
      if (!progress.isOver()) return send()
      close()
      resolve()
    })
    socket.once('connect', send)
  })
}

/** Calls `onResponse` after each complete response. The returned function closes the connection. */
function readResponses(
  socket: Socket,
  status: number,
  fail: (error: Error) => void,
  onResponse: () => void,
): () => void {
  const expectedStart = `HTTP/1.1 ${status} `
  let headChunks: Buffer[] = []
  // Body bytes of the current response that have not arrived; 0 while its head is incomplete.
  let bodyBytesLeft = 0
  let isOpen = true
  socket.on('error', fail)
  socket.on('close', () => isOpen && fail(new Error('the server closed the connection')))
  socket.on('data', (chunk) => {
    if (bodyBytesLeft > 0) {
      bodyBytesLeft -= chunk.length
      if (bodyBytesLeft === 0) onResponse()
      return
    }
    headChunks.push(chunk)
    const bytes = headChunks.length === 1 ? chunk : Buffer.concat(headChunks)
    const end = bytes.indexOf(HEAD_END)
    if (end < 0) return
    headChunks = []
    const head = bytes.toString('latin1', 0, end)
    const length = Number(LENGTH.exec(head)?.[1])
    if (!head.startsWith(expectedStart) || Number.isNaN(length)) {
      fail(new Error(`expected status ${status} and a content-length, got: ${bytes.toString().slice(0, 600)}`))
      return
    }
    bodyBytesLeft = length - (bytes.length - end - HEAD_END.length)
    if (bodyBytesLeft === 0) onResponse()
  })
  return () => {
    isOpen = false
    socket.destroy()
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export function get(path: string): Buffer {
  return Buffer.from(
    `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: sandbox\r\naccept: application/json\r\n\r\n`,
  )
}

export function post(path: string, body: object): Buffer {
  const text = JSON.stringify(body)
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: sandbox\r\ncontent-type: application/json\r\n`
  return Buffer.from(`${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
}
