import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../../core/domain/errors.ts'
import { assert } from '../../../lib/assert.ts'
import { createHttp } from '../../../lib/http.ts'
import { createAddresses } from './address.ts'
import { answerChallenge } from './digest.ts'
import { bytesOf } from './ed25519.ts'
import type { WalletKeys } from './keys.ts'
import { type Answer, call, post, readEntry, readHash, readHex, readList, readUnits } from './rpc.ts'
import { toHex } from './transaction.ts'
import { startWalletChild, type WalletChild } from './wallet-child.ts'

/** An output as the wallet knows it. */
export type WalletOutput = Readonly<{ units: bigint; unlocked: boolean; frozen: boolean }>

/** A transaction that was built and relayed to nobody. */
export type BuiltTransaction = Readonly<{
  raw: string
  secrets: readonly string[]
  feeUnits: bigint
  keyImages: readonly string[]
}>

/** The house's wallet of its own, which builds what is spent. What it remembers of the chain is used for that alone. */
export type Wallet = Readonly<{
  /** Everything unspent, by key image, at the daemon's head: however long the way there is, where it is said to be long. */
  outputs(way?: 'long'): Promise<ReadonlyMap<string, WalletOutput>>
  /** Looks from now on for subaddresses up to this index and well beyond it. */
  extendLookahead(index: number): Promise<void>
  /** Looks into these transactions again, for addresses that it did not know when they came. */
  scan(txHashes: readonly string[]): Promise<void>
  /** Reads the chain again from the restore height on. */
  rescan(): Promise<void>
  setFrozen(keyImage: string, frozen: boolean): Promise<void>
  transfer(destinations: readonly { address: string; units: bigint }[]): Promise<BuiltTransaction>
}>

export type WalletSession = Readonly<{
  /** One at a time. Opens the wallet first where it is not open. */
  run<T>(work: (wallet: Wallet) => Promise<T>): Promise<T>
  /** For who cannot wait: where it is not open, that is begun, and NETWORK_UNAVAILABLE. */
  runIfOpen<T>(work: (wallet: Wallet) => Promise<T>): Promise<T>
  close(): Promise<void>
}>

export type WalletOptions = Readonly<{
  keys: WalletKeys
  /** A cache: without it the wallet is made anew from the keys. */
  folder: string
  daemonUrl: string
  /** No payment to the house lies below it. */
  restoreHeight: number
}>

const NAME = 'house'
/** The highest index that was looked for, for the next wallet from these keys. */
const WIDTH = 'highest-index'
const START_MS = 60_000
/** Within a transaction of the database, which may be idle for 15 s. */
const BUILD_MS = 10_000
/** To make some addresses, on a busy machine. */
const WIDEN_MS = 60_000
/** A rescan of the real chain takes hours from its beginning: set the restore height. */
const SCAN_MS = 12 * 3_600_000
const CHALLENGES_MAX = 3
/** Subaddresses that are looked for beyond the highest that was paid: of those given out, many are never paid to. */
const WIDEN_BY = 512
/** What one call makes (wallet_rpc_server.cpp). */
const ADDRESSES_MAX = 64
/** wallet_rpc_server_error_codes.h: too large, not enough money, not enough unlocked money. */
const NOT_COVERED: readonly number[] = [-4, -17, -37]

export function createWalletSession(options: WalletOptions): WalletSession {
  let opened: Promise<{ child: WalletChild; wallet: Wallet; close(): Promise<void> }> | null = null
  let tail: Promise<unknown> = Promise.resolve()
  let closed = false
  let isOpen = false

  const current = async () => {
    assert(!closed, 'the wallet is not closed')
    const before = await opened?.catch(() => null)
    if (before && before.child.ended() === null) return before.wallet
    isOpen = false
    await before?.close()
    opened = openWallet(options)
    const { wallet } = await opened
    isOpen = true
    return wallet
  }
  const use: WalletSession['use'] = (work) => {
    const turn = tail.then(async () => work(await current()))
    tail = turn.catch(() => undefined)
    return turn
  }
  return {
    use,
    useOpen: (work) => {
      if (isOpen) return use(work)
      // Nobody waits for it here; who comes next sees whether it worked.
      use(async () => undefined).catch(() => undefined)
      throw unavailable('open', 'it is not open yet')
    },
    close: async () => {
      closed = true
      await (await opened?.catch(() => null))?.close()
    },
  }
}

type Ask = (method: string, params?: Readonly<Record<string, unknown>>, timeoutMs?: number) => Promise<Answer>

async function openWallet(options: WalletOptions) {
  const { folder, daemonUrl } = options
  const child = await startWalletChild(folder, daemonUrl)
  // A challenge of its login holds for the connection that it came by.
  const http = createHttp({ connections: 1 })
  const ask = createAsk(http, child)
  const marker = join(folder, 'open')
  const close = async () => {
    const wasRunning = child.ended() === null
    await child.stop()
    await http.close()
    // It has written its file. What ended by itself may have not.
    if (wasRunning) rmSync(marker, { force: true })
  }
  try {
    await answering(ask, child)
    // Else it begins to read the chain by itself, before it is told what to look for.
    checked('auto_refresh', await ask('auto_refresh', { enable: false }))
    // Left behind by a crash: what the file remembers may be half written, and the chain is the truth.
    const isSound = existsSync(join(folder, `${NAME}.keys`)) && !existsSync(marker)
    const credentials = { filename: NAME, password: passwordOf(options) }
    const isThere = isSound && (await ask('open_wallet', credentials, START_MS)).kind === 'result'
    if (!isThere) await restore(ask, options)
    writeFileSync(marker, '')
    const wallet = createWallet(ask, join(folder, WIDTH))
    // What it does not look for then costs a second reading.
    if (!isThere) await wallet.widen(widthOf(join(folder, WIDTH)))
    checked('refresh', await ask('refresh', {}, SCAN_MS))
    checked('auto_refresh', await ask('auto_refresh', { enable: true }))
    return { child, wallet, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function answering(ask: Ask, child: WalletChild): Promise<void> {
  const deadline = Date.now() + START_MS
  while ((await ask('get_version', {}, 1_000)).kind !== 'result') {
    if (child.ended() !== null || Date.now() > deadline) throw unavailable('start', child.ended() ?? 'no answer')
    await delay(50)
  }
}

/** The file's password follows from the key in it: it keeps nothing from whoever has the seed, and all from others. */
const passwordOf = ({ keys }: WalletOptions): string => toHex(bytesOf(keys.view, 32))

async function restore(ask: Ask, options: WalletOptions): Promise<void> {
  const { folder, keys, restoreHeight } = options
  for (const end of ['', '.keys', '.address.txt']) rmSync(join(folder, `${NAME}${end}`), { force: true })
  assert(keys.spend !== null, 'a wallet is made where the seed is')
  const wallet = {
    filename: NAME,
    address: createAddresses(keys).hot(),
    viewkey: toHex(bytesOf(keys.view, 32)),
    spendkey: toHex(bytesOf(keys.spend, 32)),
    password: passwordOf(options),
    restore_height: restoreHeight,
  }
  checked('generate_from_keys', await ask('generate_from_keys', wallet, START_MS))
}

function createAsk(http: ReturnType<typeof createHttp>, { url, login }: WalletChild): Ask {
  const path = '/json_rpc'
  return async (method, params = {}, timeoutMs = BUILD_MS) => {
    let authorization: string | null = null
    for (let tries = 0; ; tries++) {
      const headers = authorization === null ? {} : { authorization }
      const answer = await post(http, `${url}${path}`, call(method, params), { headers, timeoutMs })
      if (answer.kind !== 'unknown' || answer.unauthorized === undefined || tries === CHALLENGES_MAX) return answer
      authorization = answerChallenge(answer.unauthorized, login, path)
    }
  }
}

const unavailable = (method: string, detail: string) =>
  new AppError('NETWORK_UNAVAILABLE', 'the wallet of the network cannot be used now', {
    cause: new Error(`monero-wallet-rpc ${method}: ${detail}`),
  })

function checked(method: string, answer: Answer): Readonly<Record<string, unknown>> {
  if (answer.kind === 'result') return answer.result
  throw unavailable(method, answer.kind === 'error' ? `${answer.code} ${answer.message}` : answer.reason)
}

/** 0 where nothing, or nothing that makes sense, is written there: then it is found out again. */
function widthOf(file: string): number {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return /^\d{1,9}$/.test(text) ? Number.parseInt(text, 10) : 0
}

function createWallet(ask: Ask, widthFile: string): Wallet {
  const done = async (method: string, params?: Readonly<Record<string, unknown>>, timeoutMs?: number) =>
    checked(method, await ask(method, params, timeoutMs))
  let addresses: number | null = null
  return {
    outputs: async (way) => {
      await done('refresh', {}, way === 'long' ? SCAN_MS : BUILD_MS)
      const { transfers } = await done('incoming_transfers', { transfer_type: 'available' })
      return new Map(readList(transfers).map(readOutput))
    },
    widen: async (index) => {
      addresses ??= readList((await done('get_address', { account_index: 0 }))['addresses']).length
      if (index + WIDEN_BY / 2 <= addresses) return
      while (addresses < index + WIDEN_BY) {
        await done('create_address', { account_index: 0, count: ADDRESSES_MAX }, WIDEN_MS)
        addresses += ADDRESSES_MAX
      }
      writeFileSync(widthFile, String(index))
    },
    scan: async (txHashes) => void (await done('scan_tx', { txids: txHashes }, SCAN_MS)),
    rescan: async () => void (await done('rescan_blockchain', {}, SCAN_MS)),
    freeze: async (keyImage, frozen) => void (await done(frozen ? 'freeze' : 'thaw', { key_image: keyImage })),
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
        throw new AppError('INSUFFICIENT_LIQUIDITY', 'the coins at hand do not cover the payment and its fee', {
          cause: new Error(answer.message),
        })
      return readBuilt(checked('transfer', answer))
    },
  }
}

function readOutput(value: unknown): readonly [string, WalletOutput] {
  const entry = readEntry(value)
  const { unlocked, frozen, amount } = entry
  return [
    readHash(entry['key_image']),
    { units: readUnits(amount), unlocked: unlocked === true, frozen: frozen === true },
  ]
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
