import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export type Received = Readonly<{ method: string; url: string; headers: IncomingMessage['headers']; body: string }>
export type Respond = (response: ServerResponse, request: Received) => void

/** A local server that answers the requests in the order of the list, the last answer for ever. */
export async function startServer(...answers: readonly Respond[]): Promise<{ baseUrl: string; received: Received[] }> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString()
    const entry = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
    received.push(entry)
    answers[Math.min(received.length, answers.length) - 1]?.(response, entry)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Respond =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
      .end(JSON.stringify(body))

export const failure = (status: number, code: string, headers: Record<string, string> = {}, first = {}): Respond =>
  json(
    {
      message: `the message of ${code}`,
      error: 'A reason',
      statusCode: status,
      code,
      requestId: 'r-1',
      errors: [{ code, ...first }],
    },
    status,
    headers,
  )

export const reset: Respond = (response) => void response.socket?.resetAndDestroy()
export const silence: Respond = () => undefined
