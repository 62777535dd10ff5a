import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * A TCP proxy that hurts: black hole, reset, and the cut that leaves a question open. It knows nothing of what it
 * carries but the marker that it waits for.
 */
export type TcpProxy = Readonly<{
  port: number
  /** Connections stay open, and nothing passes, until it is switched off. */
  blackHole(on: boolean): void
  /** Open connections stay open without an answer; new ones work as before. */
  abandon(): void
  /** Ends every connection by RST. */
  reset(): void
  /**
   * The next `times` connections that send the marker are cut: `answer` = the target has done what was asked, and its reply
   * is lost; `request` = it never heard of it.
   */
  cutAt(marker: string, lost: 'answer' | 'request', times: number): void
  /** Cuts so far. */
  cuts(): number
  close(): Promise<void>
}>

type Cut = { marker: Buffer; lost: 'answer' | 'request'; left: number }
type State = {
  dark: boolean
  cut: Cut | null
  cuts: number
  pairs: Set<Pair>
  all: Set<Socket>
}
type Pair = Readonly<{ client: Socket; target: Socket }>

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const state: State = { dark: false, cut: null, cuts: 0, pairs: new Set(), all: new Set() }
  const server = createServer((client) => join(state, client, connect(targetPort, '127.0.0.1')))
  const port = await listen(server)
  const both = (act: (socket: Socket) => void) => {
    for (const { client, target } of state.pairs) for (const socket of [client, target]) act(socket)
  }
  return {
    port,
    blackHole: (on) => {
      state.dark = on
      both((socket) => (on ? socket.pause() : socket.resume()))
    },
    abandon: () => {
      both((socket) => socket.pause())
      for (const pair of state.pairs) state.pairs.delete(pair)
    },
    reset: () => both((socket) => socket.resetAndDestroy()),
    cutAt: (marker, lost, times) => {
      state.cut = { marker: Buffer.from(marker, 'latin1'), lost, left: times }
    },
    cuts: () => state.cuts,
    close: async () => {
      for (const socket of state.all) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function join(state: State, client: Socket, target: Socket): void {
  const pair = { client, target }
  state.pairs.add(pair)
  let isCut = false
  const sever = () => {
    state.cuts++
    client.resetAndDestroy()
    // What was sent is still read and done by the target.
    target.end()
  }
  client.on('data', (chunk: Buffer) => {
    const lost = isCut ? null : takeCut(state, chunk)
    if (lost === 'request') {
      state.cuts++
      client.resetAndDestroy()
      target.destroy()
      return
    }
    if (lost === 'answer') isCut = true
    target.write(chunk)
  })
  target.on('data', (chunk: Buffer) => {
    if (isCut) return sever()
    client.write(chunk)
  })
  for (const [socket, other] of [
    [client, target],
    [target, client],
  ] as const) {
    socket.setNoDelay(true)
    state.all.add(socket)
    if (state.dark) socket.pause()
    socket.on('error', () => other.destroy())
    socket.on('end', () => other.end())
    socket.on('close', () => {
      other.destroy()
      state.pairs.delete(pair)
      state.all.delete(socket)
    })
  }
}

/** A marker that is split over two pieces is missed: there will be another. */
function takeCut(state: State, chunk: Buffer): Cut['lost'] | null {
  const { cut } = state
  if (cut === null || cut.left === 0 || !chunk.includes(cut.marker)) return null
  cut.left--
  return cut.lost
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (typeof address === 'object' && address) resolve(address.port)
    })
  })
}
