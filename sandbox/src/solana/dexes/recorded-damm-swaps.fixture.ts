import type { Address } from '@solana/kit'
import type { DexProgram, Pair } from './dex-program.ts'
import {
  accountsOf,
  amounts,
  applyChanges,
  bytesOf,
  type Changes,
  callOf,
  programOf,
  type Replay,
  type Row,
  sidesOf,
  tradeOf,
  user,
} from './recorded-swaps.fixture.ts'

type DammRow = Row &
  Readonly<{
    mode: 'exactIn' | 'partialFill' | 'exactOut'
    direction: 'aToB' | 'bToA'
    amountIn?: string
    minimumAmountOut?: string
    amountOut?: string
    maximumAmountIn?: string
    slot: string
    note?: string
    withReferral?: boolean
    userPaid?: string
    vaultOut?: string
    after?: Readonly<{ vaultA: string; vaultB: string }>
    poolDataChanges?: Changes
  }>
export type DammFile = Readonly<{
  pools: readonly Readonly<{
    address: Address
    what: string
    poolData: string
    vaultA: string
    vaultB: string
    transferFees?: Parameters<typeof sidesOf>[3]
    cases: readonly DammRow[]
  }>[]
}>

const authority = 'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC' as Address
const eventAuthority = '3rmHSu74h1ZcmAisVcWerTCiRDQbUrBKmcwptYGjHfet' as Address
const instructionsSysvar = 'Sysvar1nstructions1111111111111111111111111' as Address
const modes = ['exactIn', 'partialFill', 'exactOut']

/** Swaps of Meteora DAMM v2. The sandbox's program knows no referrals. */
export function* replayDamm(program: DexProgram, { pools }: DammFile): Generator<Replay> {
  for (const pool of pools) {
    const data = bytesOf(pool.poolData)
    let units: Pair<bigint> = [BigInt(pool.vaultA), BigInt(pool.vaultB)]
    for (const row of pool.cases) {
      const sides = sidesOf(data, { mints: [168, 200], vaults: [232, 264] }, units, pool.transferFees)
      const [a, b] = sides
      const inputIndex = row.direction === 'aToB' ? 0 : 1
      const contents = new Map([[pool.address, Buffer.from(data)]])
      const accounts = [
        ...[authority, pool.address, user.source, user.target, a.vault, b.vault, a.mint, b.mint, user.owner],
        ...[programOf(a), programOf(b), program.address, eventAuthority, program.address],
        // Only the note of a case says that it is missing.
        ...(row.note === 'instructions sysvar not given' ? [] : [instructionsSysvar]),
      ]
      applyChanges(data, row.poolDataChanges)
      if (row.after !== undefined) units = [BigInt(row.after.vaultA), BigInt(row.after.vaultB)]
      if (row.withReferral === true) continue
      const [first = '', second = ''] =
        row.mode === 'exactOut' ? [row.amountOut, row.maximumAmountIn] : [row.amountIn, row.minimumAmountOut]
      const isOlder = row.instruction === 'swap'
      const mark = Buffer.from(isOlder ? 'f8c69e91e17587c8' : '414b3f4ceb5b5b88', 'hex')
      const mode = isOlder ? Buffer.alloc(0) : Buffer.from([modes.indexOf(row.mode)])
      yield {
        name: `case ${row.n} of ${pool.what}`,
        instruction: callOf(accounts, amounts(mark, first, second, mode)),
        clock: { unixTime: BigInt(row.unixTimestamp), slot: BigInt(row.slot), epoch: 900n },
        accounts: accountsOf(program, sides, inputIndex, contents),
        expected: tradeOf(row, sides[inputIndex].vault, row.userPaid, row.vaultOut),
        after: new Map([[pool.address, Buffer.from(data)]]),
      }
    }
  }
}
