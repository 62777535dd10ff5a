import { createServer, type Server } from 'node:net'

/** A free port of the loopback interface. Another process may take it before the caller does. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}

/** Different free ports. All are held until the last one is found, so that none is returned twice. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const probes = await Promise.all(Array.from({ length: count }, () => listen(0)))
  await Promise.all(probes.map(close))
  return probes.map(({ port }) => port)
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
