import { createServer } from 'node:net'
import { join } from 'node:path'
import { readJson, writeJson } from './files.ts'

/**
 * Returns the port of the previous start if it is still free, so that clients can reconnect to the same URL after a
 * restart.
 */
export type Ports = (name: string) => Promise<number>

export function createPorts(folder: string): Ports {
  const file = join(folder, 'chains', 'ports.json')
  const savedPorts = new Map(Object.entries((readJson(file) ?? {}) as Record<string, number>))
  const usedPorts = new Set<number>()
  return async (name) => {
    const savedPort = savedPorts.get(name)
    let port = savedPort !== undefined && !usedPorts.has(savedPort) && (await isFree(savedPort)) ? savedPort : 0
    while (port === 0 || (port !== savedPort && [...savedPorts.values(), ...usedPorts].includes(port)))
      port = await findFreePort()
    usedPorts.add(port)
    savedPorts.set(name, port)
    writeJson(file, Object.fromEntries(savedPorts))
    return port
  }
}

function isFree(port: number): Promise<boolean> {
  return listen(port).then(
    () => true,
    () => false,
  )
}

const findFreePort = () => listen(0)

function listen(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port))
    })
  })
}
