import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

/** Requests that are sent again and again over connections that stay open, each the next as soon as its answer is in. */
export type Load = Readonly<{
  port: number
  connections: number
  /** Whole requests, rendered beforehand: the client costs the same on both sides, and little. */
  requests: readonly Buffer[]
  /** Any other status ends the benchmark: a fast error is no answer. */
  status: number
  /**
   * The client never sleeps. Waking it costs the server more than a bare answer does on a virtual machine, and more the
   * slower it is: two servers would not be compared by their own work. Not where a database needs the client's core.
   */
  awake: boolean
}>

export type Run = Readonly<{ answers: number; perSecond: number; medianMs: number }>

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = /\r\ncontent-length: (\d+)/i
/** Every nth answer is timed. */
const TIMED = 8

/** Drives the load for a while. Node's own clients cost more than the servers measured: answers are only counted here. */
export async function drive(load: Load, ms: number): Promise<Run> {
  const run = { next: Math.floor(Math.random() * load.requests.length), answers: 0, times: [] as number[], until: 0 }
  const startedAt = performance.now()
  run.until = startedAt + ms
  const spin = () => {
    if (performance.now() < run.until) setImmediate(spin)
  }
  if (load.awake) spin()
  await Promise.all(Array.from({ length: load.connections }, () => drivePart(load, run)))
  const seconds = (performance.now() - startedAt) / 1000
  return { answers: run.answers, perSecond: run.answers / seconds, medianMs: median(run.times) }
}

type Progress = { next: number; answers: number; times: number[]; until: number }

function drivePart({ port, requests, status }: Load, run: Progress): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let sentAt = 0
    const send = () => {
      const request = requests[run.next++ % requests.length]
      sentAt = run.answers % TIMED === 0 ? performance.now() : 0
      if (request) socket.write(request)
    }
    const finish = readAnswers(socket, status, reject, () => {
      run.answers++
      if (sentAt > 0) run.times.push(performance.now() - sentAt)
      if (performance.now() < run.until) return send()
      finish()
      resolve()
    })
    socket.once('connect', send)
  })
}

/** Calls back after each whole answer. The returned function closes the connection. */
function readAnswers(socket: Socket, status: number, fail: (error: Error) => void, onAnswer: () => void): () => void {
  let waiting = Buffer.alloc(0)
  // Bytes of the current answer that are still to come; 0 = its head is.
  let missing = 0
  let open = true
  socket.on('error', fail)
  socket.on('close', () => open && fail(new Error('the server closed the connection')))
  socket.on('data', (chunk: Buffer) => {
    if (missing > 0) {
      missing -= chunk.length
      if (missing === 0) onAnswer()
      return
    }
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
    const head = waiting.indexOf(HEAD_END)
    if (head < 0) return
    const text = waiting.latin1Slice(0, head)
    const length = Number(LENGTH.exec(text)?.[1])
    if (!text.startsWith(`HTTP/1.1 ${status}`) || Number.isNaN(length)) {
      fail(new Error(`expected ${status} with its length, got: ${waiting.toString().slice(0, 600)}`))
      return
    }
    missing = length - (waiting.length - head - HEAD_END.length)
    waiting = Buffer.alloc(0)
    if (missing === 0) onAnswer()
  })
  return () => {
    open = false
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
  return Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: sandbox\r\naccept: application/json\r\n\r\n`)
}

export function post(path: string, body: object): Buffer {
  const text = JSON.stringify(body)
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: sandbox\r\ncontent-type: application/json\r\n`
  return Buffer.from(`${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
}
