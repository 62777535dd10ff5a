import { until } from '../../../test/support/until.ts'
import type { Asset } from '../../src/core/domain/asset.ts'
import { AppError } from '../../src/core/domain/errors.ts'
import { isUtxoFamily } from '../../src/core/domain/network.ts'
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

/** The adapter under test, and control over its chain. */
export type ChainParts = Readonly<{
  chain: Chain
  /** A second adapter with the same public keys and nodes, like that of another process. */
  twin: Chain
  /** The native currency of the network. */
  asset: Asset
  /** A small amount, well above dust and the fee of a transfer. */
  units: bigint
  sign(unsigned: UnsignedTransaction): SignedTransaction
  /** An external payment in native currency; returns the transaction hash. It waits for a block. */
  pay(address: string, units: bigint): Promise<string>
  /** A new address with keys that are not ours. */
  createExternalAddress(): Promise<string>
  /** Waits until the chain has this many more blocks. */
  blocks(count: number): Promise<void>
  /** Replaces the last blocks by a longer branch. */
  reorg(depth: number): Promise<void>
  /** Whether transactions of orphaned blocks are mined again. */
  remainsAfterReorg: boolean
  /** Valid addresses: as written, and their canonical form. */
  encodings: readonly (readonly [written: string, canonical: string])[]
  invalidAddresses: readonly string[]
  /** The recipient's adapter, on chains where only the recipient can read its payments. */
  recipientChain?: Chain
  stop(): Promise<void>
}>

/** The blocks from a height to the head; null if the chain was reorganised meanwhile. */
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

export type IncludedTransfer = Readonly<{ block: ScannedBlock; transfer: Transfer }>

/** All transfers to an address from a height on. */
export async function findTransfers(chain: Chain, address: string, from: number): Promise<readonly IncludedTransfer[]> {
  const blocks = await until('a scan without a reorganisation', () => scan(chain, from))
  return blocks.flatMap((block) =>
    block.transfers.filter((transfer) => transfer.address === address).map((transfer) => ({ block, transfer })),
  )
}

export type Wallet = ReturnType<typeof createWallet>

/** A hot wallet without a store: it keeps its nonce and its UTXOs in memory. */
export function createWallet({ chain, asset, units, pay, blocks }: ChainParts) {
  const hot = chain.addresses.hot()
  const hotKey: KeyPath = { branch: 'hot', index: chain.network.hotIndex }
  let utxos: readonly Utxo[] = []
  let [nonce, change, payouts] = [0, 0, 0]

  return {
    hot,
    /** Makes `count` external payments, each sufficient for several payouts. */
    async fund(count: number): Promise<void> {
      const from = await startOf(chain)
      const hashes = new Set<string>()
      for (let n = 0; n < count; n++) hashes.add(await pay(hot, 20n * units))
      await blocks(1)
      const received = await until('the wallet is funded', async () => {
        const all = await findTransfers(chain, hot, from)
        return all.length >= count ? all : null
      })
      // Monero locks every output for some blocks.
      if (chain.network.replaces === 'unseen') await blocks(chain.network.confirmations)
      const outputs = received
        .filter(({ transfer }) => hashes.has(transfer.txHash))
        .map(({ transfer }) => ({
          outpoint: chain.reader.outpoint?.(transfer, hotKey) ?? transfer.identity,
          units: transfer.units,
          path: hotKey,
        }))
      if (isUtxoFamily(chain.network)) utxos = outputs
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
        utxos,
        changeIndex: change,
        nonce: gasLimit === null ? null : usedNonce,
        replaces,
        gasLimit,
        sweepAll: false,
      })
      utxos = utxos.filter(({ outpoint }) => !unsigned.resources.includes(outpoint))
      if (replaces === null) [nonce, change] = [nonce + 1, change + 1]
      return unsigned
    },
  }
}

/** A start height for scans of later payments, low enough to survive a reorganisation of the last blocks. */
export async function startOf({ reader }: Chain): Promise<number> {
  return Math.max(0, (await reader.head()).height - 5)
}

/** Whether `receivedUnits` throws NETWORK_UNAVAILABLE: a node does not have the transaction in this block. */
export async function isReceivedUnknown({ reader }: Chain, { transfer, block }: IncludedTransfer): Promise<boolean> {
  try {
    await reader.receivedUnits(transfer, block)
    return false
  } catch (error) {
    if (error instanceof AppError && error.code === 'NETWORK_UNAVAILABLE') return true
    throw error
  }
}
