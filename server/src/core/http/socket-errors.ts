import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { AppError, type ErrorCode } from '../domain/errors.ts'
import { errorShape, errorText } from './errors.ts'
import type { HttpLog } from './settings.ts'

const failures: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'the request took too long to arrive'],
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'the headers are larger than 16 KiB'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['BODY_TOO_LARGE', 'the chunk extensions are too large'],
}

/** Answers requests that the HTTP parser refused, in the same shape as every other error. */
export function createSocketErrors(log: HttpLog): (error: Error & { code?: string }, socket: Socket) => void {
  // The parser reports further errors of the same connection; one answer is enough.
  const refused = new WeakSet<Socket>()
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed || refused.has(socket)) return
    refused.add(socket)
    const [code, message] = failures[error.code ?? ''] ?? ['VALIDATION_ERROR', 'the request is not valid HTTP']
    refuse(socket, new AppError(code, message), log)
  }
}

/** Answers `CONNECT`, which Node hands to no route. Without a listener Node closes the connection without an answer. */
export function createConnectRefusal(log: HttpLog): (request: IncomingMessage, socket: Duplex) => void {
  return (_request, socket) => {
    socket.on('error', () => undefined)
    refuse(socket as Socket, new AppError('METHOD_NOT_ALLOWED', 'this server is no proxy'), log, [
      'Allow: GET, HEAD, POST',
    ])
  }
}

/** Writes the complete answer and closes the connection. */
function refuse(socket: Socket, error: AppError, log: HttpLog, more: readonly string[] = []): void {
  const requestId = randomUUID()
  const shape = errorShape(error, requestId)
  const body = errorText(shape)
  log.info(
    { requestId, status: shape.statusCode, code: error.code, ip: socket.remoteAddress },
    'request refused by the parser',
  )
  // A response whose head is already sent cannot be replaced.
  if (socket.writable && !hasStartedAnswer(socket)) {
    const head = [
      `HTTP/1.1 ${shape.statusCode} ${shape.error}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Cache-Control: no-store',
      'Connection: close',
      ...more,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
  socket.destroySoon()
}

/** Node keeps the response in progress on the socket. */
function hasStartedAnswer(socket: Socket): boolean {
  const { _httpMessage } = socket as Socket & { _httpMessage?: { headersSent?: boolean } | null }
  return _httpMessage?.headersSent === true
}

/** Refuses any `Expect` except `100-continue`. Node's own answer has no body. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const requestId = randomUUID()
  const shape = errorShape(new AppError('VALIDATION_ERROR', 'the only Expect that is known is 100-continue'), requestId)
  const body = errorText(shape)
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    connection: 'close',
  }
  response.writeHead(shape.statusCode, headers).end(body)
}
