import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Address,
  type Base64EncodedWireTransaction,
  type Blockhash,
  generateKeyPairSigner,
  getBase58Encoder,
  getBase64Encoder,
  getSignatureFromTransaction,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit'
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../../../test/support/until.ts'
import { signInstructions } from './sign-instructions.fixture.ts'
import { startSolanaNode } from './solana-node.ts'

/*
 * The replies of our node beside those of surfpool, another implementation of Solana's RPC: the same accounts and transactions, the same
 * calls. Its blocks do not link, so chains are not compared.
 */
type Surfnet = Readonly<{
  rpcUrl: string
  wsUrl: string
  fundSol(address: string, lamports: number): void
  stop(): void
}>
type SurfpoolPackage = Readonly<{ Surfnet: Readonly<{ startWithConfig(config: object): Surfnet }> }>

/** Published for this platform only. */
const surfpoolName = '@solana/surfpool-linux-x64-gnu'
const isAvailable = process.platform === 'linux' && process.arch === 'x64'

type Reply = Readonly<{ result?: unknown; error?: Readonly<{ code: number; message: string; data?: unknown }> }>

async function callAt(url: string, method: string, params: readonly unknown[] = []): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await response.json()) as Reply
}

const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address
const LAMPORTS = 10_000_000_000
const SUPPLY = 1_000_000n
const PAID = 250_000n
let node: Awaited<ReturnType<typeof startSolanaNode>>
let surfnet: Surfnet
let payer: KeyPairSigner
let mint: KeyPairSigner
let receiver: Address
let [from, to] = ['', ''] as [Address, Address]
/** The blockhash of the last transaction, by the URL of the node. */
const blockhashes = new Map<string, Blockhash>()
/** The last transaction, by the URL of the node. `message` is in base64. */
const sent = new Map<string, Readonly<{ signature: string; wire: string; message: string; slot: number }>>()
const slotAt = (url: string) => sent.get(url)?.slot

async function readBlockhash(url: string): Promise<Blockhash> {
  const { result } = await callAt(url, 'getLatestBlockhash')
  return (result as { value: { blockhash: Blockhash } }).value.blockhash
}

/** Signs for the latest blockhash of that node, and sends. */
async function execute(url: string, instructions: readonly Instruction[]): Promise<void> {
  const blockhash = await readBlockhash(url)
  blockhashes.set(url, blockhash)
  const wire = await signInstructions(payer, blockhash, instructions)
  const reply = await callAt(url, 'sendTransaction', [wire, { encoding: 'base64' }])
  expect(reply.error).toBeUndefined()
  const { messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(wire))
  const message = Buffer.from(messageBytes).toString('base64')
  node.mine(40)
  for (;;) {
    const { result: statuses } = await callAt(url, 'getSignatureStatuses', [[reply.result]])
    const [status] = (statuses as { value: readonly ({ slot: number } | null)[] }).value
    if (status) return void sent.set(url, { signature: reply.result as string, wire, message, slot: status.slot })
    await sleep(10)
  }
}

beforeAll(async () => {
  if (!isAvailable) return
  const { Surfnet } = createRequire(import.meta.url)(surfpoolName) as SurfpoolPackage
  surfnet = Surfnet.startWithConfig({ offline: true })
  node = await startSolanaNode({ port: 0, log: () => undefined })
  payer = await generateKeyPairSigner()
  mint = await generateKeyPairSigner()
  receiver = (await generateKeyPairSigner()).address
  await node.deposit(payer.address, BigInt(LAMPORTS))
  surfnet.fundSol(payer.address, LAMPORTS)
  node.mine(40)
  const ataOf = async (owner: Address) =>
    (
      await findAssociatedTokenPda({
        ...{ mint: mint.address, owner },
        tokenProgram,
      })
    )[0]
  ;[from, to] = [await ataOf(payer.address), await ataOf(receiver)]
  const account = { payer, mint: mint.address }
  for (const url of [node.rpcUrl, surfnet.rpcUrl]) {
    const rent = (await callAt(url, 'getMinimumBalanceForRentExemption', [82])).result as number
    await execute(url, [
      getCreateAccountInstruction({
        ...{ payer, newAccount: mint, lamports: rent, space: 82n },
        programAddress: tokenProgram,
      }),
      getInitializeMint2Instruction({ mint: mint.address, decimals: 6, mintAuthority: payer.address }),
      getCreateAssociatedTokenIdempotentInstruction({ ...account, ata: from, owner: payer.address }),
      getCreateAssociatedTokenIdempotentInstruction({ ...account, ata: to, owner: receiver }),
      getMintToInstruction({ mint: mint.address, token: from, mintAuthority: payer, amount: SUPPLY }),
    ])
    await execute(url, [
      getTransferCheckedInstruction({
        ...{ source: from, mint: mint.address, destination: to, authority: payer, amount: PAID, decimals: 6 },
      }),
      getTransferSolInstruction({ source: payer, destination: receiver, amount: 1_000_000_000n }),
    ])
  }
})
beforeEach(({ skip }) => skip(!isAvailable, `${surfpoolName} is published for Linux on x64 only`))
afterAll(async () => {
  surfnet?.stop()
  await node?.stop()
})

/** Members whose values differ between two chains; of these, only the types are compared. */
const variable = new Set([
  ...['slot', 'blockhash', 'lastValidBlockHeight', 'recentBlockhash', 'apiVersion', 'solana-core', 'feature-set'],
  ...['blockTime', 'signature', 'signatures', 'confirmations', 'confirmationStatus', 'absoluteSlot', 'blockHeight'],
  ...['parentSlot', 'previousBlockhash'],
  // Accounts that pay no rent: the greatest number of 64 bits in a validator since 1.18, zero in surfpool.
  ...['slotIndex', 'rentEpoch'],
])

function typeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(typeOf)
  return value === null ? null : typeof value
}

/** A reply without its variable values, and without the members `except`. */
function comparable(value: unknown, except: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => comparable(one, except))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => !except.includes(name))
  return Object.fromEntries(
    members.map(([name, one]) => [name, variable.has(name) ? typeOf(one) : comparable(one, except)]),
  )
}

/** Both replies. The parameters may depend on the node, because each transaction has the blockhash of its node. */
async function askBoth(method: string, paramsAt: (url: string) => readonly unknown[]) {
  const [ours, theirs] = [node.rpcUrl, surfnet.rpcUrl]
  return {
    ours: await callAt(ours, method, paramsAt(ours)),
    theirs: await callAt(theirs, method, paramsAt(theirs)),
  }
}

/** An address without an account. */
const unused = '2xNweLHLqrbx4zo1waDvgWJHgsUpPj8Y8icbAFeR4a8i'
/** The hash of no block. */
const unknownHash = '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY'
const base64 = { encoding: 'base64' }
const parsed = { encoding: 'jsonParsed' }
/** surfpool finalizes a block after 32 further ones, of 0.4 s. */
const confirmed = { commitment: 'confirmed' }
/** surfpool ends the text with zeros, a validator does not. */
const TEXT_OF_AMOUNT = 'uiAmountString'
/** surfpool shows an empty value, a validator shows none. */
const RETURN_DATA = 'returnData'
/** Null in surfpool. */
const SIMULATED = ['fee', 'loadedAddresses', 'preBalances', 'postBalances', 'preTokenBalances', 'postTokenBalances']
/** litesvm does not report it. */
const LOADED_BYTES = 'loadedAccountsDataSize'

type Call = readonly [method: string, paramsAt: (url: string) => readonly unknown[], except?: readonly string[]]
const equalReplies: readonly Call[] = [
  ['getHealth', () => []],
  ['getVersion', () => [], ['surfnet-version']],
  ['getLatestBlockhash', () => []],
  // May be null.
  ['getEpochInfo', () => [], ['transactionCount']],
  ['isBlockhashValid', (url) => [blockhashes.get(url)]],
  ['isBlockhashValid', () => [unknownHash]],
  ['getBalance', () => [payer.address]],
  ['getBalance', () => [receiver]],
  ['getAccountInfo', () => [from, base64]],
  ['getAccountInfo', () => [from, parsed]],
  ['getAccountInfo', () => [mint.address, parsed]],
  ['getAccountInfo', () => [from, { ...base64, dataSlice: { offset: 0, length: 32 } }]],
  ['getAccountInfo', () => [unused, base64]],
  ['getMultipleAccounts', () => [[from, receiver, unused], base64]],
  ['getTokenAccountBalance', () => [to]],
  ['getTokenSupply', () => [mint.address], [TEXT_OF_AMOUNT]],
  ['getTokenAccountsByOwner', () => [receiver, { mint: mint.address }, parsed]],
  ['getTokenAccountsByOwner', () => [receiver, { programId: tokenProgram }, base64]],
  ['getMinimumBalanceForRentExemption', () => [165]],
  // Null once finalized, which surfpool's transactions are not.
  ['getSignatureStatuses', (url) => [[sent.get(url)?.signature, '5'.repeat(87)]], ['confirmations']],
  [
    'getTransaction',
    (url) => [sent.get(url)?.signature, { encoding: 'json', maxSupportedTransactionVersion: 0 }],
    [TEXT_OF_AMOUNT, RETURN_DATA],
  ],
  [
    'getBlock',
    (url) => [slotAt(url), { ...confirmed, encoding: 'json', maxSupportedTransactionVersion: 0 }],
    [TEXT_OF_AMOUNT, RETURN_DATA],
  ],
  ['getBlock', (url) => [slotAt(url), { ...confirmed, transactionDetails: 'signatures', rewards: false }]],
  ['getBlock', (url) => [slotAt(url), { ...confirmed, transactionDetails: 'none' }]],
  ['getFeeForMessage', (url) => [sent.get(url)?.message]],
  ['getSignaturesForAddress', () => [payer.address, { limit: 1 }]],
  [
    'simulateTransaction',
    (url) => [
      sent.get(url)?.wire,
      { ...base64, replaceRecentBlockhash: true, accounts: { addresses: [to], encoding: 'base64' } },
    ],
    [...SIMULATED, LOADED_BYTES],
  ],
]

test.for(equalReplies)('%s replies as surfpool does', async ([method, paramsAt, except = []]) => {
  const { ours, theirs } = await askBoth(method, paramsAt)
  expect(ours.error).toBeUndefined()
  expect(comparable(ours.result, except)).toEqual(comparable(theirs.result, except))
})

test('getProgramAccounts replies as surfpool does, in any order', async () => {
  const filters = [{ dataSize: 165 }, { memcmp: { offset: 0, bytes: mint.address } }]
  const { ours, theirs } = await askBoth('getProgramAccounts', () => [tokenProgram, { ...base64, filters }])
  const sorted = ({ result }: Reply) =>
    (comparable(result, []) as readonly Readonly<{ pubkey: string }>[]).toSorted((a, b) =>
      a.pubkey < b.pubkey ? -1 : 1,
    )
  expect(sorted(ours).map(({ pubkey }) => pubkey)).toEqual([from, to].sort())
  expect(sorted(ours)).toEqual(sorted(theirs))
})

/* Numbers and hashes of the chain, which differ: only their forms are compared. */
const equalForms: readonly Call[] = [
  ['getSlot', () => []],
  ['getBlockHeight', () => []],
  ['getGenesisHash', () => []],
  ['getFirstAvailableBlock', () => []],
  ['getBlocks', (url) => [slotAt(url), slotAt(url), confirmed]],
  ['getBlockTime', (url) => [slotAt(url)]],
]

test.for(equalForms)('%s replies in the form of surfpool', async ([method, paramsAt]) => {
  const { ours, theirs } = await askBoth(method, paramsAt)
  expect(ours.error).toBeUndefined()
  expect(typeOf(ours.result)).toEqual(typeOf(theirs.result))
  if (typeof theirs.result === 'string') expect(getBase58Encoder().encode(String(ours.result))).toHaveLength(32)
  else expect([ours.result, theirs.result].flat().every(Number.isSafeInteger)).toBe(true)
})

test('getBlocks replies the slots of a range, and getBlock refuses a slot to come, to which surfpool replies null', async () => {
  const [slot, theirSlot] = [slotAt(node.rpcUrl), slotAt(surfnet.rpcUrl)]
  const range = await askBoth('getBlocks', (url) => [slotAt(url), slotAt(url), confirmed])
  expect([range.ours.result, range.theirs.result]).toEqual([[slot], [theirSlot]])
  const { ours, theirs } = await askBoth('getBlock', () => [1_000_000_000])
  // As a validator does: BLOCK_NOT_AVAILABLE.
  expect(ours.error?.code).toBe(-32004)
  expect(theirs).toMatchObject({ result: null })
})

test('getRecentPrioritizationFees replies a list, whose items surfpool leaves out', async () => {
  const { ours, theirs } = await askBoth('getRecentPrioritizationFees', () => [[payer.address]])
  expect(theirs).toMatchObject({ result: [] })
  const fees = ours.result as readonly Readonly<Record<string, unknown>>[]
  // As Solana's documentation has them: a member for each of the last 150 blocks that the node has.
  expect(fees.length).toBeGreaterThan(0)
  for (const fee of fees) expect(fee).toEqual({ slot: expect.any(Number), prioritizationFee: expect.any(Number) })
})

/** Of a refusal, only the type of its data. */
const formOf = ({ error }: Reply) => ({ code: error?.code, data: typeOf(error?.data) })

const equalErrors: readonly Call[] = [
  // A validator says in the message what surfpool adds as data.
  ['getTokenAccountBalance', () => [receiver], ['data']],
  ['getBalance', () => ['0'], ['data']],
  ['getBalance', () => []],
  ['getBalance', () => [5]],
  ['isBlockhashValid', () => ['x']],
  ['isBlockhashValid', () => []],
  ['getSlot', () => [{ minContextSlot: 1_000_000_000 }]],
  ['getAnything', () => []],
  ['sendTransaction', () => ['AAAA', base64]],
  // A validator simulates what it has executed, and shows the result. surfpool does not.
  ['sendTransaction', (url) => [sent.get(url)?.wire, base64], ['data']],
  ['getFeeForMessage', () => ['AAAA']],
]

test.for(equalErrors)('%s refuses as surfpool does', async ([method, paramsAt, except = []]) => {
  const { ours, theirs } = await askBoth(method, paramsAt)
  expect(comparable(formOf(ours), except)).toEqual(comparable(formOf(theirs), except))
  expect(ours.error?.code).toBeLessThan(0)
})

/** A transfer of `lamports`, signed for the latest blockhash of each node. */
async function signTransfers(lamports: bigint): Promise<ReadonlyMap<string, string>> {
  const transfer = getTransferSolInstruction({ source: payer, destination: receiver, amount: lamports })
  const urls = [node.rpcUrl, surfnet.rpcUrl]
  const wires = urls.map(
    async (url) => [url, await signInstructions(payer, await readBlockhash(url), [transfer])] as const,
  )
  return new Map(await Promise.all(wires))
}

test('sendTransaction refuses a transfer that fails with the error, logs and units that surfpool shows', async () => {
  const wires = await signTransfers(BigInt(LAMPORTS))
  const { ours, theirs } = await askBoth('sendTransaction', (url) => [wires.get(url), base64])
  expect(ours.error?.code).toBe(-32002)
  expect(theirs.error?.code).toBe(-32002)
  const except = [...SIMULATED, LOADED_BYTES]
  expect(comparable(ours.error?.data, except)).toEqual(comparable(theirs.error?.data, except))
  expect(ours.error?.data).toMatchObject({ err: { InstructionError: [0, { Custom: 1 }] }, logs: expect.any(Array) })
  // surfpool appends the logs to the message.
  expect(theirs.error?.message).toContain(ours.error?.message)
})

test('sendTransaction refuses a wrong signature, without data', async () => {
  const wires = await signTransfers(1n)
  const forge = (wire = '') => {
    const bytes = Buffer.from(wire, 'base64')
    bytes.writeUInt8(bytes.readUInt8(1) ^ 1, 1)
    return bytes.toString('base64')
  }
  const { ours, theirs } = await askBoth('sendTransaction', (url) => [forge(wires.get(url)), base64])
  // A validator has a code for it. surfpool replies that of a failed simulation.
  expect(ours.error).toEqual({ code: -32003, message: 'Transaction signature verification failure' })
  expect(theirs.error?.code).toBe(-32002)
  expect(typeOf(ours.error?.data)).toEqual(typeOf(theirs.error?.data))
})

type Message = Readonly<{
  id?: number
  method?: string
  result?: unknown
  error?: Readonly<{ code: number }>
  params?: Readonly<{ subscription: number; result: unknown }>
}>

/** Everything that a websocket received. */
async function openSocket(url: string) {
  const socket = new WebSocket(url)
  const messages: Message[] = []
  socket.on('message', (data) => messages.push(JSON.parse(String(data)) as Message))
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject))
  let nextId = 0
  return {
    messages,
    async ask(method: string, params: readonly unknown[]): Promise<Message> {
      nextId += 1
      const id = nextId
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      return until(`a reply to ${method}`, () => messages.find((one) => one.id === id))
    },
    close: () => socket.terminate(),
  }
}

/** Subscribes, pays tokens, and unsubscribes. */
async function subscribeAt(rpcUrl: string, webSocketUrl: string) {
  const { messages, ask, close } = await openSocket(webSocketUrl)
  const instructions = [
    getTransferCheckedInstruction({
      ...{ source: from, mint: mint.address, destination: to, authority: payer, amount: 5n, decimals: 6 },
    }),
  ]
  const wire = await signInstructions(payer, await readBlockhash(rpcUrl), instructions)
  const signature = getSignatureFromTransaction(getTransactionDecoder().decode(getBase64Encoder().encode(wire)))
  const processed = { commitment: 'processed' }
  const filters = [{ memcmp: { offset: 32, bytes: receiver } }]
  const subscriptions: readonly (readonly [string, readonly unknown[]])[] = [
    ['slot', []],
    ['account', [to, { ...base64, ...processed }]],
    ['signature', [signature, processed]],
    ['logs', [{ mentions: [from] }, processed]],
    ['program', [tokenProgram, { ...base64, ...processed, filters }]],
  ]
  const ids = new Map<string, unknown>()
  const replies: Message[] = []
  for (const [name, params] of subscriptions) {
    const reply = await ask(`${name}Subscribe`, params)
    ids.set(name, reply.result)
    replies.push(reply)
  }
  await callAt(rpcUrl, 'sendTransaction', [wire as Base64EncodedWireTransaction, base64])
  node.mine(1)
  const notifications: Record<string, unknown> = {}
  for (const [name] of subscriptions) {
    const found = await until(`a notification of ${name}`, () =>
      messages.find(({ params }) => params !== undefined && params.subscription === ids.get(name)),
    )
    notifications[name] = { ...found, params: { ...found.params, subscription: 'its id' } }
  }
  const ended: Record<string, unknown> = {}
  for (const [name] of subscriptions) ended[name] = await ask(`${name}Unsubscribe`, [ids.get(name)])
  const refusals = [
    await ask('slotUnsubscribe', [ids.get('slot')]),
    await ask('accountUnsubscribe', [1_000_000]),
    await ask('accountSubscribe', ['0']),
    await ask('anythingSubscribe', []),
  ].map(({ error }) => error?.code)
  close()
  return { replies, notifications, ended, refusals }
}

const slotMembers = ['parent', 'root', 'slot']

test('a websocket subscribes, notifies and unsubscribes as that of surfpool', async () => {
  const ours = await subscribeAt(node.rpcUrl, node.webSocketUrl)
  const theirs = await subscribeAt(surfnet.rpcUrl, surfnet.wsUrl)
  // Numbers of subscriptions.
  expect(typeOf(ours.replies.map(({ result }) => result))).toEqual(typeOf(theirs.replies.map(({ result }) => result)))
  const { slot, ...others } = ours.notifications
  const { slot: theirSlot, ...theirOthers } = theirs.notifications
  expect(comparable(others, [])).toEqual(comparable(theirOthers, []))
  const memberTypes = (notification: unknown) =>
    Object.entries((notification as { params: { result: object } }).params.result)
      .map(([name, value]) => [name, typeof value])
      .sort()
  expect(memberTypes(slot)).toEqual(memberTypes(theirSlot))
  expect(memberTypes(slot)).toEqual(slotMembers.map((name) => [name, 'number']))
  // The subscription of a signature ends with its notification, says Solana's documentation. surfpool keeps it.
  const { signature: _ours, ...ended } = ours.ended
  const { signature: _theirs, ...theirEnded } = theirs.ended
  expect(ended).toEqual(theirEnded)
  expect(_ours).toMatchObject({ error: { code: -32602 } })
  expect(ours.refusals).toEqual(theirs.refusals)
})

test('rootSubscribe notifies of finalized slots, as documented; surfpool rejects it', async () => {
  const theirs = await openSocket(surfnet.wsUrl)
  expect(await theirs.ask('rootSubscribe', [])).toMatchObject({ error: { code: -32091 } })
  theirs.close()
  const { messages, ask, close } = await openSocket(node.webSocketUrl)
  const { result: id } = await ask('rootSubscribe', [])
  expect(typeOf(id)).toBe('number')
  const { result: root } = await callAt(node.rpcUrl, 'getSlot', [{ commitment: 'finalized' }])
  node.mine(2)
  const notifications = await until('two notifications of root', () => {
    const received = messages.filter(({ params }) => params !== undefined)
    return received.length === 2 && received
  })
  const notificationOf = (result: number) => ({
    ...{ jsonrpc: '2.0', method: 'rootNotification', params: { result, subscription: id } },
  })
  expect(notifications).toEqual([notificationOf(Number(root) + 1), notificationOf(Number(root) + 2)])
  expect(await ask('rootUnsubscribe', [id])).toMatchObject({ result: true })
  close()
})
