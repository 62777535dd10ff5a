import type { Address, MaybeEncodedAccount } from '@solana/kit'
import { mintAccount, tokenAccount } from '../genesis-accounts.ts'
import { token2022Program, tokenProgram } from '../token-state.ts'
import {
  addressAt,
  type DexClock,
  type DexInstruction,
  type DexProgram,
  memoProgram,
  type Pair,
} from './dex-program.ts'
import { accountAt, addressOf, type TransferFee } from './market-pool.ts'

/* Recorded swaps of real programs as calls of the sandbox's programs: the same accounts before, the same instruction. */

export type Changes = readonly (readonly [number, string])[]
export type RecordedError = Readonly<{ program?: string; code?: number; text?: string }>

/** A row that runs through a program of the sandbox. `after`: accounts as the real program left them. */
export type Replay = Readonly<{
  name: string
  instruction: DexInstruction
  clock: DexClock
  accounts: ReadonlyMap<Address, MaybeEncodedAccount>
  /** Units by destination, or the error. */
  expected: Readonly<{ error: RecordedError } | { moved: ReadonlyMap<Address, bigint> }>
  after: ReadonlyMap<Address, Buffer>
}>

export const user = {
  owner: addressOf('trader'),
  source: addressOf('trader source'),
  target: addressOf('trader target'),
}
const plenty = 10n ** 18n
const epoch = 900n

export const bytesOf = (base64: string): Buffer => Buffer.from(base64, 'base64')

export function applyChanges(bytes: Buffer, changes: Changes = []): void {
  for (const [offset, hex] of changes) Buffer.from(hex, 'hex').copy(bytes, offset)
}

type Side = Readonly<{ mint: Address; vault: Address; units: bigint; fee: TransferFee | null }>
export type RecordedFees = readonly (Readonly<{ bps: number; maximumFee: string }> | null)[]

/** The two sides of a pool: its mints and vaults at offsets of its account. */
export function sidesOf(
  pool: Buffer,
  at: Readonly<{ mints: Pair<number>; vaults: Pair<number> }>,
  units: Pair<bigint>,
  fees: RecordedFees = [],
): Pair<Side> {
  const sideOf = (index: 0 | 1): Side => {
    const fee = fees[index]
    return {
      ...{ mint: addressAt(pool, at.mints[index]), vault: addressAt(pool, at.vaults[index]), units: units[index] },
      fee: fee ? { basisPoints: fee.bps, maximumFee: BigInt(fee.maximumFee) } : null,
    }
  }
  return [sideOf(0), sideOf(1)]
}

export const programOf = ({ fee }: Side): Address => (fee === null ? tokenProgram : token2022Program)

/** The accounts of the tokens, and those of the program with their content. */
export function accountsOf(
  program: DexProgram,
  sides: Pair<Side>,
  inputIndex: 0 | 1,
  contents: ReadonlyMap<Address, Buffer>,
): ReadonlyMap<Address, MaybeEncodedAccount> {
  const mints = sides.map((side) => ({
    ...{ address: side.mint, decimals: 6, program: programOf(side), transferFee: side.fee },
  }))
  const [input, output] = inputIndex === 0 ? [mints[0], mints[1]] : [mints[1], mints[0]]
  const list = [
    ...mints.map((mint) => mintAccount(mint, user.owner, plenty)),
    ...sides.flatMap(({ vault, units }, index) => {
      const mint = mints[index]
      return mint === undefined ? [] : [tokenAccount(vault, mint, user.owner, units)]
    }),
    ...(input === undefined ? [] : [tokenAccount(user.source, input, user.owner, plenty)]),
    ...(output === undefined ? [] : [tokenAccount(user.target, output, user.owner, 0n)]),
    ...[...contents].map(([address, content]) => accountAt(address, program.address, content)),
  ]
  return new Map(list.map((account) => [account.address, account]))
}

export const amounts = (mark: Buffer, first: string, second: string, rest = Buffer.alloc(0)): Uint8Array => {
  const words = Buffer.alloc(16)
  words.writeBigUInt64LE(BigInt(first))
  words.writeBigUInt64LE(BigInt(second), 8)
  return new Uint8Array([...mark, ...words, ...rest])
}

export const callOf = (accounts: readonly Address[], data: Uint8Array): DexInstruction => ({
  ...{ accounts, data, signers: new Set([user.owner]) },
})

export type Row = Readonly<{ n: number; instruction: string | number; unixTimestamp: string; error?: RecordedError }>
export const clockOf = ({ unixTimestamp }: Row): DexClock => ({
  unixTime: BigInt(unixTimestamp),
  slot: 10n ** 9n,
  epoch,
})

export const movedTo = (entries: readonly (readonly [Address, string | undefined])[]): ReadonlyMap<Address, bigint> =>
  new Map(entries.map(([address, units]) => [address, BigInt(units ?? 0)]))

/** What the trader pays into a vault and receives, or the error that the program returned. */
export const tradeOf = (
  { error }: Row,
  vault: Address,
  paid: string | undefined,
  received: string | undefined,
): Replay['expected'] =>
  error === undefined
    ? {
        moved: movedTo([
          [vault, paid],
          [user.target, received],
        ]),
      }
    : { error }

type ClmmRow = Row &
  Readonly<{
    isBaseInput: boolean
    zeroForOne: boolean
    amount: string
    otherAmountThreshold: string
    sqrtPriceLimitX64: string
    tickArraysGiven: readonly number[]
    withoutBitmapExtension?: boolean
    vaultOut?: string
    userPaid?: string
    poolDataChanges?: Changes
    tickArrayDataChanges?: Readonly<Record<string, Changes>>
  }>
type ClmmFile = Readonly<{
  pools: readonly Readonly<{
    address: Address
    poolData: string
    transferFees?: RecordedFees
    config: Readonly<{ data: string }>
    bitmapExtension: Readonly<{ address: Address; data: string }>
    tickArrays: readonly Readonly<{ startTickIndex: number; address: Address; data: string }>[]
    cases: readonly ClmmRow[]
  }>[]
}>

export function* replayClmm(program: DexProgram, { pools }: ClmmFile): Generator<Replay> {
  for (const pool of pools) {
    const data = bytesOf(pool.poolData)
    const extension = pool.bitmapExtension
    const arrays = new Map(pool.tickArrays.map((one) => [one.startTickIndex, { ...one, data: bytesOf(one.data) }]))
    const sides = sidesOf(data, { mints: [73, 105], vaults: [137, 169] }, [plenty, plenty], pool.transferFees)
    for (const row of pool.cases) {
      const [input, output] = row.zeroForOne ? sides : [sides[1], sides[0]]
      const contents = new Map([
        ...([
          [pool.address, Buffer.from(data)],
          [addressAt(data, 9), bytesOf(pool.config.data)],
        ] as const),
        ...[...arrays.values()].map((one) => [one.address, Buffer.from(one.data)] as const),
        [extension.address, bytesOf(extension.data)] as const,
      ])
      const limit = Buffer.alloc(17)
      limit.writeBigUInt64LE(BigInt(row.sqrtPriceLimitX64) & 0xffff_ffff_ffff_ffffn)
      limit.writeBigUInt64LE(BigInt(row.sqrtPriceLimitX64) >> 64n, 8)
      limit[16] = row.isBaseInput ? 1 : 0
      const given = row.tickArraysGiven.flatMap((start) => arrays.get(start)?.address ?? [])
      const isOlder = row.instruction === 'swap'
      const further = row.withoutBitmapExtension === true ? [] : [extension.address]
      const accounts = [
        ...[user.owner, addressAt(data, 9), pool.address, user.source, user.target, input.vault, output.vault],
        ...[addressAt(data, 201), tokenProgram],
        ...(isOlder
          ? [...given.slice(0, 1), ...further, ...given.slice(1)]
          : [token2022Program, memoProgram, input.mint, output.mint, ...further, ...given]),
      ]
      applyChanges(data, row.poolDataChanges)
      for (const [start, changes] of Object.entries(row.tickArrayDataChanges ?? {})) {
        const array = arrays.get(Number(start))
        if (array !== undefined) applyChanges(array.data, changes)
      }
      const mark = Buffer.from(isOlder ? 'f8c69e91e17587c8' : '2b04ed0b1ac91e62', 'hex')
      yield {
        name: `case ${row.n} of ${pool.address}`,
        instruction: callOf(accounts, amounts(mark, row.amount, row.otherAmountThreshold, limit)),
        clock: clockOf(row),
        accounts: accountsOf(program, sides, row.zeroForOne ? 0 : 1, contents),
        expected: tradeOf(row, input.vault, row.userPaid, row.vaultOut),
        after: new Map([
          [pool.address, Buffer.from(data)],
          ...[...arrays.values()].map((one) => [one.address, Buffer.from(one.data)] as const),
        ]),
      }
    }
  }
}

type DlmmRow = Row &
  Readonly<{
    swapForY: boolean
    amountIn: string
    minimumAmountOut: string
    binArraysGiven: readonly number[]
    withHostFeeAccount?: boolean
    note?: string
    userPaid?: string
    reserveOut?: string
    after?: Readonly<{ reserveXBalance: string; reserveYBalance: string }>
    pairDataChanges?: Changes
    binArrayDataChanges?: Readonly<Record<string, Changes>>
  }>
type DlmmFile = Readonly<{
  pools: readonly Readonly<{
    address: Address
    pairData: string
    reserveXBalance: string
    reserveYBalance: string
    transferFees?: RecordedFees
    bitmapExtension?: Readonly<{ address: Address; data: string }>
    binArrays: readonly Readonly<{ index: number; address: Address; data: string }>[]
    cases: readonly DlmmRow[]
  }>[]
}>

export function* replayDlmm(program: DexProgram, authority: Address, { pools }: DlmmFile): Generator<Replay> {
  for (const pool of pools) {
    const data = bytesOf(pool.pairData)
    const arrays = new Map(pool.binArrays.map((one) => [one.index, { ...one, data: bytesOf(one.data) }]))
    let reserves: Pair<bigint> = [BigInt(pool.reserveXBalance), BigInt(pool.reserveYBalance)]
    for (const row of pool.cases) {
      const sides = sidesOf(data, { mints: [88, 120], vaults: [152, 184] }, reserves, pool.transferFees)
      const hasExtension = pool.bitmapExtension !== undefined && row.note !== 'bitmap extension not given'
      const extension = hasExtension && pool.bitmapExtension ? pool.bitmapExtension : null
      const contents = new Map([
        [pool.address, Buffer.from(data)] as const,
        ...[...arrays.values()].map((one) => [one.address, Buffer.from(one.data)] as const),
        ...(extension === null ? [] : [[extension.address, bytesOf(extension.data)] as const]),
      ])
      const accounts = [
        ...[pool.address, extension?.address ?? program.address, sides[0].vault, sides[1].vault],
        ...[user.source, user.target, sides[0].mint, sides[1].mint, addressAt(data, 552), program.address, user.owner],
        ...[programOf(sides[0]), programOf(sides[1]), memoProgram, authority, program.address],
        ...row.binArraysGiven.flatMap((index) => arrays.get(index)?.address ?? []),
      ]
      applyChanges(data, row.pairDataChanges)
      for (const [index, changes] of Object.entries(row.binArrayDataChanges ?? {})) {
        const array = arrays.get(Number(index))
        if (array !== undefined) applyChanges(array.data, changes)
      }
      if (row.after !== undefined) reserves = [BigInt(row.after.reserveXBalance), BigInt(row.after.reserveYBalance)]
      // The sandbox's program knows no hosts.
      if (row.instruction !== 'swap2' || row.withHostFeeAccount === true) continue
      const mark = Buffer.from('414b3f4ceb5b5b88', 'hex')
      const input = sides[row.swapForY ? 0 : 1]
      // A note names the slot where it matters; other slots are after the activation.
      const slot = /^slot ([0-9]+) /.exec(row.note ?? '')?.[1]
      yield {
        name: `case ${row.n} of ${pool.address}`,
        instruction: callOf(accounts, amounts(mark, row.amountIn, row.minimumAmountOut, Buffer.alloc(4))),
        clock: { ...clockOf(row), ...(slot === undefined ? {} : { slot: BigInt(slot) }) },
        accounts: accountsOf(program, sides, row.swapForY ? 0 : 1, contents),
        expected: tradeOf(row, input.vault, row.userPaid, row.reserveOut),
        after: new Map([
          [pool.address, Buffer.from(data)],
          ...[...arrays.values()].map((one) => [one.address, Buffer.from(one.data)] as const),
        ]),
      }
    }
  }
}

type AmmRow = Row &
  Readonly<{
    direction: 'coinToPc' | 'pcToCoin'
    amountIn: string
    minimumAmountOut: string
    traderHas?: string
    in?: string
    out?: string
    after?: Readonly<{ coinVaultBalance: string; pcVaultBalance: string }>
    ammDataChanges?: Changes
  }>
type AmmFile = Readonly<{
  authority: Readonly<{ address: Address }>
  pools: readonly Readonly<{
    address: Address
    ammData: string
    coinVaultBalance: string
    pcVaultBalance: string
    cases: readonly AmmRow[]
  }>[]
}>

export function* replayAmmV4(program: DexProgram, { pools, authority }: AmmFile): Generator<Replay> {
  for (const pool of pools) {
    const data = bytesOf(pool.ammData)
    let units: Pair<bigint> = [BigInt(pool.coinVaultBalance), BigInt(pool.pcVaultBalance)]
    for (const row of pool.cases) {
      const sides = sidesOf(data, { mints: [400, 432], vaults: [336, 368] }, units)
      const inputIndex = row.direction === 'coinToPc' ? 0 : 1
      const contents = new Map([[pool.address, Buffer.from(data)]])
      const [coin, pc] = sides
      const accounts = [
        ...[tokenProgram, pool.address, authority.address, coin.vault, pc.vault],
        ...[user.source, user.target, user.owner],
      ]
      applyChanges(data, row.ammDataChanges)
      if (row.after !== undefined) units = [BigInt(row.after.coinVaultBalance), BigInt(row.after.pcVaultBalance)]
      if (row.instruction !== 16 || row.traderHas !== undefined) continue
      yield {
        name: `case ${row.n} of ${pool.address}`,
        instruction: callOf(accounts, amounts(Buffer.from([16]), row.amountIn, row.minimumAmountOut)),
        clock: clockOf(row),
        accounts: accountsOf(program, sides, inputIndex, contents),
        expected: tradeOf(row, sides[inputIndex].vault, row.in, row.out),
        after: new Map([[pool.address, Buffer.from(data)]]),
      }
    }
  }
}
