import { type Address, getAddressEncoder } from '@solana/kit'
import { mintAccount } from '../genesis-accounts.ts'
import type { DexProgram, Pair } from './dex-program.ts'
import { accountAt, addressOf } from './market-pool.ts'
import {
  accountsOf,
  amounts,
  bytesOf,
  callOf,
  movedTo,
  programOf,
  type Replay,
  type Row,
  sidesOf,
  user,
} from './recorded-swaps.fixture.ts'

/* Recorded trades of PumpSwap as calls of the sandbox's program. */

type Rates = Readonly<{ lpFeeBps: number; protocolFeeBps: number; creatorFeeBps: number }>
type PumpRow = Row &
  Readonly<{
    baseAmountIn?: string
    minQuoteAmountOut?: string
    spendableQuoteIn?: string
    minBaseAmountOut?: string
    userBase?: string
    userQuote?: string
    protocolReceived?: string
    buybackReceived?: string
    coinCreatorReceived?: string
    after?: Readonly<{ baseReserve: string; quoteReserve: string }>
  }>
export type PumpFile = Readonly<{
  globalConfig: Readonly<{
    address: Address
    disableFlags: number
    protocolFeeRecipients: readonly [Address, ...Address[]]
    buybackFeeRecipients: readonly [Address, ...Address[]]
    buybackBasisPoints: string
  }>
  feeConfig: Readonly<{
    address: Address
    flatFees: Rates
    tiers: readonly (Rates & Readonly<{ threshold: string }>)[]
  }>
  pools: readonly Readonly<{
    what: string
    address: Address
    poolData: string
    baseReserve: string
    quoteReserve: string
    baseSupply: string
    cases: readonly PumpRow[]
  }>[]
}>

const feeProgram = 'pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ' as Address
const eventAuthority = 'GS4CU59F31iL7aR2Q8zVS8DRrcRnXX1yjQ66TqNVQnaR' as Address
const paid = { protocol: addressOf('protocol'), buyback: addressOf('buyback'), creator: addressOf('creator') }
const other = addressOf('other')

function settingsOf({ globalConfig: from }: PumpFile): Buffer {
  const data = Buffer.alloc(907)
  data[56] = from.disableFlags
  data.set(getAddressEncoder().encode(from.protocolFeeRecipients[0]), 57)
  data.set(getAddressEncoder().encode(from.buybackFeeRecipients[0]), 643)
  data.writeBigUInt64LE(BigInt(from.buybackBasisPoints), 899)
  return data
}

function feesOf({ feeConfig: { flatFees, tiers } }: PumpFile): Buffer {
  const data = Buffer.alloc(69 + 40 * tiers.length)
  const put = ({ lpFeeBps, protocolFeeBps, creatorFeeBps }: Rates, offset: number) => {
    for (const [index, rate] of [lpFeeBps, protocolFeeBps, creatorFeeBps].entries())
      data.writeBigUInt64LE(BigInt(rate), offset + 8 * index)
  }
  put(flatFees, 41)
  data.writeUInt32LE(tiers.length, 65)
  for (const [index, tier] of tiers.entries()) {
    data.writeBigUInt64LE(BigInt(tier.threshold), 69 + 40 * index)
    put(tier, 69 + 40 * index + 16)
  }
  return data
}

/** Without the cashback coin, which the sandbox's program does not know. */
export function* replayPump(program: DexProgram, file: PumpFile): Generator<Replay> {
  const { globalConfig, feeConfig } = file
  for (const pool of file.pools.filter(({ what }) => what !== 'cashback coin')) {
    const data = bytesOf(pool.poolData)
    let units: Pair<bigint> = [BigInt(pool.baseReserve), BigInt(pool.quoteReserve)]
    for (const row of pool.cases) {
      const before = units
      if (row.after !== undefined) units = [BigInt(row.after.baseReserve), BigInt(row.after.quoteReserve)]
      if (row.instruction === 'buy') continue
      const isSale = row.instruction === 'sell'
      const sides = sidesOf(data, { mints: [43, 75], vaults: [139, 171] }, before)
      const [base, quote] = sides
      const baseMint = { address: base.mint, decimals: 6, program: programOf(base), transferFee: null }
      const [userBase, userQuote] = isSale ? [user.source, user.target] : [user.target, user.source]
      const accounts = [
        ...[pool.address, user.owner, globalConfig.address, base.mint, quote.mint, userBase, userQuote],
        ...[base.vault, quote.vault, globalConfig.protocolFeeRecipients[0], paid.protocol],
        ...[programOf(base), programOf(quote), other, other, eventAuthority, program.address, paid.creator, other],
        ...(isSale ? [] : [other, other]),
        ...[feeConfig.address, feeProgram, globalConfig.buybackFeeRecipients[0], paid.buyback],
      ]
      const call = isSale
        ? amounts(Buffer.from('33e685a4017f83ad', 'hex'), row.baseAmountIn ?? '', row.minQuoteAmountOut ?? '')
        : amounts(
            Buffer.from('c62e1552b4d9e870', 'hex'),
            row.spendableQuoteIn ?? '',
            row.minBaseAmountOut ?? '',
            Buffer.alloc(1),
          )
      const contents = new Map([
        [pool.address, Buffer.from(data)],
        [globalConfig.address, settingsOf(file)],
      ])
      const fees = [
        [paid.protocol, row.protocolReceived],
        [paid.buyback, row.buybackReceived],
        [paid.creator, row.coinCreatorReceived],
      ] as const
      const received = isSale ? row.userQuote : row.userBase
      const intoPool = isSale ? units[0] - before[0] : units[1] - before[1]
      const moved = [
        [isSale ? base.vault : quote.vault, intoPool.toString()],
        [user.target, received],
        ...fees,
      ] as const
      yield {
        name: `case ${row.n} of ${pool.address}`,
        instruction: callOf(accounts, call),
        clock: { unixTime: 0n, slot: 0n, epoch: 0n },
        accounts: new Map([
          ...accountsOf(program, sides, isSale ? 0 : 1, contents),
          [feeConfig.address, accountAt(feeConfig.address, feeProgram, feesOf(file))],
          [base.mint, mintAccount(baseMint, user.owner, BigInt(pool.baseSupply))],
        ]),
        // No transfer of nothing is made to a recipient of fees.
        expected:
          row.error === undefined
            ? {
                moved: new Map(
                  [...movedTo(moved)].filter(([to, sum]) => sum > 0n || !fees.some(([fee]) => fee === to)),
                ),
              }
            : { error: row.error },
        after: new Map(),
      }
    }
  }
}
