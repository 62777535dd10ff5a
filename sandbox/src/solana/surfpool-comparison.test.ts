import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, type Blockhash, generateKeyPairSigner, type Instruction, type KeyPairSigner } from '@solana/kit'
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { signInstructions } from './sign-instructions.fixture.ts'
import { startSolanaNode } from './solana-node.ts'

/*
 * The replies of our node beside those of surfpool, another implementation of Solana's RPC: the same accounts and transactions, the same
 * calls. Its blocks do not link, so chains are not compared.
 */
type Surfnet = Readonly<{ rpcUrl: string; fundSol(address: string, lamports: number): void; stop(): void }>
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
/** The signature and the wire form of the last transaction, by the URL of the node. */
const sent = new Map<string, Readonly<{ signature: string; wire: string }>>()

/** Signs for the latest blockhash of that node, and sends. */
async function execute(url: string, instructions: readonly Instruction[]): Promise<void> {
  const { result } = await callAt(url, 'getLatestBlockhash')
  const { blockhash } = (result as { value: { blockhash: Blockhash } }).value
  const wire = await signInstructions(payer, blockhash, instructions)
  const reply = await callAt(url, 'sendTransaction', [wire, { encoding: 'base64' }])
  expect(reply.error).toBeUndefined()
  sent.set(url, { signature: reply.result as string, wire })
  node.mine(40)
  for (;;) {
    const { result: statuses } = await callAt(url, 'getSignatureStatuses', [[reply.result]])
    if ((statuses as { value: readonly unknown[] }).value[0] !== null) return
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
const base64 = { encoding: 'base64' }
const parsed = { encoding: 'jsonParsed' }
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
  [
    'getProgramAccounts',
    () => [tokenProgram, { ...base64, filters: [{ dataSize: 165 }, { memcmp: { offset: 0, bytes: mint.address } }] }],
  ],
  ['getMinimumBalanceForRentExemption', () => [165]],
  // Null once finalized, which surfpool's transactions are not.
  ['getSignatureStatuses', (url) => [[sent.get(url)?.signature, '5'.repeat(87)]], ['confirmations']],
  [
    'getTransaction',
    (url) => [sent.get(url)?.signature, { encoding: 'json', maxSupportedTransactionVersion: 0 }],
    [TEXT_OF_AMOUNT, RETURN_DATA],
  ],
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

const equalErrors: readonly Call[] = [
  ['getTokenAccountBalance', () => [receiver]],
  ['getBalance', () => ['0']],
  ['getBalance', () => []],
  ['getBalance', () => [5]],
  ['getAnything', () => []],
  ['sendTransaction', () => ['AAAA', base64]],
  ['sendTransaction', (url) => [sent.get(url)?.wire, base64]],
  ['getFeeForMessage', () => ['AAAA']],
]

test.for(equalErrors)('%s refuses as surfpool does', async ([method, paramsAt]) => {
  const { ours, theirs } = await askBoth(method, paramsAt)
  expect(ours.error?.code).toBe(theirs.error?.code)
  expect(ours.error?.code).toBeLessThan(0)
})
