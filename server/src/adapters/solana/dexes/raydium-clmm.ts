import { base58 } from '@scure/base'
import {
  type ClmmPoolState,
  clmmArrayStart,
  decodeClmmConfig,
  decodeClmmExtension,
  decodeClmmPool,
  decodeClmmTickArray,
  hasClmmOrders,
} from '@swapyard/lib/pools/solana/raydium-clmm-accounts.ts'
import { CLMM_ERROR } from '@swapyard/lib/pools/solana/raydium-clmm-error.ts'
import type { RaydiumClmmRoutePool } from '../../../swap/routing/pools/solana/raydium-clmm.ts'
import { readonly, signer, writable } from '../instructions.ts'
import { deriveOnce, memoProgram, token2022Program, tokenProgram } from '../program-address.ts'
import {
  addressAt,
  decodeAmounts,
  encodeCall,
  type FindAccount,
  type PoolReading,
  placesAround,
  type SolanaDex,
} from './solana-dex.ts'

const program = 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'
/** First 8 bytes of sha256("global:swap") and sha256("global:swap_v2"). */
const SWAP = Buffer.from('f8c69e91e17587c8', 'hex')
const SWAP_V2 = Buffer.from('2b04ed0b1ac91e62', 'hex')
/** No limit of the price, and the amount is the input. */
const NO_LIMIT_BASE_INPUT = Buffer.concat([Buffer.alloc(16), Buffer.from([1])])
const SWAP_BYTES = 41

/* Offsets in the account of a pool. */
const CONFIG = 9
const OBSERVATION = 201
const FEE_ON = 390
const DYNAMIC_FEE = 1096
const SWAP_DISABLED = 1 << 4

const extensionOf = (pool: string): string =>
  deriveOnce(program, [Buffer.from('pool_tick_array_bitmap_extension'), base58.decode(pool)])

function arrayOf(pool: string, start: number): string {
  const seed = Buffer.alloc(4)
  seed.writeInt32BE(start)
  return deriveOnce(program, [Buffer.from('tick_array'), base58.decode(pool), seed])
}

function readExtension(address: string, { tickSpacing }: ClmmPoolState, account: FindAccount): readonly number[] {
  const data = account(extensionOf(address))
  return data === null ? [] : decodeClmmExtension(data, tickSpacing)
}

/** Start ticks of the tick arrays beside the price. */
function arraysAround(state: ClmmPoolState, extension: readonly number[]): readonly number[] {
  const starts = [...state.arrayStarts, ...extension].sort((a, b) => a - b)
  return placesAround(starts, clmmArrayStart(state.tickCurrent, state.tickSpacing))
}

/** Whether anyone can swap now. The maths knows no fees in one token only and no dynamic fees (of May 2026). */
const isTradable = (data: Buffer, { status, openTime }: ClmmPoolState, unixTime: bigint): boolean =>
  (status & SWAP_DISABLED) === 0 &&
  openTime <= unixTime &&
  data[FEE_ON] === 0 &&
  data.subarray(DYNAMIC_FEE).every((byte) => byte === 0)

function read({ identity, data, transferFees, account, unixTime }: PoolReading): RaydiumClmmRoutePool | null {
  const { address } = identity
  const state = decodeClmmPool(data)
  const [config, extensionStarts] = [account(addressAt(data, CONFIG)), readExtension(address, state, account)]
  if (config === null || !isTradable(data, state, unixTime)) return null
  const arrays = arraysAround(state, extensionStarts).map((start) => ({ start, address: arrayOf(address, start) }))
  const contents = arrays.flatMap((one) => account(one.address) ?? [])
  // The maths knows no limit orders (of May 2026), which swaps fill before they cross a tick.
  if (contents.length < arrays.length || contents.some(hasClmmOrders)) return null
  const tickArrays = new Map(contents.map(decodeClmmTickArray).map((array) => [array.startTick, array]))
  return {
    ...identity,
    kind: 'raydium-clmm',
    state: { config: decodeClmmConfig(config), state, extensionStarts, tickArrays, transferFees },
    ...{ config: addressAt(data, CONFIG), observation: addressAt(data, OBSERVATION), arrays },
    extension: extensionStarts.length === 0 ? null : extensionOf(address),
  }
}

export const raydiumClmmDex: SolanaDex<RaydiumClmmRoutePool> = {
  kind: 'raydium-clmm',
  program,
  title: 'Raydium CLMM',
  filters: [{ dataSize: 1544 }],
  mintsAt: [73, 105],
  vaultsAt: [137, 169],
  accountsOf(address, data, account) {
    const state = decodeClmmPool(data)
    const starts = arraysAround(state, readExtension(address, state, account))
    return [addressAt(data, CONFIG), extensionOf(address), ...starts.map((start) => arrayOf(address, start))]
  },
  read,
  swap(pool, { owner, source, target, tokenIn, amountIn, minOut }) {
    const tokenOut = tokenIn === 0 ? 1 : 0
    // In the order of the swap; the program skips those before the current one.
    const arrays = (tokenIn === 0 ? pool.arrays.toReversed() : pool.arrays).map(({ address }) => writable(address))
    const extension = pool.extension === null ? [] : [readonly(pool.extension)]
    // The older instruction names fewer accounts, and serves mints of SPL Token alone.
    const isOlder = pool.programs.every((one) => one === tokenProgram)
    return {
      program,
      accounts: [
        ...[signer(owner), readonly(pool.config), writable(pool.address), writable(source), writable(target)],
        ...[writable(pool.vaults[tokenIn]), writable(pool.vaults[tokenOut]), writable(pool.observation)],
        readonly(tokenProgram),
        ...(isOlder
          ? [...arrays.slice(0, 1), ...extension, ...arrays.slice(1)]
          : [
              ...[readonly(token2022Program), readonly(memoProgram)],
              ...[readonly(pool.tokens[tokenIn] ?? ''), readonly(pool.tokens[tokenOut] ?? '')],
              ...[...extension, ...arrays],
            ]),
      ],
      data: encodeCall(isOlder ? SWAP : SWAP_V2, [amountIn, minOut], NO_LIMIT_BASE_INPUT),
    }
  },
  readSwap(instruction) {
    const amounts = decodeAmounts(instruction, SWAP, SWAP_BYTES) ?? decodeAmounts(instruction, SWAP_V2, SWAP_BYTES)
    const isBaseInput = instruction.data[SWAP_BYTES - 1] === 1
    const at = (index: number) => instruction.accounts[index]?.address ?? ''
    return amounts && isBaseInput ? { pool: at(2), source: at(3), target: at(4), ...amounts } : null
  },
  errors: {
    [CLMM_ERROR.notApproved]: 'the pool is not open for swaps',
    [CLMM_ERROR.notEnoughTickArrayAccount]: 'the price has left the ticks that the transaction names',
    [CLMM_ERROR.invalidFirstTickArrayAccount]: 'the price has left the ticks that the transaction names',
  },
  belowMinimum: [CLMM_ERROR.tooLittleOutputReceived],
}
