import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Serves pages and scripts, and passes all other requests to the API: the API sends no CORS headers for secret
 * keys, so a page that has one calls it through its own origin.
 */
export async function serveSameOrigin(
  files: Readonly<Record<string, { type: string; text: string }>>,
  apiUrl: string,
): Promise<{ url: string; close(): Promise<unknown> }> {
  const server = createServer((incoming, response) => {
    const file = files[incoming.url ?? '']
    if (file !== undefined) return void response.writeHead(200, { 'content-type': file.type }).end(file.text)
    const { method, headers } = incoming
    const outgoing = request(new URL(incoming.url ?? '', apiUrl), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    outgoing.on('error', () => response.destroy())
    incoming.pipe(outgoing)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => void server.close(resolve))
    },
  }
}
