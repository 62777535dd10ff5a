import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { startFaultyNode } from './faulty-node.ts'

test('a real node that ends after its proxy has stopped, and before its answer, is no error', async () => {
  const asked = Promise.withResolvers<void>()
  const real = createServer(() => asked.resolve())
  await new Promise<void>((resolve) => real.listen(0, '127.0.0.1', resolve))
  const node = await startFaultyNode(`http://127.0.0.1:${(real.address() as AddressInfo).port}`)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
  const asking = fetch(node.url, { method: 'POST', body })
  await asked.promise
  await Promise.all([expect(asking).rejects.toThrow('fetch failed'), node.stop()])
  real.closeAllConnections()
  await new Promise((resolve) => real.close(resolve))
  // Vitest fails a run with an unhandled rejection.
})
