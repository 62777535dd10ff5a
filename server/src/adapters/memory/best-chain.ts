import { assert, present } from '../../lib/assert.ts'
import type { BlockRef, Transfer } from '../../ports/chain.ts'
import { balanceKey, createTimeline } from './accounts.ts'
import { announced, genesisParent, type MemoryBlock, type PoolTransaction, type Receipt, sealBlock } from './block.ts'

/** Gas that transfers take: the protocol's for the coin, a usual ERC-20's for tokens. */
export const TRANSFER_GAS = { coin: 21_000n, token: 65_000n } as const

export type BestChain = ReturnType<typeof createBestChain>
export type BestChainOptions = Readonly<{ seed: string; startTime: number; blockTimeMs: number; baseFee: bigint }>
type Signed = Extract<PoolTransaction, { kind: 'signed' }>

/** The blocks that have won so far, and what every account has by them. */
export function createBestChain(options: BestChainOptions) {
  const { seed, startTime, blockTimeMs } = options
  const balances = createTimeline(0n)
  const nonces = createTimeline(0)
  const blocks: MemoryBlock[] = []
  const inclusions = new Map<string, MemoryBlock>()
  let { baseFee } = options
  let branch = 0

  const top = () => present(blocks.at(-1), 'the first block')
  const timeOf = (height: number) => startTime + Math.floor((height * blockTimeMs) / 1000)

  /** Executes in order; what cannot run now must not be given. */
  function append(transactions: readonly PoolTransaction[]): MemoryBlock {
    const height = blocks.length
    const touched = new Set<string>()
    const add = (address: string, contract: string | null, units: bigint) => {
      const key = balanceKey(address, contract)
      touched.add(key)
      balances.set(key, height, balances.at(key, height) + units)
    }
    const receipts = new Map<string, Receipt>()
    for (const transaction of transactions) {
      const receipt = transaction.kind === 'outside' ? outsideReceipt(transaction) : execute(transaction, height, add)
      for (const { identity, address, contract } of receipt.transfers)
        add(address, contract, receipt.delivered.get(identity) ?? 0n)
      if (transaction.kind === 'signed') {
        touched.add(transaction.sender)
        nonces.set(transaction.sender, height, transaction.body.nonce + 1)
      }
      receipts.set(transaction.hash, receipt)
    }
    const parentHash = blocks.at(-1)?.hash ?? genesisParent
    const block = sealBlock({
      height,
      parentHash,
      time: timeOf(height),
      seed,
      branch: `main ${branch}`,
      receipts,
      touched,
    })
    for (const txHash of receipts.keys()) inclusions.set(txHash, block)
    blocks.push(block)
    return block
  }

  function execute(
    transaction: Signed,
    height: number,
    add: (address: string, contract: string | null, units: bigint) => void,
  ): Receipt {
    const { body, sender } = transaction
    assert(nonces.at(sender, height) === body.nonce, 'nonces are used in order')
    const gas = body.contract === null ? TRANSFER_GAS.coin : TRANSFER_GAS.token
    const feeUnits = (gas < body.gasLimit ? gas : body.gasLimit) * priceOf(body)
    add(sender, null, -feeUnits)
    const held = balances.at(balanceKey(sender, body.contract), height)
    const ok = gas <= body.gasLimit && held >= body.units
    const transfers = ok && body.units > 0n ? announced(transaction) : []
    if (ok) add(sender, body.contract, -body.units)
    return {
      transaction,
      ok,
      feeUnits,
      transfers,
      delivered: new Map(transfers.map(({ identity, units }) => [identity, units])),
    }
  }

  /** What a unit of gas costs now (EIP-1559). */
  function priceOf({ maxFeePerGas, maxPriorityFeePerGas }: Signed['body']): bigint {
    const offered = baseFee + maxPriorityFeePerGas
    return offered < maxFeePerGas ? offered : maxFeePerGas
  }

  /** The transactions of the blocks that are gone, block by block. */
  function takeBack(depth: number): readonly (readonly PoolTransaction[])[] {
    const orphaned = blocks.splice(blocks.length - depth)
    branch++
    for (const { height, touched, receipts } of orphaned) {
      balances.takeBack(touched, height)
      nonces.takeBack(touched, height)
      for (const txHash of receipts.keys()) inclusions.delete(txHash)
    }
    return orphaned.map(({ receipts }) => [...receipts.values()].map(({ transaction }) => transaction))
  }

  append([])
  return {
    append,
    takeBack,
    head: (): BlockRef => ({ height: top().height, hash: top().hash }),
    block: (height: number): MemoryBlock | null => blocks[height] ?? null,
    slice: () => blocks.slice(),
    /** The block of the best chain that holds the transaction. */
    including: (txHash: string): MemoryBlock | null => inclusions.get(txHash) ?? null,
    timeOf,
    seed,
    baseFee: () => baseFee,
    setBaseFee(wei: bigint) {
      assert(wei > 0n, 'a base fee is positive')
      baseFee = wei
    },
    balance: (address: string, contract: string | null, height = top().height) =>
      balances.at(balanceKey(address, contract), height),
    nonce: (address: string, height = top().height) => nonces.at(address, height),
    freeze: () => {
      const [balance, nonce] = [balances.freeze(), nonces.freeze()]
      return { balance: (address: string, contract: string | null) => balance(balanceKey(address, contract)), nonce }
    },
    paidTo: (address: string): readonly Transfer[] =>
      blocks.flatMap(({ scanned }) => scanned.transfers.filter((transfer) => transfer.address === address)),
  }
}

function outsideReceipt(transaction: Extract<PoolTransaction, { kind: 'outside' }>): Receipt {
  const transfers = transaction.ok ? announced(transaction) : []
  const delivered = new Map(
    transfers.map(({ identity }, place) => [identity, transaction.pays[place]?.delivered ?? 0n]),
  )
  return { transaction, ok: transaction.ok, feeUnits: 0n, transfers, delivered }
}
