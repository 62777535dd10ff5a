import type { Address, MaybeEncodedAccount } from '@solana/kit'
import { type ClmmPool, swapRaydiumClmm } from '@swapyard/lib/pools/solana/raydium-clmm.ts'
import {
  type ClmmTickArray,
  clmmArrayStart,
  decodeClmmConfig,
  decodeClmmExtension,
  decodeClmmPool,
  decodeClmmTickArray,
} from '@swapyard/lib/pools/solana/raydium-clmm-accounts.ts'
import { clmmSqrtPriceAtTick, clmmTickAtSqrtPrice } from '@swapyard/lib/pools/solana/raydium-clmm-tick.ts'
import { vaultAccounts } from '../genesis-accounts.ts'
import { token2022Program, tokenProgram } from '../token-state.ts'
import {
  ANCHOR,
  addressAt,
  addressesAt,
  codeOf,
  type DexClock,
  type DexInstruction,
  type DexOutcome,
  type DexProgram,
  memoProgram,
  ownerOf,
  type ReadAccount,
  readOwned,
  readTransferFees,
  writeU128,
} from './dex-program.ts'
import {
  accountAt,
  addressOf,
  bytesOf,
  derive,
  encodeCall,
  type MarketPool,
  meta,
  type PoolPlan,
  put,
  setBit,
} from './market-pool.ts'

const program = 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK' as Address

/** First 8 bytes of sha256("global:swap") and sha256("global:swap_v2"). */
const swap = Buffer.from('f8c69e91e17587c8', 'hex')
const swapV2 = Buffer.from('2b04ed0b1ac91e62', 'hex')
const swapBytes = 41
/** First 8 bytes of the hashes of the accounts' names. */
const marks = {
  pool: Buffer.from('f7ede3f5d7c3de46', 'hex'),
  config: Buffer.from('daf42168cbcb2b6f', 'hex'),
  tickArray: Buffer.from('c09b55cd31f9812a', 'hex'),
  extension: Buffer.from('3c9624db61808b99', 'hex'),
}

/** Offsets in the account of a pool. */
const at = {
  config: 9,
  mints: [73, 105],
  vaults: [137, 169],
  observation: 201,
  decimals: [233, 234],
  tickSpacing: 235,
  liquidity: 237,
  sqrtPrice: 253,
  tick: 269,
  feeGrowth: [277, 293],
  protocolFees: [309, 317],
  swapIn: [325, 357],
  swapOut: [373, 341],
  bitmap: 904,
  totalFees: [1032, 1048],
  fundFees: [1064, 1072],
} as const
const poolBytes = 1544
const ticksAt = 44
const tickBytes = 168
const invalidVault = 2003

/** The observation account is not updated: no swap reads it. */
export const raydiumClmm: DexProgram = { address: program, title: 'swap and swap_v2 of Raydium CLMM', execute }

type Arrays = Readonly<{
  addresses: ReadonlyMap<number, Address>
  data: ReadonlyMap<number, Buffer>
  extension: Buffer | null
}>

/** The accounts after those that every swap has: the bitmap extension and tick arrays of the pool. Null for any other account. */
function readArrays(read: ReadAccount, pool: Address, accounts: readonly Address[]): Arrays | null {
  const addresses = new Map<number, Address>()
  const data = new Map<number, Buffer>()
  let extension: Buffer | null = null
  for (const address of accounts) {
    const content = readOwned(read, address, program)
    if (content === null || addressAt(content, 8) !== pool) return null
    if (content.subarray(0, 8).equals(marks.extension)) extension = content
    else if (content.subarray(0, 8).equals(marks.tickArray)) {
      const start = content.readInt32LE(40)
      addresses.set(start, address)
      data.set(start, content)
    } else return null
  }
  return { addresses, data, extension }
}

function execute({ accounts, data: given, signers }: DexInstruction, read: ReadAccount, clock: DexClock): DexOutcome {
  const data = Buffer.from(given)
  const isOlder = data.subarray(0, 8).equals(swap)
  if (!isOlder && !data.subarray(0, 8).equals(swapV2)) return { error: ANCHOR.unknownInstruction }
  if (data.length !== swapBytes) return { error: ANCHOR.unknownInstruction }
  const [payer, config, poolAddress, source, target, vaultIn, vaultOut, observation, spl, ...rest] = accounts
  if (!payer || !config || !poolAddress || !source || !target || !vaultIn || !vaultOut || !spl)
    return { error: ANCHOR.notEnoughAccounts }
  if (!signers.has(payer)) return { error: ANCHOR.notSigner }
  const [pool, configData] = [readOwned(read, poolAddress, program), readOwned(read, config, program)]
  if (pool === null || configData === null) return { error: ANCHOR.wrongOwner }
  if (spl !== tokenProgram || addressAt(pool, at.config) !== config || addressAt(pool, at.observation) !== observation)
    return { error: ANCHOR.constraintAddress }
  const vaults = addressesAt(pool, at.vaults)
  const mints = addressesAt(pool, at.mints)
  const [input, output] = vaults[0] === vaultIn ? ([0, 1] as const) : ([1, 0] as const)
  if (vaults[input] !== vaultIn || vaults[output] !== vaultOut) return { error: invalidVault }
  const [mintIn, mintOut] = [mints[input], mints[output]]
  const [programIn, programOut] = [ownerOf(read, mintIn), ownerOf(read, mintOut)]
  const named = [token2022Program, memoProgram, mintIn, mintOut]
  const isNamed = isOlder
    ? programIn === tokenProgram && programOut === tokenProgram
    : named.every((one, index) => rest[index] === one)
  if (!isNamed || programIn === null || programOut === null) return { error: ANCHOR.constraintAddress }
  const others = rest.slice(isOlder ? 0 : named.length)
  const arrays = readArrays(read, poolAddress, others)
  if (arrays === null) return { error: ANCHOR.wrongOwner }
  const state = decodeClmmPool(pool)
  const before: ClmmPool = {
    ...{ config: decodeClmmConfig(configData), state, transferFees: readTransferFees(read, mints, clock.epoch) },
    extensionStarts: arrays.extension === null ? [] : decodeClmmExtension(arrays.extension, state.tickSpacing),
    tickArrays: new Map([...arrays.data].map(([start, content]) => [start, decodeClmmTickArray(content)])),
  }
  const result = swapRaydiumClmm(before, {
    ...{ zeroForOne: input === 0, isBaseInput: data[40] === 1, amount: data.readBigUInt64LE(8) },
    ...{ otherAmountThreshold: data.readBigUInt64LE(16), timestamp: clock.unixTime },
    sqrtPriceLimit: data.readBigUInt64LE(24) + (data.readBigUInt64LE(32) << 64n),
    ...{ tickArrayStarts: [...arrays.data.keys()], hasExtension: arrays.extension !== null },
  })
  if (result.error !== null) return { error: codeOf(result.error) }
  writePool(pool, result.next)
  const writes = new Map([[poolAddress, new Uint8Array(pool)]])
  for (const [start, array] of result.next.tickArrays) {
    const [address, content] = [arrays.addresses.get(start), arrays.data.get(start)]
    if (address === undefined || content === undefined || array === before.tickArrays.get(start)) continue
    writeTicks(content, array, state.tickSpacing)
    writes.set(address, new Uint8Array(content))
  }
  const paidOut = result.next.state.swapOut[output] - state.swapOut[output]
  return {
    error: null,
    transfers: [
      { tokenProgram: programIn, source, mint: mintIn, destination: vaultIn, authority: payer, units: result.paid },
      {
        tokenProgram: programOut,
        source: vaultOut,
        mint: mintOut,
        destination: target,
        authority: poolAddress,
        units: paidOut,
      },
    ],
    writes,
  }
}

function writePool(pool: Buffer, { state }: ClmmPool): void {
  writeU128(pool, state.liquidity, at.liquidity)
  writeU128(pool, state.sqrtPrice, at.sqrtPrice)
  pool.writeInt32LE(state.tickCurrent, at.tick)
  for (const token of [0, 1] as const) {
    writeU128(pool, state.feeGrowthGlobal[token], at.feeGrowth[token])
    writeU128(pool, state.swapIn[token], at.swapIn[token])
    writeU128(pool, state.swapOut[token], at.swapOut[token])
    pool.writeBigUInt64LE(state.protocolFees[token], at.protocolFees[token])
    pool.writeBigUInt64LE(state.totalFees[token], at.totalFees[token])
    pool.writeBigUInt64LE(state.fundFees[token], at.fundFees[token])
  }
}

/** A swap changes nothing but the fee growth of the ticks that it crosses. */
function writeTicks(content: Buffer, { startTick, ticks }: ClmmTickArray, tickSpacing: number): void {
  for (const { tick, feeGrowthBeyond } of ticks) {
    const offset = ticksAt + ((tick - startTick) / tickSpacing) * tickBytes
    writeU128(content, feeGrowthBeyond[0], offset + 36)
    writeU128(content, feeGrowthBeyond[1], offset + 52)
  }
}

export type ClmmConfig = Readonly<{ address: Address; index: number; feePpm: number; tickSpacing: number }>

export const clmmConfig = (index: number, feePpm: number, tickSpacing: number): ClmmConfig => ({
  ...{ address: addressOf(`raydium clmm config ${index}`), index, feePpm, tickSpacing },
})

/** 12 % and 4 % of the trade fee go to the protocol and the fund. */
function configAccount({ address, index, feePpm, tickSpacing }: ClmmConfig): MaybeEncodedAccount {
  const data = Buffer.alloc(117)
  data.set(marks.config)
  data.writeUInt16LE(index, 9)
  data.writeUInt32LE(120_000, 43)
  data.writeUInt32LE(feePpm, 47)
  data.writeUInt16LE(tickSpacing, 51)
  data.writeUInt32LE(40_000, 53)
  return accountAt(address, program, data)
}

const one = 2 ** 64
const ticksPerArray = 60
const arraysPerSide = 512

/** Distances of the ends of two positions from the price, in ticks, and their shares of the reserves. */
const ranges = [
  { ticks: 400, share: 0.6 },
  { ticks: 4_000, share: 0.4 },
]

type Position = Readonly<{ lower: number; upper: number; liquidity: bigint }>

/** The tokens of a plan in positions around its price. */
function positionsOf({ reserves }: PoolPlan, sqrtPrice: bigint, tickSpacing: number): readonly Position[] {
  const tick = clmmTickAtSqrtPrice(sqrtPrice)
  return ranges.map(({ ticks, share }) => {
    const lower = Math.floor((tick - ticks) / tickSpacing) * tickSpacing
    const upper = Math.ceil((tick + ticks) / tickSpacing) * tickSpacing
    const below = Number(sqrtPrice - clmmSqrtPriceAtTick(lower)) / one
    return { lower, upper, liquidity: BigInt(Math.floor((Number(reserves[1]) * share) / below)) }
  })
}

/** Tick arrays with the ends of the positions. */
function tickArraysOf(pool: Address, positions: readonly Position[], tickSpacing: number): ReadonlyMap<number, Buffer> {
  const arrays = new Map<number, Buffer>()
  const add = (tick: number, net: bigint, gross: bigint) => {
    const start = clmmArrayStart(tick, tickSpacing)
    const data = arrays.get(start) ?? Buffer.alloc(10_240)
    arrays.set(start, data)
    data.set(marks.tickArray)
    put(data, pool, 8)
    data.writeInt32LE(start, 40)
    const offset = ticksAt + ((tick - start) / tickSpacing) * tickBytes
    data.writeInt32LE(tick, offset)
    writeU128(data, BigInt.asUintN(128, net), offset + 4)
    writeU128(data, gross, offset + 20)
    data[10_124] = (data[10_124] ?? 0) + 1
  }
  for (const { lower, upper, liquidity } of positions) {
    add(lower, liquidity, liquidity)
    add(upper, -liquidity, liquidity)
  }
  return arrays
}

const arrayAddress = (pool: Address, start: number): Promise<Address> => {
  const seed = Buffer.alloc(4)
  seed.writeInt32BE(start)
  return derive(program, 'tick_array', bytesOf(pool), seed)
}

export async function createClmmPool(plan: PoolPlan, config: ClmmConfig): Promise<MarketPool> {
  const { name, tickers, mints, reserves } = plan
  const { tickSpacing } = config
  const address = addressOf(name)
  const vaults = [addressOf(`${name} vault 0`), addressOf(`${name} vault 1`)] as const
  const observation = addressOf(`${name} observation`)
  const sqrtPrice = BigInt(Math.round(Math.sqrt(Number(reserves[1]) / Number(reserves[0])) * one))
  const positions = positionsOf(plan, sqrtPrice, tickSpacing)
  const data = Buffer.alloc(poolBytes)
  data.set(marks.pool)
  put(data, config.address, at.config)
  put(data, observation, at.observation)
  data.writeUInt16LE(tickSpacing, at.tickSpacing)
  writeU128(
    data,
    positions.reduce((sum, { liquidity }) => sum + liquidity, 0n),
    at.liquidity,
  )
  writeU128(data, sqrtPrice, at.sqrtPrice)
  data.writeInt32LE(clmmTickAtSqrtPrice(sqrtPrice), at.tick)
  for (const index of [0, 1] as const) {
    put(data, mints[index].address, at.mints[index])
    put(data, vaults[index], at.vaults[index])
    data[at.decimals[index]] = mints[index].decimals
  }
  const tickArrays = tickArraysOf(address, positions, tickSpacing)
  for (const start of tickArrays.keys()) {
    const bit = start / (ticksPerArray * tickSpacing) + arraysPerSide
    setBit(data, at.bitmap, bit)
  }
  const arrays = await Promise.all(
    [...tickArrays].map(async ([start, content]) => ({ start, content, address: await arrayAddress(address, start) })),
  )
  arrays.sort((a, b) => a.start - b.start)
  return {
    ...{ program: raydiumClmm, address, tickers, mints, vaults, tolerancePpm: config.feePpm },
    genesis: [
      ...[configAccount(config), accountAt(address, program, data)],
      accountAt(observation, program, Buffer.alloc(4483)),
      ...arrays.map((array) => accountAt(array.address, program, array.content)),
      ...vaultAccounts(vaults, mints, address, reserves),
    ],
    readPrice: (read) => (Number(decodeClmmPool(readOwned(read, address, program) ?? data).sqrtPrice) / one) ** 2,
    swap(read, { owner, source, target, inputIndex, units }) {
      const outputIndex = inputIndex === 0 ? 1 : 0
      const { tickCurrent } = decodeClmmPool(readOwned(read, address, program) ?? data)
      const current = clmmArrayStart(tickCurrent, tickSpacing)
      const inDirection =
        inputIndex === 0
          ? arrays.filter(({ start }) => start <= current).reverse()
          : arrays.filter(({ start }) => start >= current)
      return {
        programAddress: program,
        accounts: [
          ...[meta(owner, 's'), meta(config.address, 'r'), meta(address, 'w'), meta(source, 'w'), meta(target, 'w')],
          ...[meta(vaults[inputIndex], 'w'), meta(vaults[outputIndex], 'w'), meta(observation, 'w')],
          ...[meta(tokenProgram, 'r'), meta(token2022Program, 'r'), meta(memoProgram, 'r')],
          ...[meta(mints[inputIndex].address, 'r'), meta(mints[outputIndex].address, 'r')],
          ...inDirection.map((array) => meta(array.address, 'w')),
        ],
        data: encodeCall(swapV2, [units, 0n, 0n, 0n], Buffer.from([1])),
      }
    },
  }
}
