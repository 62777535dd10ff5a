import { connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy that can stall, reset or cut connections. It interprets no protocol and only searches for a marker. */
export type TcpProxy = Readonly<{
  port: number
  /** While on, connections stay open and no data passes. */
  blackHole(on: boolean): void
  /** Open connections stay open and pass no more data; new ones work normally. */
  abandon(): void
  /** Ends every connection with an RST. */
  reset(): void
  /**
   * Cuts the next `times` connections that send the marker. `answer`: the target executes the request and its answer is
   * lost. `request`: the target never receives the request.
   */
  cutAt(marker: string, part: 'answer' | 'request', times: number): void
  countCuts(): number
  close(): Promise<void>
}>

type Cut = { marker: Buffer; part: 'answer' | 'request'; left: number }
type State = {
  isBlackHole: boolean
  cut: Cut | null
  cuts: number
  pairs: Set<Pair>
  all: Set<Socket>
}
type Pair = Readonly<{ client: Socket; target: Socket }>

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const state: State = { isBlackHole: false, cut: null, cuts: 0, pairs: new Set(), all: new Set() }
  const server = createServer((client) => connectPair(state, client, connect(targetPort, '127.0.0.1')))
  const port = await listen(server)
  const forEachSocket = (act: (socket: Socket) => void) => {
    for (const { client, target } of state.pairs) for (const socket of [client, target]) act(socket)
  }
  return {
    port,
    blackHole: (on) => {
      state.isBlackHole = on
      forEachSocket((socket) => (on ? socket.pause() : socket.resume()))
    },
    abandon: () => {
      forEachSocket((socket) => socket.pause())
      for (const pair of state.pairs) state.pairs.delete(pair)
    },
    reset: () => forEachSocket((socket) => socket.resetAndDestroy()),
    cutAt: (marker, part, times) => {
      state.cut = { marker: Buffer.from(marker, 'latin1'), part, left: times }
    },
    countCuts: () => state.cuts,
    close: async () => {
      for (const socket of state.all) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function connectPair(state: State, client: Socket, target: Socket): void {
  const pair = { client, target }
  state.pairs.add(pair)
  let isCut = false
  const cutAnswer = () => {
    state.cuts++
    client.resetAndDestroy()
    // The target still reads and executes what it received.
    target.end()
  }
  client.on('data', (chunk: Buffer) => {
    const part = isCut ? null : takeCut(state, chunk)
    if (part === 'request') {
      state.cuts++
      client.resetAndDestroy()
      target.destroy()
      return
    }
    if (part === 'answer') isCut = true
    target.write(chunk)
  })
  target.on('data', (chunk: Buffer) => {
    if (isCut) return cutAnswer()
    client.write(chunk)
  })
  for (const [socket, other] of [
    [client, target],
    [target, client],
  ] as const) {
    socket.setNoDelay(true)
    state.all.add(socket)
    if (state.isBlackHole) socket.pause()
    socket.on('error', () => other.destroy())
    socket.on('end', () => other.end())
    socket.on('close', () => {
      other.destroy()
      state.pairs.delete(pair)
      state.all.delete(socket)
    })
  }
}

/** Misses a marker that is split over two chunks; a later marker is cut instead. */
function takeCut(state: State, chunk: Buffer): Cut['part'] | null {
  const { cut } = state
  if (cut === null || cut.left === 0 || !chunk.includes(cut.marker)) return null
  cut.left--
  return cut.part
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
