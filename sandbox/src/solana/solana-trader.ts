import type { Address, MaybeEncodedAccount } from '@solana/kit'
import { priceOf } from '../prices.ts'
import type { Bank } from './bank.ts'
import { type ReadAccount, unitsOf } from './dexes/dex-program.ts'
import { addressOf, type MarketPool } from './dexes/market-pool.ts'

export type Trade = Readonly<{ inputIndex: 0 | 1; units: bigint }>

const leastUnits = 1_000n
const stepsMax = 40
const amountOffset = 64

/** What to pay into a pool so that its price becomes the sandbox's; null if it is within the tolerance. */
export function planTrade(bank: Bank, pool: MarketPool, second: number | null): Trade | null {
  const read: ReadAccount = (address) => bank.readAccount(address)
  const worthOf = (side: 0 | 1) => Number(priceOf(pool.tickers[side], second)) / 10 ** pool.mints[side].decimals
  const target = worthOf(0) / worthOf(1)
  const price = pool.readPrice(read)
  if (Math.abs(price / target - 1) * 1e6 <= pool.tolerancePpm) return null
  // A sale of the first token makes it cheaper.
  const inputIndex = price > target ? 0 : 1
  const isShort = (units: bigint): boolean => {
    const after = priceAfter(bank, pool, { inputIndex, units })
    return after !== null && (inputIndex === 0 ? after > target : after < target)
  }
  // Pools refuse amounts of a few units.
  let [low, high] = [0n, leastUnits + unitsOf(read, pool.vaults[inputIndex]) / 1_000_000n]
  for (let step = 0; step < stepsMax && isShort(high); step++) [low, high] = [high, high * 4n]
  for (let step = 0; step < stepsMax && high - low > 1n; step++) {
    const middle = (low + high) / 2n
    if (isShort(middle)) low = middle
    else high = middle
  }
  return low > 0n ? { inputIndex, units: low } : null
}

/** An account that signs nothing, with token accounts that are copies of the vaults. */
const trader = { owner: addressOf('trader'), source: addressOf('trader source'), target: addressOf('trader target') }

/** The price that a trade would leave; null if the program refuses it. */
function priceAfter(bank: Bank, pool: MarketPool, { inputIndex, units }: Trade): number | null {
  const copies = new Map([
    [trader.source, pool.vaults[inputIndex]],
    [trader.target, pool.vaults[inputIndex === 0 ? 1 : 0]],
  ])
  const read: ReadAccount = (address) => bank.readAccount(copies.get(address) ?? address)
  const { accounts = [], data = new Uint8Array() } = pool.swap(read, { ...trader, inputIndex, units })
  const call = {
    accounts: accounts.map(({ address }) => address),
    data: new Uint8Array(data),
    signers: new Set([trader.owner]),
  }
  const outcome = pool.program.execute(call, read, bank.clock())
  if (outcome.error !== null) return null
  const changes = new Map<Address, bigint>()
  const add = (address: Address, change: bigint) => changes.set(address, (changes.get(address) ?? 0n) + change)
  for (const { source, destination, units: moved } of outcome.transfers) {
    add(source, -moved)
    add(destination, moved)
  }
  return pool.readPrice((address) => changed(read(address), outcome.writes.get(address), changes.get(address)))
}

function changed(
  account: MaybeEncodedAccount,
  written: Uint8Array | undefined,
  change: bigint | undefined,
): MaybeEncodedAccount {
  if (!account.exists || (written === undefined && change === undefined)) return account
  const data = Buffer.from(written ?? account.data)
  if (change !== undefined) data.writeBigUInt64LE(data.readBigUInt64LE(amountOffset) + change, amountOffset)
  return { ...account, data: new Uint8Array(data) }
}
