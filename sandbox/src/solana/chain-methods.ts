import { type Bank, type Block, blockhashAgeMax, epochSlots } from './bank.ts'
import { invalidParams, SolanaRpcError } from './rpc-error.ts'
import {
  type Options,
  readBlock,
  readBlockhash,
  readBytes,
  readCommitment,
  readInteger,
  readOptions,
  readText,
} from './rpc-params.ts'
import { blockTime, readTransactionForm } from './transaction-form.ts'
import { computeFee, decodeMessage, transactionBytesMax } from './wire-transaction.ts'

export type RpcMethod = (bank: Bank, params: readonly unknown[]) => unknown

/** The validator's version whose replies are followed. */
export const version = { 'solana-core': '3.0.0', 'feature-set': 0 }

export const withContext = (block: Block, value: unknown) => ({
  context: { apiVersion: version['solana-core'], slot: block.slot },
  value,
})

const blocksRangeMax = 500_000

function blockOfSlot(bank: Bank, slot: number, options: Options): Block {
  const commitment = readCommitment(options['commitment'])
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`')
  const first = bank.blocks()[0] as Block
  if (slot < first.slot)
    throw new SolanaRpcError(
      -32001,
      `Block ${slot} cleaned up, does not exist on node. First available block: ${first.slot}`,
    )
  const last = bank.blockAt(commitment)
  if (slot > last.slot) throw new SolanaRpcError(-32004, `Block not available for slot ${slot}`)
  const block = bank.blockOfSlot(slot)
  if (!block) throw new SolanaRpcError(-32009, `Slot ${slot} was skipped, or missing in long-term storage`)
  return block
}

export const chainMethods: Readonly<Record<string, RpcMethod>> = {
  getHealth: () => 'ok',
  getVersion: () => version,
  getGenesisHash: (bank) => bank.genesisHash,
  getSlot: (bank, [options]) => readBlock(bank, readOptions(options)).slot,
  getBlockHeight: (bank, [options]) => readBlock(bank, readOptions(options)).height,
  getLatestBlockhash(bank, [options]) {
    const block = readBlock(bank, readOptions(options))
    return withContext(block, { blockhash: block.hash, lastValidBlockHeight: block.height + blockhashAgeMax })
  },
  isBlockhashValid(bank, [hash, options]) {
    const blockhash = readBlockhash(hash)
    const block = readBlock(bank, readOptions(options))
    return withContext(block, bank.isBlockhashValid(blockhash, block))
  },
  getEpochInfo(bank, [options]) {
    const block = readBlock(bank, readOptions(options))
    return {
      absoluteSlot: block.slot,
      blockHeight: block.height,
      epoch: Math.floor(block.slot / epochSlots),
      slotIndex: block.slot % epochSlots,
      slotsInEpoch: epochSlots,
      transactionCount: null,
    }
  },
  getFirstAvailableBlock: (bank) => (bank.blocks()[0] as Block).slot,
  getBlockTime(bank, [slot]) {
    return blockTime(blockOfSlot(bank, readInteger(slot, 'u64'), { commitment: 'confirmed' }))
  },
  getBlock(bank, [slot, given]) {
    const options = readOptions(given)
    const block = blockOfSlot(bank, readInteger(slot, 'u64'), options)
    const details = options['transactionDetails'] ?? 'full'
    if (details !== 'full' && details !== 'signatures' && details !== 'none')
      throw invalidParams(
        `Invalid params: unknown variant \`${String(details).slice(0, 40)}\`, expected one of \`full\`, \`signatures\`, \`none\`.`,
      )
    const encode = readTransactionForm(options)
    return {
      blockHeight: block.height,
      blockTime: blockTime(block),
      blockhash: block.hash,
      parentSlot: block.parent.slot,
      previousBlockhash: block.parent.hash,
      ...(details === 'full' ? { transactions: block.executions.map(encode) } : {}),
      ...(details === 'signatures' ? { signatures: block.executions.map(({ wire }) => wire.signature) } : {}),
      ...(options['rewards'] === false ? {} : { rewards: [] }),
    }
  },
  getBlocks(bank, [first, second, third]) {
    const start = readInteger(first, 'u64')
    const end = typeof second === 'number' ? readInteger(second, 'u64') : undefined
    const options = readOptions(typeof second === 'number' ? third : (second ?? third))
    const commitment = readCommitment(options['commitment'])
    if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`')
    const last = Math.min(end ?? Number.MAX_SAFE_INTEGER, bank.blockAt(commitment).slot)
    if (end !== undefined && end - start > blocksRangeMax)
      throw invalidParams(`Slot range too large; max ${blocksRangeMax}`)
    return bank.blocks().flatMap(({ slot }) => (slot >= start && slot <= last ? [slot] : []))
  },
  getMinimumBalanceForRentExemption(bank, [bytes]) {
    return bank.rentExemption(readInteger(bytes, 'usize'))
  },
  getFeeForMessage(bank, [text, given]) {
    const bytes = readBytes(readText(text), 'base64', transactionBytesMax)
    const block = readBlock(bank, readOptions(given))
    let message: ReturnType<typeof decodeMessage>
    try {
      message = decodeMessage(bytes)
    } catch {
      throw invalidParams(
        'failed to deserialize solana_message::versions::VersionedMessage: io error: failed to fill whole buffer',
      )
    }
    if (!bank.isBlockhashValid(message.lifetimeToken, block)) return withContext(block, null)
    const fee = computeFee(message)
    return withContext(block, fee.base + fee.priority)
  },
  getRecentPrioritizationFees(bank, [given]) {
    const accounts = new Set(Array.isArray(given) ? given : [])
    if (accounts.size > 128) throw invalidParams(`Too many inputs provided; max 128`)
    // The least price that the writers of these accounts paid, in each of the last 150 blocks.
    return bank
      .blocks()
      .slice(-blockhashAgeMax)
      .map(({ slot, executions }) => {
        const prices = executions
          .filter(({ keys }) => accounts.size === 0 || keys.some((key) => accounts.has(key)))
          .map(({ fee }) => fee.unitPrice)
        return {
          slot,
          prioritizationFee: prices.sort((a, b) => (a < b ? -1 : 1))[0] ?? 0n,
        }
      })
  },
}
