import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createSuiClient, readGenesis } from './client.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test('follows no redirect, which would send the key of the node to another host', async () => {
  const asked: string[] = []
  const other = await serve((_, response) => {
    asked.push('other')
    response.writeHead(403).end()
  })
  const url = await serve((_, response) => {
    asked.push('node')
    response.writeHead(307, { location: other }).end()
  })
  await expect(readGenesis(createSuiClient({ url, headers: { 'api-key': 'a key' } }))).rejects.toThrow()
  expect(asked).toEqual(['node'])
})
