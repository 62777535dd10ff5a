import pLimit from 'p-limit'
import { type Bcoin, type Block, type Chain, loadBcoin, type Mempool, type Tx } from './bcoin.ts'
import { createBlockAssembler } from './block-assembler.ts'
import { type Chainstate, createChainstate } from './chainstate.ts'
import { type JournalRecord, openJournal } from './journal.ts'
import { type Acceptance, acceptTransaction } from './mempool-acceptance.ts'

/** A Bitcoin regtest node in this process. State is in memory; the next start rebuilds it from the journal. */
export type BcoinNode = Readonly<{
  bcoin: Bcoin
  chain: Chain
  mempool: Mempool
  /** Runs the work under the node's lock, so that the chain does not change meanwhile. */
  readLocked<Result>(work: () => Promise<Result>): Promise<Result>
  /** Mines one block on the tip. `txs: null` takes the mempool's transactions; `time: null` is now. */
  mineBlock(block: { script: Buffer; txs: readonly Tx[] | null; time: number | null }): Promise<Block>
  acceptTransaction(tx: Tx, options: { testOnly: boolean; maxFeeRate: number }): Promise<Acceptance>
  /** False if the block does not exist. */
  invalidateBlock(hash: string): Promise<boolean>
  reconsiderBlock(hash: string): Promise<boolean>
  close(): Promise<void>
}>

/** Above every height that a sandbox reaches. bcoin does not verify signatures below its last checkpoint. */
const replayCheckpointHeight = 0x7fffffff

export async function openBcoinNode(journalFile: string): Promise<BcoinNode> {
  const bcoin = loadBcoin()
  const { network } = bcoin
  const chain = new bcoin.Chain({ network, memory: true, indexTX: true })
  const mempool = new bcoin.Mempool({
    network,
    chain,
    memory: true,
    requireStandard: true,
    replaceByFee: true,
    // Reject a transaction with unknown inputs instead of keeping it as an orphan.
    maxOrphans: 0,
    rejectAbsurdFees: false,
  })
  await chain.open()
  await mempool.open()
  const assembleBlock = await createBlockAssembler(bcoin, chain, mempool)
  const chainstate = createChainstate(chain, mempool)
  const journal = openJournal(journalFile)
  await replay({ bcoin, chain, mempool }, chainstate, journal.records)

  const runExclusive = pLimit(1)
  const markBlock = (kind: 'invalidate' | 'reconsider') => (hash: string) =>
    runExclusive(async () => {
      const exists = await chainstate[kind](hash)
      if (exists) journal.append({ kind, bytes: Buffer.from(hash, 'hex') })
      return exists
    })

  return {
    bcoin,
    chain,
    mempool,
    readLocked: runExclusive,
    mineBlock: (request) =>
      runExclusive(async () => {
        const block = await assembleBlock(request)
        const reason = await chainstate.submit(block)
        if (reason !== null) throw new Error(reason)
        journal.append({ kind: 'block', bytes: block.toRaw() })
        return block
      }),
    acceptTransaction: (tx, options) =>
      runExclusive(async () => {
        const result = await acceptTransaction({ chain, mempool }, tx, options)
        if (result.kind === 'accepted' && !options.testOnly) journal.append({ kind: 'transaction', bytes: tx.toRaw() })
        return result
      }),
    invalidateBlock: markBlock('invalidate'),
    reconsiderBlock: markBlock('reconsider'),
    close: () =>
      runExclusive(async () => {
        journal.close()
        await mempool.close()
        await chain.close()
      }),
  }
}

type ReplayTarget = Pick<BcoinNode, 'bcoin' | 'chain' | 'mempool'>

/** Replays a journal without signature checks: they passed when the journal was written. */
async function replay(
  { bcoin, chain, mempool }: ReplayTarget,
  chainstate: Chainstate,
  records: readonly JournalRecord[],
): Promise<void> {
  bcoin.network.lastCheckpoint = replayCheckpointHeight
  const unconfirmed = new Map<string, Tx>()
  for (const { kind, bytes } of records) {
    if (kind === 'transaction') {
      const tx = bcoin.Tx.fromRaw(bytes)
      unconfirmed.set(tx.hash('hex'), tx)
    } else if (kind === 'block') await chainstate.submit(bcoin.Block.fromRaw(bytes))
    else await chainstate[kind](bytes.toString('hex'))
  }
  bcoin.network.lastCheckpoint = 0
  for (const [hash, tx] of unconfirmed) {
    // A transaction that conflicts with a block is rejected; a replacement replaces the original again, as in the
    // journal.
    if (!(await chain.getMeta(hash)))
      await acceptTransaction({ chain, mempool }, tx, { testOnly: false, maxFeeRate: 0 })
  }
}
