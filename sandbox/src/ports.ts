import { join } from 'node:path'
import { freePort, isPortFree } from '@swapyard/lib/free-port.ts'
import { readJson, writeJson } from './files.ts'

/** The same port at every start of a folder while it is free: a client of an earlier run finds the chain where it was. */
export type Ports = (name: string) => Promise<number>

export function createPorts(folder: string): Ports {
  const file = join(folder, 'chains', 'ports.json')
  const kept = new Map(Object.entries((readJson(file) ?? {}) as Record<string, number>))
  const taken = new Set<number>()
  return async (name) => {
    const before = kept.get(name)
    let port = before !== undefined && !taken.has(before) && (await isPortFree(before)) ? before : 0
    while (port === 0 || (port !== before && [...kept.values(), ...taken].includes(port))) port = await freePort()
    taken.add(port)
    kept.set(name, port)
    writeJson(file, Object.fromEntries(kept))
    return port
  }
}
