import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** A whole request without a body. `headers`: names in lower case, each of them sent once. */
export type PlainRequest = Readonly<{
  url: string
  httpVersion: '1.1'
  headers: Readonly<Record<string, string | undefined>>
  socket: Socket
}>

/** The bytes of an answer, head and body, as text of one character a byte; null = Node is to answer. */
type Answer = (request: PlainRequest) => string | null

export type PlainDoor = Readonly<{
  /** Ends the connections that are not Node's. None of them has a request under way. */
  close(): void
}>

/** Longer heads are Node's to judge. */
const HEAD_LENGTH_MAX = 4_096
const LINE_END = '\r\n'
const HEAD_END = '\r\n\r\n'
const VERSION = ' HTTP/1.1'
/** RFC 9112 §5.1, and nothing that could be read in two ways: no folded line, no space but inside a value. */
const HEADER = /^([A-Za-z0-9-]+): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/
/** They say where a request ends, or what becomes of the connection. */
const framing: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** A connection on which nothing was asked yet becomes Node's, which knows how long that may last. */
const SILENCE_MS = 1_000

/**
 * Answers `GET`s below `prefix` before Node's HTTP, which costs more than what is answered here (docs/decisions/0061). A
 * connection begins here, and stays while each thing that arrives on it is one whole plain request that `answer` knows. With
 * the first that is anything else (another request, a piece of one, two at once, a byte that could mean two things, a
 * client that does not read) it is Node's, with all of its limits, from that byte on and for good.
 */
export function answerPlainRequests(server: Server, prefix: string, answer: Answer): PlainDoor {
  const start = `GET ${prefix}`
  const nodes = server.listeners('connection') as ((socket: Socket) => void)[]
  const held = new Set<Socket>()
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const readHeaders = createHeaderReader()
    let answered = 0

    const handOver = (bytes: Buffer | null) => {
      held.delete(socket)
      for (const [event, listener] of listeners) socket.off(event, listener)
      socket.setTimeout(0)
      for (const listener of nodes) listener.call(server, socket)
      if (bytes !== null) socket.unshift(bytes)
    }
    const onBytes = (bytes: Buffer) => {
      const request = socket.writableLength > 0 ? null : readPlain(bytes, start, readHeaders, socket)
      const text = request === null ? null : answer(request)
      if (text === null) return handOver(bytes)
      if (answered++ === 0) socket.setTimeout(server.keepAliveTimeout)
      socket.write(text, 'latin1')
    }
    const listeners: readonly (readonly [string, (bytes: Buffer) => void])[] = [
      ['data', onBytes],
      ['end', () => socket.end()],
      ['error', () => socket.destroy()],
      ['close', () => held.delete(socket)],
      ['timeout', () => (answered === 0 ? handOver(null) : socket.destroySoon())],
    ]
    held.add(socket)
    socket.setTimeout(SILENCE_MS)
    for (const [event, listener] of listeners) socket.on(event, listener)
  })
  return {
    close: () => {
      for (const socket of held) socket.destroySoon()
    },
  }
}

type ReadHeaders = (lines: string) => PlainRequest['headers'] | null

function readPlain(bytes: Buffer, start: string, readHeaders: ReadHeaders, socket: Socket): PlainRequest | null {
  if (bytes.length > HEAD_LENGTH_MAX) return null
  const text = bytes.toString('latin1')
  if (!text.startsWith(start) || text.indexOf(HEAD_END) !== text.length - HEAD_END.length) return null
  const lineEnd = text.indexOf(LINE_END)
  const urlEnd = lineEnd - VERSION.length
  if (!text.startsWith(VERSION, urlEnd)) return null
  const headers = readHeaders(text.slice(lineEnd + LINE_END.length, -HEAD_END.length))
  return headers === null ? null : { url: text.slice('GET '.length, urlEnd), httpVersion: '1.1', headers, socket }
}

/** Of one connection: a client repeats its headers, which are read once. */
function createHeaderReader(): ReadHeaders {
  let known: string | null = null
  let headers: PlainRequest['headers'] | null = null
  return (lines) => {
    if (lines !== known) {
      headers = toHeaders(lines)
      known = lines
    }
    return headers
  }
}

function toHeaders(lines: string): PlainRequest['headers'] | null {
  const headers: Record<string, string> = Object.create(null)
  for (const line of lines.split(LINE_END)) {
    const [, sentName, value] = HEADER.exec(line) ?? []
    const name = sentName?.toLowerCase()
    if (name === undefined || value === undefined || headers[name] !== undefined) return null
    if (framing.has(name) && !(name === 'connection' && value.toLowerCase() === 'keep-alive')) return null
    headers[name] = value
  }
  return headers
}
