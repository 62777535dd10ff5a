/* gRPC-Web over HTTP/1.1, text (base64) and binary, unary and server-streaming calls. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { GrpcStatusCode } from '@mysten/sui/grpc'
import { type GrpcCode, GrpcError, invalidArgument } from './grpc-error.ts'

type Codec<T> = Readonly<{ fromBinary(bytes: Uint8Array): T; toBinary(message: T): Uint8Array }>
type Send = (reply: Uint8Array) => void

/** One call: sends its replies; the returned function ends a subscription. Throws a GrpcError to refuse. */
export type Method = Readonly<{
  path: string
  handle(request: Uint8Array, send: Send): Promise<(() => void) | null>
}>

const requestBytesMax = 4 * 1024 * 1024
const headerBytes = 5
const dataFrame = 0
const trailerFrame = 0x80

function decode<T>(codec: Codec<T>, bytes: Uint8Array): T {
  try {
    return codec.fromBinary(bytes)
  } catch (error) {
    throw invalidArgument(`invalid message: ${(error as Error).message}`)
  }
}

export const unary = <I, O>(
  path: string,
  input: Codec<I>,
  output: Codec<O>,
  answer: (request: I) => O | Promise<O>,
): Method => ({
  path,
  async handle(bytes, send) {
    send(output.toBinary(await answer(decode(input, bytes))))
    return null
  },
})

/** `open` returns the function that ends the subscription. */
export const streaming = <I, O>(
  path: string,
  input: Codec<I>,
  output: Codec<O>,
  open: (request: I, send: (reply: O) => void) => () => void,
): Method => ({
  path,
  async handle(bytes, send) {
    return open(decode(input, bytes), (reply) => send(output.toBinary(reply)))
  },
})

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += (chunk as Buffer).length
    if (length > requestBytesMax)
      throw new GrpcError('RESOURCE_EXHAUSTED', `request has more than ${requestBytesMax} bytes`)
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

function unframe(body: Buffer): Uint8Array {
  if (body.length < headerBytes || body[0] !== dataFrame) throw invalidArgument('request is not a gRPC-Web frame')
  const length = body.readUInt32BE(1)
  if (body.length !== headerBytes + length)
    throw invalidArgument(`frame of ${length} bytes in a body of ${body.length} bytes`)
  return body.subarray(headerBytes)
}

function frame(kind: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt8(kind, 0)
  header.writeUInt32BE(payload.length, 1)
  return Buffer.concat([header, payload])
}

const trailerOf = (code: GrpcCode, message: string): Buffer =>
  Buffer.from(`grpc-status:${GrpcStatusCode[code]}\r\ngrpc-message:${encodeURIComponent(message)}\r\n`)

function toGrpcError(error: unknown): GrpcError {
  return error instanceof GrpcError ? error : new GrpcError('INTERNAL', (error as Error).message)
}

async function serve(methods: ReadonlyMap<string, Method>, request: IncomingMessage, response: ServerResponse) {
  const contentType = request.headers['content-type'] ?? ''
  if (request.method !== 'POST' || !contentType.startsWith('application/grpc-web')) {
    response.writeHead(415).end('This server speaks gRPC-Web only.\n')
    return
  }
  const isText = contentType.startsWith('application/grpc-web-text')
  response.writeHead(200, { 'content-type': isText ? 'application/grpc-web-text+proto' : 'application/grpc-web+proto' })
  response.flushHeaders()
  const write = (kind: number, payload: Uint8Array) => {
    const bytes = frame(kind, payload)
    response.write(isText ? bytes.toString('base64') : bytes)
  }
  try {
    const method = methods.get(request.url ?? '')
    if (method === undefined) throw new GrpcError('UNIMPLEMENTED', `this simulator does not serve ${request.url}`)
    const body = await readBody(request)
    const bytes = unframe(isText ? Buffer.from(body.toString('latin1'), 'base64') : body)
    const end = await method.handle(bytes, (reply) => write(dataFrame, reply))
    if (end !== null) {
      if (response.destroyed) end()
      else response.once('close', end)
      return
    }
    write(trailerFrame, trailerOf('OK', ''))
  } catch (error) {
    const { code, message } = toGrpcError(error)
    write(trailerFrame, trailerOf(code, message))
  }
  response.end()
}

export function createGrpcWebServer(methods: readonly Method[]): Server {
  const byPath = new Map(methods.map((method) => [method.path, method]))
  return createServer((request, response) => void serve(byPath, request, response))
}
