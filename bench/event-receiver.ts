import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from './processes.ts'

/** Accepts every delivery at once. */
const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(204).end())
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
serve({ port: (server.address() as AddressInfo).port }, async () => {
  server.closeAllConnections()
  server.close()
})
