import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createDatabase } from '../../test/support/database.ts'
import { type MemoryApp, startMemoryApp } from '../../test/support/memory-app.ts'
import { PATIENCE } from '../../test/support/patience.ts'
import { createSwapyard } from '../src/client.ts'

let memory: MemoryApp
let drop: () => Promise<void>
let port: number
beforeAll(async () => {
  const created = await createDatabase(inject('databaseUrl'))
  drop = created.drop
  memory = await startMemoryApp({ databaseUrl: created.url })
  await memory.app.http.listen({ host: '127.0.0.1', port: 0 })
  port = (memory.app.http.server.address() as AddressInfo).port
})
afterAll(async () => {
  await memory.app.http.close()
  await memory.stop()
  await drop()
})

/** Passes connections to the API. It breaks the n-th one after the n-th number of bytes of its answer. */
async function startBreakingProxy(breakAfter: readonly number[]) {
  const opened: Socket[] = []
  const server = createServer((client) => {
    let left = breakAfter[opened.length] ?? Number.POSITIVE_INFINITY
    opened.push(client)
    const api = connect(port, '127.0.0.1')
    client.on('error', () => api.destroy()).on('close', () => api.destroy())
    api.on('error', () => client.destroy()).on('close', () => client.end())
    client.pipe(api)
    api.on('data', (chunk) => {
      client.write(chunk.subarray(0, left))
      left -= chunk.length
      if (left > 0) return
      api.destroy()
      client.end()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => opened.length,
    close: () => {
      for (const socket of opened) socket.destroy()
      server.close()
    },
  }
}

test('an iterator over a connection that breaks again and again misses no event and repeats none', async () => {
  // The headers of an answer are about 600 bytes and an event about 2,000, so most of them break within an event.
  const proxy = await startBreakingProxy(Array.from({ length: 24 }, (_, n) => 700 + n * 311))
  const controller = new AbortController()
  const ids: string[] = []
  let failures = 0
  const reading = (async () => {
    const swapyard = createSwapyard({ baseUrl: proxy.url, apiKey: 'sandbox' })
    const onError = () => void failures++
    for await (const event of swapyard.events({ signal: controller.signal, onError })) {
      if ('exchange' in event.data) ids.push(event.id)
    }
  })()
  reading.catch(() => undefined)
  try {
    await expect.poll(proxy.count, PATIENCE).toBe(1)
    await memory.run(6)
    const sent = () =>
      memory.app.database.query<{ id: string }>(
        'select id from partner_events where partner_id = (select partner_id from api_keys where id = $1) order by position',
        ['sandbox'],
      )
    await expect.poll(() => ids.length, PATIENCE).toBe((await sent()).length)
    expect(ids).toEqual((await sent()).map(({ id }) => id))
    expect(ids.length).toBeGreaterThanOrEqual(24)
    expect(failures).toBeGreaterThan(4)
  } finally {
    controller.abort()
    proxy.close()
  }
})
