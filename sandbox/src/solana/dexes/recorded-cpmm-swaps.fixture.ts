import type { Address } from '@solana/kit'
import { addressAt, type DexProgram, type Pair } from './dex-program.ts'
import {
  accountsOf,
  amounts,
  applyChanges,
  bytesOf,
  type Changes,
  callOf,
  clockOf,
  type RecordedFees,
  type Replay,
  type Row,
  sidesOf,
  tradeOf,
  user,
} from './recorded-swaps.fixture.ts'

/* Recorded swaps of Raydium CPMM as calls of the sandbox's program. */

type CpmmRow = Row &
  Readonly<{
    kind: 'baseInput' | 'baseOutput'
    inputIs: 0 | 1
    amountIn?: string
    minimumAmountOut?: string
    epoch: string
    note?: string
    userPaid?: string
    vaultOut?: string
    after?: Readonly<{ vault0: string; vault1: string }>
    poolDataChanges?: Changes
  }>
export type CpmmFile = Readonly<{
  pools: readonly Readonly<{
    address: Address
    authority: Address
    config: Readonly<{ data: string }>
    poolData: string
    vault0: string
    vault1: string
    transferFees?: RecordedFees
    cases: readonly CpmmRow[]
  }>[]
}>

export function* replayCpmm(program: DexProgram, { pools }: CpmmFile): Generator<Replay> {
  for (const pool of pools) {
    const data = bytesOf(pool.poolData)
    const [config, programs] = [addressAt(data, 8), [addressAt(data, 232), addressAt(data, 264)] as const]
    let units: Pair<bigint> = [BigInt(pool.vault0), BigInt(pool.vault1)]
    for (const row of pool.cases) {
      const sides = sidesOf(data, { mints: [168, 200], vaults: [72, 104] }, units, pool.transferFees)
      const [inputIndex, outputIndex] = row.inputIs === 0 ? ([0, 1] as const) : ([1, 0] as const)
      const [input, output] = [sides[inputIndex], sides[outputIndex]]
      const contents = new Map([
        [pool.address, Buffer.from(data)],
        [config, bytesOf(pool.config.data)],
        [addressAt(data, 296), Buffer.alloc(4075)],
      ])
      const isSameVault = row.note === 'input vault given also as output vault'
      const accounts = [
        ...[user.owner, pool.authority, config, pool.address, user.source, user.target],
        ...[input.vault, isSameVault ? input.vault : output.vault],
        ...[programs[inputIndex], programs[outputIndex], input.mint, output.mint, addressAt(data, 296)],
      ]
      applyChanges(data, row.poolDataChanges)
      if (row.after !== undefined) units = [BigInt(row.after.vault0), BigInt(row.after.vault1)]
      // The sandbox's program knows no exact output.
      if (row.kind !== 'baseInput') continue
      const mark = Buffer.from('8fbe5adac41e33de', 'hex')
      yield {
        name: `case ${row.n} of ${pool.address}`,
        instruction: callOf(accounts, amounts(mark, row.amountIn ?? '', row.minimumAmountOut ?? '')),
        clock: { ...clockOf(row), epoch: BigInt(row.epoch) },
        accounts: accountsOf(program, sides, inputIndex, contents),
        expected: tradeOf(row, input.vault, row.userPaid, row.vaultOut),
        after: new Map([[pool.address, Buffer.from(data)]]),
      }
    }
  }
}
