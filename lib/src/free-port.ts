import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:net'

/** A free port of the loopback interface. Another process may take it before the caller does. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}

/**
 * Below the ports that systems give to outgoing connections (RFC 6335 §6; Linux from 32 768 on): such a connection must not take a
 * port before its server starts, or while it restarts.
 */
const PORT_MIN = 15_000
const PORT_MAX = 32_767
/** Occupied ports that are tried before the search fails. */
const ATTEMPTS_MAX = 100

/** Different free ports. All are held until the last one is found, so that none is returned twice. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const probes: Probe[] = []
  try {
    while (probes.length < count) probes.push(await findFree())
  } finally {
    await Promise.all(probes.map(close))
  }
  return probes.map(({ port }) => port)
}

async function findFree(): Promise<Probe> {
  for (let left = ATTEMPTS_MAX; ; left--) {
    try {
      return await listen(randomInt(PORT_MIN, PORT_MAX + 1))
    } catch (error) {
      if (left === 0) throw error
    }
  }
}

export async function isPortFree(port: number): Promise<boolean> {
  try {
    await close(await listen(port))
    return true
  } catch {
    return false
  }
}

type Probe = Readonly<{ server: Server; port: number }>

function listen(port: number): Promise<Probe> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      if (typeof address === 'object' && address) resolve({ server, port: address.port })
      else reject(new Error('no free port'))
    })
  })
}

const close = ({ server }: Probe) => new Promise<unknown>((resolve) => server.close(resolve))
