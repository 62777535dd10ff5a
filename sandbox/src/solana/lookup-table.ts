import type { Address, MaybeEncodedAccount } from '@solana/kit'
import type { ReadAccount } from './dexes/dex-program.ts'
import { accountAt, addressOf, type MarketPool, put } from './dexes/market-pool.ts'

/* A lookup table of the accounts of the market's pools. It exists when the chain begins, in the byte layout of its program. */

const lookupTableProgram = 'AddressLookupTab1e1111111111111111111111111' as Address
const headerBytes = 56
const addressesMax = 256
/** Its place in a real cluster follows from its authority and a slot. */
export const marketTable = addressOf('lookup table')

type TableState = Readonly<{
  /** The slot at which its authority began to close it. Default: none. */
  deactivationSlot?: bigint
}>

export function lookupTableOf(
  address: Address,
  addresses: readonly Address[],
  { deactivationSlot = 2n ** 64n - 1n }: TableState = {},
): MaybeEncodedAccount {
  const data = Buffer.alloc(headerBytes + 32 * addresses.length)
  data.writeUInt32LE(1, 0)
  data.writeBigUInt64LE(deactivationSlot, 4)
  // Extended in slot 0, and without an authority, who could change it.
  for (const [place, one] of addresses.entries()) put(data, one, headerBytes + 32 * place)
  return accountAt(address, lookupTableProgram, data)
}

/** The accounts that trades in the pools name, without those of the trader. */
export function listPoolAccounts(pools: readonly MarketPool[], read: ReadAccount): readonly Address[] {
  const namedBy = (who: string) =>
    new Set(
      pools.flatMap((pool) =>
        ([0, 1] as const).flatMap((inputIndex) => {
          const [owner, source, target] = ['owner', 'source', 'target'].map((one) => addressOf(`${who} ${one}`)) as [
            Address,
            Address,
            Address,
          ]
          const { accounts = [] } = pool.swap(read, { owner, source, target, inputIndex, units: 1_000_000n })
          return accounts.map(({ address }) => address)
        }),
      ),
    )
  const [first, second] = [namedBy('first'), namedBy('second')]
  const common = [...first].filter((address) => second.has(address))
  if (common.length > addressesMax) throw new Error(`a lookup table holds ${addressesMax} addresses`)
  return common
}
