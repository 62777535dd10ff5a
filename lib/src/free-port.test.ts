import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort, freePorts, isPortFree } from './free-port.ts'

test('gives ports that differ and on which a server can listen', async () => {
  const ports = await freePorts(20)
  expect(new Set(ports).size).toBe(20)
  expect(await isPortFree(ports[0] ?? 0)).toBe(true)
})

test('sees that a port is in use', async () => {
  const port = await freePort()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  expect(await isPortFree(port)).toBe(false)
  await new Promise((resolve) => server.close(resolve))
  expect(await isPortFree(port)).toBe(true)
})
