import { until } from '../../../test/support/until.ts'
import type { Asset } from '../../src/core/domain/asset.ts'
import { AppError } from '../../src/core/domain/errors.ts'
import { spendsInPlace } from '../../src/core/domain/network.ts'
import type { FeeRate } from '../../src/core/ports/chain.ts'
import type {
  Chain,
  ScannedBlock,
  SpendRequest,
  Transfer,
  UnsignedTransaction,
} from '../../src/exchange/ports/chain.ts'
import type { SignedTransaction } from '../../src/exchange/ports/signer.ts'
import type { KeyPath, Payment, Utxo } from '../../src/exchange/ports/spend.ts'

/** What a network's test brings: an adapter, and hands on the chain behind it. */
export type ChainParts = Readonly<{
  chain: Chain
  /** Another one from the same public keys and nodes, as a second process would have it. */
  twin: Chain
  /** The coin of the network. */
  asset: Asset
  /** A small payment: well above dust and what a transfer costs. */
  units: bigint
  sign(unsigned: UnsignedTransaction): SignedTransaction
  /** An external payment in native currency; returns the transaction hash. It waits for a block. */
  pay(address: string, units: bigint): Promise<string>
  /** A fresh address of nobody of ours. */
  stranger(): Promise<string>
  /** Returns when the chain has so many more blocks. */
  blocks(count: number): Promise<void>
  /** Replaces the last blocks by a longer branch. */
  reorg(depth: number): Promise<void>
  /** Whether what was in replaced blocks is mined again afterwards, or is gone. */
  remainsAfterReorg: boolean
  /** Addresses from outside: what is written, and the canonical form. */
  encodings: readonly (readonly [written: string, canonical: string])[]
  invalidAddresses: readonly string[]
  /** How the stranger sees what came, on chains where nobody else does. */
  outside?: Chain
  stop(): Promise<void>
}>

/** The blocks from a height to the head; null where the chain moved meanwhile. */
export async function scan({ reader }: Chain, from: number): Promise<readonly ScannedBlock[] | null> {
  const { height: to } = await reader.head()
  const blocks: ScannedBlock[] = []
  for (let height = from; height <= to; height++) {
    const block = await reader.block(height)
    const before = blocks.at(-1)
    if (block === null || (before && block.parentHash !== before.hash)) return null
    blocks.push(block)
  }
  return blocks
}

export type Arrival = Readonly<{ block: ScannedBlock; transfer: Transfer }>

/** Every transfer to an address in the blocks from a height on. */
export async function arrivals(chain: Chain, address: string, from: number): Promise<readonly Arrival[]> {
  const blocks = await until('the chain stands still for a scan', () => scan(chain, from))
  return blocks.flatMap((block) =>
    block.transfers.filter((transfer) => transfer.address === address).map((transfer) => ({ block, transfer })),
  )
}

export type Wallet = ReturnType<typeof createWallet>

/** The hot wallet of a app without a store: it counts its own nonces and remembers its own coins. */
export function createWallet({ chain, asset, units, pay, blocks }: ChainParts) {
  const hot = chain.addresses.hot()
  const hotKey: KeyPath = { branch: 'hot', index: chain.network.hotIndex }
  let coins: readonly Utxo[] = []
  let [nonce, change, payouts] = [0, 0, 0]

  return {
    hot,
    /** So many payments from outside, each good for several payouts. */
    async fund(count: number): Promise<void> {
      const from = await startOf(chain)
      const hashes = new Set<string>()
      for (let n = 0; n < count; n++) hashes.add(await pay(hot, 20n * units))
      await blocks(1)
      const found = await until('the wallet has its coins', async () => {
        const all = await arrivals(chain, hot, from)
        return all.length >= count ? all : null
      })
      // The protocol itself may keep an output locked for a while.
      if (chain.network.replaces === 'unseen') await blocks(chain.network.confirmations)
      const outpoints = found
        .filter(({ transfer }) => hashes.has(transfer.txHash))
        .map(({ transfer }) => ({
          outpoint: chain.reader.outpoint?.(transfer, hotKey) ?? transfer.identity,
          units: transfer.units,
          path: hotKey,
        }))
      if (spendsInPlace(chain.network)) coins = outpoints
    },
    payTo: (address: string, amount = units): Payment => ({
      payoutId: `payout ${++payouts}`,
      address,
      memo: null,
      asset,
      units: amount,
    }),
    async build(
      payment: Payment,
      parts: { fee?: FeeRate; replaces?: SpendRequest['replaces'] } = {},
    ): Promise<UnsignedTransaction> {
      const replaces = parts.replaces ?? null
      const fee = parts.fee ?? (await chain.reader.feeRate())
      const gasLimit = await chain.sender.gasLimit(payment, hotKey)
      const usedNonce = replaces?.intent.family === 'evm' ? replaces.intent.nonce : nonce
      const unsigned = await chain.sender.build({
        payments: [payment],
        from: hotKey,
        fee,
        utxos: coins,
        changeIndex: change,
        nonce: gasLimit === null ? null : usedNonce,
        replaces,
        gasLimit,
        sweepAll: false,
      })
      coins = coins.filter(({ outpoint }) => !unsigned.resources.includes(outpoint))
      if (replaces === null) [nonce, change] = [nonce + 1, change + 1]
      return unsigned
    },
  }
}

/** A height from which a scan finds what is paid from now on, even if the last blocks are replaced before. */
export async function startOf({ reader }: Chain): Promise<number> {
  return Math.max(0, (await reader.head()).height - 5)
}

/** Whether the reader refuses to say what was received: where the transaction is not in this block of every node. */
export async function refusesToSay({ reader }: Chain, { transfer, block }: Arrival): Promise<boolean> {
  try {
    await reader.receivedUnits(transfer, block)
    return false
  } catch (error) {
    if (error instanceof AppError && error.code === 'NETWORK_UNAVAILABLE') return true
    throw error
  }
}
