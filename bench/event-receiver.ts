import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readSettings, serve } from './processes.ts'

/** Answers every delivery at once. */
export type EventReceiverSettings = Readonly<{ status: number }>

const { status } = readSettings<EventReceiverSettings>()
const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(status).end())
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
serve({ port: (server.address() as AddressInfo).port }, async () => {
  server.closeAllConnections()
  server.close()
})
