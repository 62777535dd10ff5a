import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../../core/domain/errors.ts'
import { assert } from '../../../lib/assert.ts'
import { createHttp } from '../../../lib/http.ts'
import { readEntry, readHash, readInteger } from '../shared/replies.ts'
import { createAddresses } from './address.ts'
import { answerChallenge } from './digest.ts'
import { bytesOf } from './ed25519.ts'
import type { WalletKeys } from './keys.ts'
import { type Answer, call, post, readHex, readList, readUnits } from './rpc.ts'
import { toHex } from './transaction.ts'
import { startWalletChild, type WalletChild } from './wallet-child.ts'
import { walletPasswordOf } from './wallet-password.ts'

/**
 * An output in the wallet. `globalIndex`: its place among all outputs of the chain. `key`: its one-time public key. `index`: of its
 * subaddress in account 0; 0 is the primary address.
 */
export type WalletOutput = Readonly<{
  units: bigint
  globalIndex: bigint
  key: string
  unlocked: boolean
  frozen: boolean
  txHash: string
  index: number
}>

/** A signed transaction that was not relayed. */
export type BuiltTransaction = Readonly<{
  raw: string
  secrets: readonly string[]
  feeUnits: bigint
  keyImages: readonly string[]
}>

/** Our monero-wallet-rpc wallet, which builds transactions. Its view of the chain serves no other purpose. */
export type Wallet = Readonly<{
  /** Refreshes, and returns the unspent outputs by key image. `slow` allows a refresh of many blocks. */
  outputs(refresh?: 'slow'): Promise<ReadonlyMap<string, WalletOutput>>
  /** Makes the wallet scan for subaddresses up to this index and 128 beyond. */
  extendLookahead(index: number): Promise<void>
  /** Scans these transactions again, for subaddresses added after their blocks were scanned. */
  scan(txHashes: readonly string[]): Promise<void>
  /** The key images of outputs of these subaddresses that the wallet regards as spent. */
  listSpent(indexes: readonly number[]): Promise<ReadonlySet<string>>
  /** Scans the chain again from the restore height. */
  rescan(): Promise<void>
  setFrozen(keyImage: string, frozen: boolean): Promise<void>
  transfer(destinations: readonly { address: string; units: bigint }[]): Promise<BuiltTransaction>
}>

export type WalletSession = Readonly<{
  /** Runs one task at a time. Opens the wallet first if it is not open. */
  run<T>(work: (wallet: Wallet) => Promise<T>): Promise<T>
  /** For callers that cannot wait: if the wallet is not open, starts to open it and throws NETWORK_UNAVAILABLE. */
  runIfOpen<T>(work: (wallet: Wallet) => Promise<T>): Promise<T>
  close(): Promise<void>
}>

export type WalletOptions = Readonly<{
  keys: WalletKeys
  /** A cache: if deleted, the wallet is restored from the keys. */
  folder: string
  daemonUrl: string
  /** Below the first payment to us. */
  restoreHeight: number
}>

const WALLET_FILE = 'hot-wallet'
/** File with the highest index of the lookahead, for the next restore from these keys. */
export const INDEX_FILE = 'highest-index'
const START_MS = 60_000
/** Below the idle limit of a database transaction (15 s), within which builds run. */
const BUILD_MS = 10_000
/** Adding addresses is slow on a busy machine. */
const LOOKAHEAD_MS = 60_000
/** A rescan from the first block of mainnet takes hours: set the restore height. */
const SCAN_MS = 12 * 3_600_000
const CHALLENGES_MAX = 3
/** Subaddresses beyond the highest paid one, because many assigned addresses are never paid. */
const LOOKAHEAD = 128
/**
 * Subaddresses beyond the last created one that the wallet scans for (SUBADDRESS_LOOKAHEAD_MINOR in wallet2.h). It derives
 * that many keys for each created address.
 */
const SCANNED_BEYOND = 200
/** Addresses that one call can create (wallet_rpc_server.cpp). */
const ADDRESSES_MAX = 64
/** wallet_rpc_server_error_codes.h: transaction too large, not enough money, not enough unlocked money. */
const NOT_COVERED: readonly number[] = [-4, -17, -37]

export function createWalletSession(options: WalletOptions): WalletSession {
  let opening: Promise<{ child: WalletChild; wallet: Wallet; close(): Promise<void> }> | null = null
  let tail: Promise<unknown> = Promise.resolve()
  let isClosed = false
  let isOpen = false

  const openIfNeeded = async () => {
    assert(!isClosed, 'the wallet is not closed')
    const previous = await opening?.catch(() => null)
    if (previous && previous.child.exitReason() === null) return previous.wallet
    isOpen = false
    await previous?.close()
    opening = openWallet(options)
    const { wallet } = await opening
    isOpen = true
    return wallet
  }
  const run: WalletSession['run'] = (work) => {
    const result = tail.then(async () => work(await openIfNeeded()))
    tail = result.catch(() => undefined)
    return result
  }
  return {
    run,
    runIfOpen: (work) => {
      if (isOpen) return run(work)
      // Not awaited: a later call reports the failure.
      run(async () => undefined).catch(() => undefined)
      throw unavailable('open', 'the wallet is not open yet')
    },
    close: async () => {
      isClosed = true
      await (await opening?.catch(() => null))?.close()
    },
  }
}

type Ask = (method: string, params?: Readonly<Record<string, unknown>>, timeoutMs?: number) => Promise<Answer>

async function openWallet(options: WalletOptions) {
  const { folder, daemonUrl } = options
  const child = await startWalletChild(folder, daemonUrl)
  // A digest challenge is valid for its connection only, so use a single connection.
  const http = createHttp({ connections: 1 })
  const ask = createAsk(http, child)
  const marker = join(folder, 'open')
  const close = async () => {
    const wasRunning = child.exitReason() === null
    await child.stop()
    await http.close()
    // A process that we stopped has saved its wallet; one that crashed may not have.
    if (wasRunning) rmSync(marker, { force: true })
  }
  try {
    await waitUntilReady(ask, child)
    // Otherwise it would scan the chain before the lookahead is extended.
    checked('auto_refresh', await ask('auto_refresh', { enable: false }))
    // A marker left by a crash: the wallet file may be incomplete, so restore it from the chain.
    const isComplete = existsSync(join(folder, `${WALLET_FILE}.keys`)) && !existsSync(marker)
    const credentials = { filename: WALLET_FILE, password: walletPasswordOf(options.keys) }
    const isOpened = isComplete && (await ask('open_wallet', credentials, START_MS)).kind === 'result'
    if (!isOpened) await restore(ask, options)
    writeFileSync(marker, '')
    const wallet = createWallet(ask, join(folder, INDEX_FILE))
    // Before the first refresh, to avoid a second scan.
    if (!isOpened) await wallet.extendLookahead(readHighestIndex(join(folder, INDEX_FILE)))
    checked('refresh', await ask('refresh', {}, SCAN_MS))
    checked('auto_refresh', await ask('auto_refresh', { enable: true }))
    return { child, wallet, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function waitUntilReady(ask: Ask, child: WalletChild): Promise<void> {
  const deadline = Date.now() + START_MS
  while ((await ask('get_version', {}, 1_000)).kind !== 'result') {
    if (child.exitReason() !== null || Date.now() > deadline)
      throw unavailable('start', child.exitReason() ?? 'no answer')
    await delay(50)
  }
}

async function restore(ask: Ask, options: WalletOptions): Promise<void> {
  const { folder, keys, restoreHeight } = options
  for (const suffix of ['', '.keys', '.address.txt']) rmSync(join(folder, `${WALLET_FILE}${suffix}`), { force: true })
  assert(keys.spend !== null, 'only a process with the seed restores a wallet')
  const wallet = {
    filename: WALLET_FILE,
    address: createAddresses(keys).hot(),
    viewkey: toHex(bytesOf(keys.view, 32)),
    spendkey: toHex(bytesOf(keys.spend, 32)),
    password: walletPasswordOf(keys),
    restore_height: restoreHeight,
  }
  checked('generate_from_keys', await ask('generate_from_keys', wallet, START_MS))
}

function createAsk(http: ReturnType<typeof createHttp>, { url, login }: WalletChild): Ask {
  const path = '/json_rpc'
  return async (method, params = {}, timeoutMs = BUILD_MS) => {
    let authorization: string | null = null
    for (let attempt = 0; ; attempt++) {
      const headers = authorization === null ? {} : { authorization }
      const answer = await post(http, `${url}${path}`, call(method, params), { headers, timeoutMs })
      if (answer.kind !== 'unknown' || answer.unauthorized === undefined || attempt === CHALLENGES_MAX) return answer
      authorization = answerChallenge(answer.unauthorized, login, path)
    }
  }
}

const unavailable = (method: string, detail: string) =>
  new AppError('NETWORK_UNAVAILABLE', 'the wallet of the network is not available now', {
    cause: new Error(`monero-wallet-rpc ${method}: ${detail}`),
  })

function checked(method: string, answer: Answer): Readonly<Record<string, unknown>> {
  if (answer.kind === 'result') return answer.result
  throw unavailable(method, answer.kind === 'error' ? `${answer.code} ${answer.message}` : answer.reason)
}

/** 0 without a valid file: later builds extend the lookahead again. */
function readHighestIndex(file: string): number {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return /^\d{1,9}$/.test(text) ? Number.parseInt(text, 10) : 0
}

function createWallet(ask: Ask, indexFile: string): Wallet {
  const request = async (method: string, params?: Readonly<Record<string, unknown>>, timeoutMs?: number) =>
    checked(method, await ask(method, params, timeoutMs))
  let addresses: number | null = null
  return {
    outputs: async (refresh) => {
      await request('refresh', {}, refresh === 'slow' ? SCAN_MS : BUILD_MS)
      const { transfers } = await request('incoming_transfers', { transfer_type: 'available' })
      return new Map(readList(transfers).map(readOutput))
    },
    listSpent: async (indexes) => {
      // An empty list would mean all.
      if (indexes.length === 0) return new Set()
      const { transfers } = await request('incoming_transfers', {
        transfer_type: 'unavailable',
        account_index: 0,
        subaddr_indices: indexes,
      })
      return new Set(readList(transfers).map((one) => readHash(readEntry(one)['key_image'])))
    },
    extendLookahead: async (index) => {
      addresses ??= readList((await request('get_address', { account_index: 0 }))['addresses']).length
      if (index + LOOKAHEAD < addresses + SCANNED_BEYOND) return
      while (addresses + SCANNED_BEYOND <= index + LOOKAHEAD) {
        await request('create_address', { account_index: 0, count: ADDRESSES_MAX }, LOOKAHEAD_MS)
        addresses += ADDRESSES_MAX
      }
      writeFileSync(indexFile, String(index))
    },
    scan: async (txHashes) => void (await request('scan_tx', { txids: txHashes }, SCAN_MS)),
    rescan: async () => void (await request('rescan_blockchain', {}, SCAN_MS)),
    setFrozen: async (keyImage, frozen) => void (await request(frozen ? 'freeze' : 'thaw', { key_image: keyImage })),
    transfer: async (destinations) => {
      const answer = await ask('transfer', {
        destinations: destinations.map(({ address, units }) => ({ address, amount: units })),
        account_index: 0,
        priority: 1,
        do_not_relay: true,
        get_tx_hex: true,
        get_tx_key: true,
      })
      if (answer.kind === 'error' && NOT_COVERED.includes(answer.code))
        throw new AppError('INSUFFICIENT_LIQUIDITY', 'the spendable outputs do not cover the payment and its fee', {
          cause: new Error(answer.message),
        })
      return readBuilt(checked('transfer', answer))
    },
  }
}

function readOutput(value: unknown): readonly [string, WalletOutput] {
  const entry = readEntry(value)
  const { unlocked, frozen, amount } = entry
  const output: WalletOutput = {
    units: readUnits(amount),
    globalIndex: readUnits(entry['global_index']),
    key: readHash(entry['pubkey']),
    unlocked: unlocked === true,
    frozen: frozen === true,
    txHash: readHash(entry['tx_hash']),
    index: readInteger(readEntry(entry['subaddr_index'])['minor']),
  }
  return [readHash(entry['key_image']), output]
}

function readBuilt(reply: Readonly<Record<string, unknown>>): BuiltTransaction {
  const secrets = toHex(readHex(reply['tx_key'])).match(/.{64}/g) ?? []
  const { key_images: keyImages } = readEntry(reply['spent_key_images'])
  return {
    raw: toHex(readHex(reply['tx_blob'])),
    secrets,
    feeUnits: readUnits(reply['fee']),
    keyImages: readList(keyImages).map(readHash),
  }
}
