import type { Server } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { createAccountEncoder, readFilters } from './account-form.ts'
import type { Bank, Block, Commitment } from './bank.ts'
import { withContext } from './chain-methods.ts'
import { toJson } from './json.ts'
import { invalidParams, SolanaRpcError } from './rpc-error.ts'
import { readAddress, readCommitment, readOptions, readSignature } from './rpc-params.ts'
import { errorReply } from './rpc-server.ts'

/** The value of each notification that a block brings when it reaches the subscription's commitment. */
type Subscription = Readonly<{
  method: string
  commitment: Commitment
  read(block: Block): readonly unknown[]
  /** A signature is notified once. */
  endsAfterFirst?: boolean
}>

const payloadBytesMax = 50 * 1024
const subscriptionsMax = 1000
const commitments = ['processed', 'confirmed', 'finalized'] as const

type Subscribe = (bank: Bank, params: readonly unknown[]) => Subscription

const subscribe: Readonly<Record<string, Subscribe>> = {
  slotSubscribe: (bank) => ({
    method: 'slotNotification',
    commitment: 'processed',
    read: (block) => [{ slot: block.slot, parent: block.parent.slot, root: bank.blockAt('finalized').slot }],
  }),
  rootSubscribe: () => ({
    method: 'rootNotification',
    commitment: 'finalized',
    read: (block) => [block.slot],
  }),
  signatureSubscribe(bank, [given, options]) {
    const signature = readSignature(given)
    return {
      method: 'signatureNotification',
      commitment: readCommitment(readOptions(options)['commitment']),
      endsAfterFirst: true,
      read(block) {
        const found = bank.find(signature)
        if (!found || found.block.height > block.height) return []
        return [withContext(block, { err: found.execution.error })]
      },
    }
  },
  accountSubscribe(bank, [given, givenOptions]) {
    const address = readAddress(given)
    const options = readOptions(givenOptions)
    const commitment = readCommitment(options['commitment'])
    let last = fingerprint(bank, address, bank.blockAt(commitment))
    return {
      method: 'accountNotification',
      commitment,
      read(block) {
        const current = fingerprint(bank, address, block)
        if (current === last) return []
        last = current
        const account = bank.readAccount(address, block)
        const absent = { address, data: new Uint8Array(), executable: false, lamports: 0n, programAddress: system }
        const encode = createAccountEncoder(options, (one) => bank.readAccount(one, block))
        return [withContext(block, encode((account.exists ? account : absent) as Parameters<typeof encode>[0]))]
      },
    }
  },
  logsSubscribe(_bank, [filter, options]) {
    const mentions = filter === 'all' || filter === 'allWithVotes' ? null : readMentions(filter)
    return {
      method: 'logsNotification',
      commitment: readCommitment(readOptions(options)['commitment']),
      read: (block) =>
        block.executions
          .filter(({ keys }) => mentions === null || keys.some((key) => key === mentions))
          .map(({ wire, error, metadata }) =>
            withContext(block, { signature: wire.signature, err: error, logs: metadata.logs }),
          ),
    }
  },
  programSubscribe(bank, [given, givenOptions]) {
    const program = readAddress(given)
    const options = readOptions(givenOptions)
    const matches = readFilters(options)
    return {
      method: 'programNotification',
      commitment: readCommitment(options['commitment']),
      read(block) {
        const encode = createAccountEncoder(options, (one) => bank.readAccount(one, block))
        const keys = new Set(block.executions.flatMap((one) => one.keys))
        return [...keys].flatMap((pubkey) => {
          const account = bank.readAccount(pubkey, block)
          const isChanged = block.executions.some(({ keys: all, before, after }) => {
            const index = all.indexOf(pubkey)
            return index !== -1 && accountText(before[index]) !== accountText(after[index])
          })
          if (!account.exists || !isChanged || account.programAddress !== program || !matches(account)) return []
          return [withContext(block, { pubkey, account: encode(account) })]
        })
      },
    }
  },
}

const system = '11111111111111111111111111111111'

type Read = ReturnType<Bank['readAccount']>

const accountText = (account: Read | undefined): string =>
  account?.exists ? `${account.lamports} ${account.programAddress} ${Buffer.from(account.data).toString('base64')}` : ''

const fingerprint = (bank: Bank, address: Read['address'], block: Block) =>
  accountText(bank.readAccount(address, block))

function readMentions(filter: unknown): string {
  const mentions = readOptions(filter)['mentions']
  if (!Array.isArray(mentions) || mentions.length !== 1)
    throw invalidParams('Invalid Request: Only 1 address supported')
  return readAddress(mentions[0])
}

function notify(socket: WebSocket, own: Map<number, Subscription>, id: number, one: Subscription, block: Block): void {
  for (const result of one.read(block)) {
    socket.send(toJson({ jsonrpc: '2.0', method: one.method, params: { result, subscription: id } }))
    if (one.endsAfterFirst) own.delete(id)
  }
}

/** The websocket half: notifications at the commitment that each subscription names. */
export function serveSubscriptions(bank: Bank, server: Server): Readonly<{ close(): void }> {
  const sockets = new WebSocketServer({ server, maxPayload: payloadBytesMax })
  const clients = new Map<WebSocket, Map<number, Subscription>>()
  let nextId = 0
  const reached: Record<Commitment, number> = { processed: 0, confirmed: 0, finalized: 0 }
  for (const commitment of commitments) reached[commitment] = bank.heightOf(commitment)

  sockets.on('connection', (socket) => {
    const own = new Map<number, Subscription>()
    clients.set(socket, own)
    socket.on('close', () => clients.delete(socket))
    socket.on('error', () => socket.terminate())
    socket.on('message', (data) => answer(socket, own, String(data)))
  })

  function answer(socket: WebSocket, own: Map<number, Subscription>, text: string): void {
    let id: unknown = null
    try {
      const request = parse(text)
      id = request.id ?? null
      const params = Array.isArray(request.params) ? request.params : []
      const create = Object.hasOwn(subscribe, request.method) ? subscribe[request.method] : undefined
      if (create) {
        if (own.size >= subscriptionsMax) throw new SolanaRpcError(-32006, 'Too many subscriptions')
        const subscription = create(bank, params)
        nextId += 1
        own.set(nextId, subscription)
        socket.send(toJson({ jsonrpc: '2.0', result: nextId, id }))
        // A signature that has the commitment already is notified at once.
        if (subscription.endsAfterFirst)
          notify(socket, own, nextId, subscription, bank.blockAt(subscription.commitment))
        return
      }
      if (!Object.hasOwn(subscribe, request.method.replace('Unsubscribe', 'Subscribe')))
        throw new SolanaRpcError(-32601, 'Method not found')
      if (!own.delete(params[0] as number)) throw invalidParams('Invalid subscription id.')
      socket.send(toJson({ jsonrpc: '2.0', result: true, id }))
    } catch (error) {
      socket.send(toJson(errorReply(id, error)))
    }
  }

  const stopListening = bank.listen((event) => {
    for (const commitment of commitments) {
      const height = bank.heightOf(commitment)
      const blocks = bank.blocks().filter((block) => block.height > reached[commitment] && block.height <= height)
      // After a fork the replaced heights are notified again.
      reached[commitment] = event.kind === 'fork' ? Math.min(reached[commitment], height) : height
      for (const [socket, own] of clients)
        for (const [id, one] of own)
          if (one.commitment === commitment) for (const block of blocks) notify(socket, own, id, one, block)
    }
  })

  return {
    close() {
      stopListening()
      for (const socket of clients.keys()) socket.terminate()
      sockets.close()
    },
  }
}

function parse(text: string): { id?: unknown; method: string; params?: unknown } {
  let request: { id?: unknown; method?: unknown; params?: unknown } | null
  try {
    request = JSON.parse(text)
  } catch {
    throw new SolanaRpcError(-32700, 'Parse error')
  }
  if (typeof request?.method !== 'string') throw new SolanaRpcError(-32600, 'Invalid request')
  return { ...request, method: request.method }
}
