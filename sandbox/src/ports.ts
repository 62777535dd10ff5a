import { createServer } from 'node:net'
import { join } from 'node:path'
import { readJson, writeJson } from './files.ts'

/**
 * The same port at every start of a folder where it is still free: whoever was connected before a restart finds the
 * chain where it was.
 */
export type Ports = (name: string) => Promise<number>

export function createPorts(folder: string): Ports {
  const file = join(folder, 'chains', 'ports.json')
  const kept = new Map(Object.entries((readJson(file) ?? {}) as Record<string, number>))
  const taken = new Set<number>()
  return async (name) => {
    const before = kept.get(name)
    let port = before !== undefined && !taken.has(before) && (await isFree(before)) ? before : 0
    while (port === 0 || (port !== before && [...kept.values(), ...taken].includes(port))) port = await findFree()
    taken.add(port)
    kept.set(name, port)
    writeJson(file, Object.fromEntries(kept))
    return port
  }
}

function isFree(port: number): Promise<boolean> {
  return listen(port).then(
    () => true,
    () => false,
  )
}

const findFree = () => listen(0)

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
