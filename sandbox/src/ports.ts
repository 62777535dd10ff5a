import { join } from 'node:path'
import { freePort, isPortFree } from '@swapyard/lib/free-port.ts'
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
    let port = savedPort !== undefined && !usedPorts.has(savedPort) && (await isPortFree(savedPort)) ? savedPort : 0
    while (port === 0 || (port !== savedPort && [...savedPorts.values(), ...usedPorts].includes(port)))
      port = await freePort()
    usedPorts.add(port)
    savedPorts.set(name, port)
    writeJson(file, Object.fromEntries(savedPorts))
    return port
  }
}
