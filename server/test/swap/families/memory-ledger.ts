import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { AppError } from '../../../src/core/domain/errors.ts'
import { executeRoute, type RouteSwap } from '../../../src/swap/routing/execute.ts'
import { swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import type { UniswapV2Pool } from '../../../src/swap/routing/pools/uniswap-v2.ts'
import type { MemoryFamily } from './memory-families.ts'

/** Blocks for which a transaction may name a recent block, and blocks of an epoch. */
export const WINDOW = 15
export const EPOCH = 20
const PPM = 1_000_000n

export type Step = Readonly<{ pool: string; tokenIn: number; tokenOut: number; share: number }>
export type SwapTransaction = Readonly<{
  kind: 'swap'
  network: string
  account: string
  recipient: string
  tokenIn: string
  tokenOut: string
  amountIn: string
  minReceived: string
  feePpm: number
  feeTo: string | null
  steps: readonly Step[]
  /** Contains the reference. */
  memo: string
  /** Height of a recent block. */
  recent: number
  /** The last epoch in which it is valid; null: its validity follows from `recent`. */
  epoch: number | null
}>
export type Transfer = Readonly<{ kind: 'transfer'; network: string; to: string; recent: number; epoch: number | null }>
export type Transaction = SwapTransaction | Transfer
export type Signed = Readonly<{ transaction: Transaction; signer: string; hash: string }>
type Paid = Readonly<{ received: bigint; fee: bigint }>
type Included = Signed & Readonly<{ height: number; paid: Paid | null }>

const toText = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')
const fromText = (text: string) => JSON.parse(Buffer.from(text, 'base64').toString('utf8'))
export const encodeUnsigned: (transaction: Transaction) => string = toText
export const decodeUnsigned: (text: string) => Transaction = fromText

/** Hash of what a swap does: all of it except its reference and the recent block. */
export const callHashOf = (transaction: SwapTransaction): string =>
  createHash('sha256')
    .update(JSON.stringify({ ...transaction, memo: '', recent: 0 }))
    .digest('base64')

export type Wallet = Readonly<{ address: string; sign(unsigned: string, changes?: object): string }>

export function createWallet({ addressOf }: MemoryFamily): Wallet {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = publicKey.export({ format: 'jwk' }).x ?? ''
  return {
    address: addressOf(Buffer.from(key, 'base64url')),
    sign: (unsigned, changes = {}) => {
      const message = encodeUnsigned({ ...decodeUnsigned(unsigned), ...changes })
      const signature = sign(null, Buffer.from(message), privateKey).toString('base64')
      return toText({ message, key, signature })
    },
  }
}

/** One network in memory: its blocks, balances and pools. Blocks are mined by the test. */
export function createMemoryLedger(family: MemoryFamily, initial: readonly UniswapV2Pool[]) {
  const { network } = family
  const pools = new Map(initial.map((pool) => [pool.id, pool]))
  const balances = new Map<string, bigint>()
  const included = new Map<string, Included>()
  const pending = new Map<string, Signed>()
  const state = { height: 100, isLosing: false, broadcasts: 0 }
  const keyOf = (account: string, token: string) => `${account} ${token}`
  const balanceOf = (account: string, token: string) => balances.get(keyOf(account, token)) ?? 0n
  const add = (account: string, token: string, units: bigint) =>
    void balances.set(keyOf(account, token), balanceOf(account, token) + units)

  const isValidAt = ({ recent, epoch }: Transaction, height: number): boolean =>
    epoch === null ? height <= recent + WINDOW : Math.floor(height / EPOCH) <= epoch

  /** Amounts of a swap at the present pools, with the pools after it; null if it would fail. */
  function simulate(swap: SwapTransaction) {
    const route = swap.steps.map(({ pool, ...step }): RouteSwap => {
      const found = pools.get(pool)
      if (found === undefined) throw new Error(`no pool ${pool}`)
      return { pool: found, ...step }
    })
    const executed = executeRoute(route, swap.tokenIn, swap.tokenOut, BigInt(swap.amountIn))
    if (executed.amountOut === null) return null
    const fee = (executed.amountOut * BigInt(swap.feePpm)) / PPM
    const after = new Map(pools)
    for (const { pool, tokenIn, tokenOut, amountIn } of executed.swaps) {
      const swapped = swapExact(after.get(pool.id) ?? pool, tokenIn, tokenOut, amountIn)
      if (swapped !== null) after.set(pool.id, swapped.next as UniswapV2Pool)
    }
    return { received: executed.amountOut - fee, fee, after }
  }

  function execute(swap: SwapTransaction): Paid | null {
    const units = BigInt(swap.amountIn)
    const paid = simulate(swap)
    if (balanceOf(swap.account, swap.tokenIn) < units || paid === null) return null
    if (paid.received < BigInt(swap.minReceived)) return null
    add(swap.account, swap.tokenIn, -units)
    add(swap.recipient, swap.tokenOut, paid.received)
    if (swap.feeTo !== null) add(swap.feeTo, swap.tokenOut, paid.fee)
    for (const [id, pool] of paid.after) pools.set(id, pool)
    return { received: paid.received, fee: paid.fee }
  }

  function mineOne(): void {
    state.height++
    for (const [hash, signed] of pending) {
      pending.delete(hash)
      const { transaction } = signed
      if (!isValidAt(transaction, state.height)) continue
      const paid = transaction.kind === 'swap' ? execute(transaction) : { received: 0n, fee: 0n }
      included.set(hash, { ...signed, height: state.height, paid })
    }
  }

  return {
    network,
    state,
    included,
    pending,
    balanceOf,
    add,
    simulate,
    isValidAt,
    pools: () => [...pools.values()],
    movePool: (pool: UniswapV2Pool) => void pools.set(pool.id, pool),
    block: () => ({ height: state.height, hash: `block ${state.height}` }),
    finalHeight: () => state.height - network.finalityBlocks + 1,
    mine(blocks = 1): void {
      for (let n = 0; n < blocks; n++) mineOne()
    },
    /** Takes a transaction into the next block, or loses it. */
    accept(signed: Signed): void {
      state.broadcasts++
      if (!state.isLosing) pending.set(signed.hash, signed)
    },
    read(raw: string): Signed {
      const invalid = () =>
        new AppError('RAW_TX_INVALID', 'the signed transaction cannot be used: it cannot be decoded')
      try {
        const { message, key, signature } = fromText(raw) as Record<'message' | 'key' | 'signature', string>
        const bytes = Buffer.from(signature, 'base64')
        const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' })
        if (!verify(null, Buffer.from(message), publicKey, bytes)) throw invalid()
        const signer = family.addressOf(Buffer.from(key, 'base64url'))
        return { transaction: decodeUnsigned(message), signer, hash: family.hashOf(bytes) }
      } catch {
        throw invalid()
      }
    },
  }
}

export type MemoryLedger = ReturnType<typeof createMemoryLedger>
