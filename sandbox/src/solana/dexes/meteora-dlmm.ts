import type { Address } from '@solana/kit'
import { type DlmmPool, swapMeteoraDlmm } from '@swapyard/lib/pools/solana/meteora-dlmm.ts'
import {
  DLMM_BINS_PER_ARRAY,
  type DlmmBin,
  decodeDlmmBinArray,
  decodeDlmmExtension,
  decodeDlmmPair,
  dlmmArrayIndex,
} from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import { dlmmPrice } from '@swapyard/lib/pools/solana/meteora-dlmm-bin.ts'
import { vaultAccounts } from '../genesis-accounts.ts'
import { readTokenAccount } from '../token-state.ts'
import {
  ANCHOR,
  addressAt,
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
  unitsOf,
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

const program = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo' as Address
/** The program's address for the seed `__event_authority`. */
const eventAuthority = 'D1ZN9Wj1fRSUQfCjhvnu1hqDMT7hzjzBBpi12nVniYD6' as Address

/** First 8 bytes of sha256("global:swap2"). */
const swap2 = Buffer.from('414b3f4ceb5b5b88', 'hex')
/** Two amounts, and no slices of accounts for transfer hooks. */
const swap2Bytes = 28
/** First 8 bytes of sha256("account:LbPair") and sha256("account:BinArray"). */
const pairMark = Buffer.from('210b3162b565b10d', 'hex')
const binArrayMark = Buffer.from('5c8e5cdc059446b5', 'hex')

/** Offsets in the account of a pair. */
const at = {
  volatility: 40,
  volatilityReference: 44,
  indexReference: 48,
  lastUpdate: 56,
  activeId: 76,
  mints: [88, 120],
  reserves: [152, 184],
  protocolFees: [216, 224],
  oracle: 552,
  bitmap: 584,
} as const
const pairBytes = 904
const binsAt = 56
const binBytes = 144

/** swap2. The oracle is not updated: no swap reads it. */
export const meteoraDlmm: DexProgram = { address: program, title: 'swap2 of Meteora DLMM', execute }

type Arrays = Readonly<{ addresses: ReadonlyMap<number, Address>; data: ReadonlyMap<number, Buffer> }>

/** Null if an account is no bin array of the pair. */
function readArrays(read: ReadAccount, pair: Address, accounts: readonly Address[]): Arrays | null {
  const addresses = new Map<number, Address>()
  const data = new Map<number, Buffer>()
  for (const address of accounts) {
    const content = readOwned(read, address, program)
    if (content === null || !content.subarray(0, 8).equals(binArrayMark) || addressAt(content, 24) !== pair) return null
    const { index } = decodeDlmmBinArray(content)
    addresses.set(index, address)
    data.set(index, content)
  }
  return { addresses, data }
}

function execute({ accounts, data: given, signers }: DexInstruction, read: ReadAccount, clock: DexClock): DexOutcome {
  const data = Buffer.from(given)
  if (!data.subarray(0, 8).equals(swap2) || data.length !== swap2Bytes) return { error: ANCHOR.unknownInstruction }
  const [pairAddress, extension, reserveX, reserveY, source, target, mintX, mintY, oracle, host, user, ...rest] =
    accounts
  const [programX, programY, memo, authority, self, ...others] = rest
  if (!pairAddress || !extension || !source || !target || !mintX || !mintY || !user || !programX || !programY)
    return { error: ANCHOR.notEnoughAccounts }
  if (!signers.has(user)) return { error: ANCHOR.notSigner }
  // A host's part of the fee is not implemented.
  if (memo !== memoProgram || authority !== eventAuthority || self !== program || host !== program)
    return { error: ANCHOR.constraintAddress }
  const pair = readOwned(read, pairAddress, program)
  const extensionData = extension === program ? null : readOwned(read, extension, program)
  const arrays = readArrays(read, pairAddress, others)
  if (pair === null || arrays === null || (extension !== program && extensionData === null))
    return { error: ANCHOR.wrongOwner }
  const isOf = (address: Address | undefined, offset: number) => addressAt(pair, offset) === address
  const isPair = isOf(reserveX, at.reserves[0]) && isOf(reserveY, at.reserves[1]) && isOf(oracle, at.oracle)
  if (!isPair || !isOf(mintX, at.mints[0]) || !isOf(mintY, at.mints[1]) || !reserveX || !reserveY)
    return { error: ANCHOR.constraintHasOne }
  if (ownerOf(read, mintX) !== programX || ownerOf(read, mintY) !== programY) return { error: ANCHOR.constraintAddress }
  const swapForY = readTokenAccount(read(source))?.mint === mintX
  const before: DlmmPool = {
    pair: decodeDlmmPair(pair),
    extensionIndexes: extensionData === null ? [] : decodeDlmmExtension(extensionData),
    binArrays: new Map([...arrays.data].map(([index, content]) => [index, decodeDlmmBinArray(content)])),
    reserves: [unitsOf(read, reserveX), unitsOf(read, reserveY)],
    transferFees: readTransferFees(read, [mintX, mintY], clock.epoch),
  }
  const [amountIn, minimumOut] = [data.readBigUInt64LE(8), data.readBigUInt64LE(16)]
  const result = swapMeteoraDlmm(before, {
    ...{ swapForY, amounts: { kind: 'exactIn', amountIn, minimumOut }, unixTime: clock.unixTime, slot: clock.slot },
    ...{ binArrays: [...arrays.data.keys()], hasExtension: extensionData !== null, hostToken: null },
  })
  if (result.error !== null) return { error: codeOf(result.error) }
  writePair(pair, result.next)
  const writes = new Map([[pairAddress, new Uint8Array(pair)]])
  for (const [index, array] of result.next.binArrays) {
    const [address, content] = [arrays.addresses.get(index), arrays.data.get(index)]
    if (address === undefined || content === undefined || array === before.binArrays.get(index)) continue
    for (const [position, bin] of array.bins.entries()) writeBin(content, binsAt + position * binBytes, bin)
    writes.set(address, new Uint8Array(content))
  }
  const [input, output] = swapForY ? ([0, 1] as const) : ([1, 0] as const)
  const [mints, programs, reserves] = [
    [mintX, mintY] as const,
    [programX, programY] as const,
    [reserveX, reserveY] as const,
  ]
  const sideOf = (side: 0 | 1) => ({ tokenProgram: programs[side], mint: mints[side] })
  const units = before.reserves[output] - result.next.reserves[output]
  return {
    error: null,
    transfers: [
      { ...sideOf(input), source, destination: reserves[input], authority: user, units: result.paid },
      { ...sideOf(output), source: reserves[output], destination: target, authority: pairAddress, units },
    ],
    writes,
  }
}

function writePair(data: Buffer, { pair }: DlmmPool): void {
  data.writeUInt32LE(pair.volatility.accumulator, at.volatility)
  data.writeUInt32LE(pair.volatility.reference, at.volatilityReference)
  data.writeInt32LE(pair.volatility.indexReference, at.indexReference)
  data.writeBigInt64LE(pair.volatility.lastUpdate, at.lastUpdate)
  data.writeInt32LE(pair.activeId, at.activeId)
  for (const token of [0, 1] as const) data.writeBigUInt64LE(pair.protocolFees[token], at.protocolFees[token])
}

function writeBin(data: Buffer, offset: number, bin: DlmmBin): void {
  const pairs = [
    [0, bin.amounts],
    [48, bin.fulfilledOrders],
    [64, bin.orderFees],
  ] as const
  for (const [place, [first, second]] of pairs) {
    data.writeBigUInt64LE(first, offset + place)
    data.writeBigUInt64LE(second, offset + place + 8)
  }
  writeU128(data, bin.price, offset + 16)
  writeU128(data, bin.liquiditySupply, offset + 32)
  writeU128(data, bin.feeGrowth[0], offset + 80)
  writeU128(data, bin.feeGrowth[1], offset + 96)
  data.writeBigUInt64LE(bin.openOrders, offset + 112)
  data.writeBigUInt64LE(bin.processingOrders, offset + 120)
  data.writeBigUInt64LE(bin.processedRest, offset + 128)
  data.writeUInt32LE(bin.orderAge, offset + 136)
}

const one = 2 ** 64
const basisPoints = 10_000
const arraysPerSide = 512
/** Bins with liquidity on each side of the active one. */
const binsPerSide = 100

/** The base fee is base factor × bin step, in parts of 10^8. */
export type DlmmPreset = Readonly<{ binStep: number; baseFactor: number }>

/** Bin arrays in which the tokens of a plan are spread evenly around the active bin. */
function binArraysOf(
  pair: Address,
  { reserves }: PoolPlan,
  activeId: number,
  binStep: number,
): ReadonlyMap<number, Buffer> {
  const arrays = new Map<number, Buffer>()
  const bins = BigInt(binsPerSide + 1)
  for (let id = activeId - binsPerSide; id <= activeId + binsPerSide; id += 1) {
    const index = dlmmArrayIndex(id)
    const data = arrays.get(index) ?? Buffer.alloc(10_136)
    arrays.set(index, data)
    data.set(binArrayMark)
    data.writeBigInt64LE(BigInt(index), 8)
    put(data, pair, 24)
    const offset = binsAt + (id - index * DLMM_BINS_PER_ARRAY) * binBytes
    const [x, y] = [id >= activeId ? reserves[0] / bins : 0n, id <= activeId ? reserves[1] / bins : 0n]
    const price = dlmmPrice(id, binStep)
    data.writeBigUInt64LE(x, offset)
    data.writeBigUInt64LE(y, offset + 8)
    writeU128(data, price, offset + 16)
    writeU128(data, x * price + (y << 64n), offset + 32)
  }
  return arrays
}

const arrayAddress = (pair: Address, index: number): Promise<Address> => {
  const seed = Buffer.alloc(8)
  seed.writeBigInt64LE(BigInt(index))
  return derive(program, 'bin_array', bytesOf(pair), seed)
}

/** A pair with the volatility parameters that Meteora's presets of small bin steps have. */
function pairAccount({ binStep, baseFactor }: DlmmPreset, activeId: number): Buffer {
  const data = Buffer.alloc(pairBytes)
  data.set(pairMark)
  data.writeUInt16LE(baseFactor, 8)
  data.writeUInt16LE(30, 10)
  data.writeUInt16LE(600, 12)
  data.writeUInt16LE(5_000, 14)
  data.writeUInt32LE(40_000, 16)
  data.writeUInt32LE(350_000, 20)
  data.writeUInt16LE(500, 32)
  // Liquidity mining: without limit orders.
  data[35] = 1
  data.writeInt32LE(activeId, at.indexReference)
  data.writeInt32LE(activeId, at.activeId)
  data.writeUInt16LE(binStep, 80)
  return data
}

export async function createDlmmPool(plan: PoolPlan, preset: DlmmPreset): Promise<MarketPool> {
  const { name, tickers, mints, reserves } = plan
  const { binStep, baseFactor } = preset
  const address = addressOf(name)
  const vaults = [addressOf(`${name} reserve 0`), addressOf(`${name} reserve 1`)] as const
  const oracle = addressOf(`${name} oracle`)
  const price = Number(reserves[1]) / Number(reserves[0])
  const activeId = Math.round(Math.log(price) / Math.log1p(binStep / basisPoints))
  const data = pairAccount(preset, activeId)
  put(data, oracle, at.oracle)
  for (const index of [0, 1] as const) {
    put(data, mints[index].address, at.mints[index])
    put(data, vaults[index], at.reserves[index])
  }
  const binArrays = binArraysOf(address, plan, activeId, binStep)
  for (const index of binArrays.keys()) {
    const bit = index + arraysPerSide
    setBit(data, at.bitmap, bit)
  }
  const arrays = await Promise.all(
    [...binArrays].map(async ([index, content]) => ({ content, address: await arrayAddress(address, index) })),
  )
  return {
    ...{ program: meteoraDlmm, address, tickers, mints, vaults },
    tolerancePpm: 100 * binStep + (baseFactor * binStep) / 100,
    genesis: [
      ...[accountAt(address, program, data), accountAt(oracle, program, Buffer.alloc(3_232))],
      ...arrays.map((array) => accountAt(array.address, program, array.content)),
      ...vaultAccounts(vaults, mints, address, reserves),
    ],
    readPrice: (read) =>
      Number(dlmmPrice(decodeDlmmPair(readOwned(read, address, program) ?? data).activeId, binStep)) / one,
    swap: (_, { owner, source, target, units }) => ({
      programAddress: program,
      accounts: [
        ...[meta(address, 'w'), meta(program, 'r'), meta(vaults[0], 'w'), meta(vaults[1], 'w')],
        ...[meta(source, 'w'), meta(target, 'w'), meta(mints[0].address, 'r'), meta(mints[1].address, 'r')],
        ...[meta(oracle, 'w'), meta(program, 'r'), meta(owner, 's')],
        ...[meta(mints[0].program, 'r'), meta(mints[1].program, 'r'), meta(memoProgram, 'r')],
        ...[meta(eventAuthority, 'r'), meta(program, 'r'), ...arrays.map((array) => meta(array.address, 'w'))],
      ],
      data: encodeCall(swap2, [units, 0n], Buffer.alloc(4)),
    }),
  }
}
