import { base58 } from '@scure/base'
import {
  type DlmmPair,
  decodeDlmmBinArray,
  decodeDlmmExtension,
  decodeDlmmPair,
  dlmmArrayIndex,
} from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import { DLMM_ERROR } from '@swapyard/lib/pools/solana/meteora-dlmm-error.ts'
import type { MeteoraDlmmRoutePool } from '../../../swap/routing/pools/solana/meteora-dlmm.ts'
import { readonly, signer, writable } from '../instructions.ts'
import { deriveOnce, memoProgram } from '../program-address.ts'
import {
  addressAt,
  decodeAmounts,
  encodeCall,
  type FindAccount,
  type PoolReading,
  placesAround,
  type SolanaDex,
} from './solana-dex.ts'

const program = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'
/** The program's address for the seed `__event_authority`. */
const eventAuthority = 'D1ZN9Wj1fRSUQfCjhvnu1hqDMT7hzjzBBpi12nVniYD6'
/** First 8 bytes of sha256("global:swap2"). */
const SWAP2 = Buffer.from('414b3f4ceb5b5b88', 'hex')
/** No slices of accounts for transfer hooks. */
const NO_SLICES = Buffer.alloc(4)
const SWAP2_BYTES = 28

const PAIR_BYTES = 904
const ORACLE = 552

const extensionOf = (pair: string): string => deriveOnce(program, [Buffer.from('bitmap'), base58.decode(pair)])

function arrayOf(pair: string, index: number): string {
  const seed = Buffer.alloc(8)
  seed.writeBigInt64LE(BigInt(index))
  return deriveOnce(program, [Buffer.from('bin_array'), base58.decode(pair), seed])
}

function readExtension(address: string, account: FindAccount): readonly number[] {
  const data = account(extensionOf(address))
  return data === null ? [] : decodeDlmmExtension(data)
}

/** Indexes of the bin arrays beside the price. */
function arraysAround({ arrayIndexes, activeId }: DlmmPair, extension: readonly number[]): readonly number[] {
  const indexes = [...arrayIndexes, ...extension].sort((a, b) => a - b)
  return placesAround(indexes, dlmmArrayIndex(activeId))
}

const isOpen = ({ isEnabled, activation }: DlmmPair, { slot, unixTime }: PoolReading): boolean =>
  isEnabled && (activation === null || (activation.isSlot ? slot : unixTime) >= activation.point)

function read(reading: PoolReading): MeteoraDlmmRoutePool | null {
  const { identity, data, balances, transferFees, account, unixTime, slot } = reading
  const { address } = identity
  const pair = decodeDlmmPair(data)
  const extensionIndexes = readExtension(address, account)
  if (!isOpen(pair, reading)) return null
  const arrays = arraysAround(pair, extensionIndexes).map((index) => ({ index, address: arrayOf(address, index) }))
  const contents = arrays.flatMap((one) => account(one.address) ?? [])
  if (contents.length < arrays.length) return null
  const binArrays = new Map(contents.map(decodeDlmmBinArray).map((array) => [array.index, array]))
  return {
    ...identity,
    kind: 'meteora-dlmm',
    state: { pair, extensionIndexes, binArrays, reserves: balances, transferFees },
    ...{ unixTime, slot, oracle: addressAt(data, ORACLE), arrays },
    extension: extensionIndexes.length === 0 ? null : extensionOf(address),
  }
}

export const meteoraDlmmDex: SolanaDex<MeteoraDlmmRoutePool> = {
  kind: 'meteora-dlmm',
  program,
  title: 'Meteora DLMM',
  filters: [{ dataSize: PAIR_BYTES }],
  mintsAt: [88, 120],
  vaultsAt: [152, 184],
  accountsOf: (address, data, account) => [
    extensionOf(address),
    ...arraysAround(decodeDlmmPair(data), readExtension(address, account)).map((index) => arrayOf(address, index)),
  ],
  read,
  /** The variable fee decreases when the filter period and the decay period since the last swap end. */
  phaseOf(data, unixTime) {
    const { filterPeriod, decayPeriod, volatility } = decodeDlmmPair(data)
    const elapsed = unixTime - volatility.lastUpdate
    return elapsed < BigInt(filterPeriod) ? 0 : elapsed < BigInt(decayPeriod) ? 1 : 2
  },
  swap(pool, { owner, source, target, amountIn, minOut }) {
    const [x = '', y = ''] = pool.tokens
    return {
      program,
      accounts: [
        ...[writable(pool.address), pool.extension === null ? readonly(program) : writable(pool.extension)],
        ...[writable(pool.vaults[0]), writable(pool.vaults[1]), writable(source), writable(target)],
        // The second one stands for the account of a host, who would get a part of the fee.
        ...[readonly(x), readonly(y), writable(pool.oracle), readonly(program), signer(owner)],
        ...[readonly(pool.programs[0]), readonly(pool.programs[1]), readonly(memoProgram)],
        ...[readonly(eventAuthority), readonly(program)],
        ...pool.arrays.map(({ address }) => writable(address)),
      ],
      data: encodeCall(SWAP2, [amountIn, minOut], NO_SLICES),
    }
  },
  readSwap(instruction) {
    const amounts = decodeAmounts(instruction, SWAP2, SWAP2_BYTES)
    const at = (index: number) => instruction.accounts[index]?.address ?? ''
    return amounts && { pool: at(0), source: at(4), target: at(5), ...amounts }
  },
  errors: {
    [DLMM_ERROR.accountNotEnoughKeys]: 'the price has left the bins that the transaction names',
    [DLMM_ERROR.poolDisabled]: 'the pool is not open for swaps',
  },
  belowMinimum: [DLMM_ERROR.exceededAmountSlippageTolerance],
}
