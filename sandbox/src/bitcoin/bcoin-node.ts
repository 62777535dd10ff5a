import pLimit from 'p-limit'
import { type Bcoin, type Block, type Chain, loadBcoin, type Mempool, type Tx } from './bcoin.ts'
import { createBlockMaker } from './block-maker.ts'
import { type Branches, createBranches } from './branches.ts'
import { type JournalRecord, openJournal } from './journal.ts'
import { type Acceptance, acceptTransaction } from './mempool-acceptance.ts'

/** A Bitcoin regtest node in this process: in memory, with a journal from which the next start makes it again. */
export type BcoinNode = Readonly<{
  bcoin: Bcoin
  chain: Chain
  mempool: Mempool
  /** Nothing changes while the work runs. */
  read<Result>(work: () => Promise<Result>): Promise<Result>
  /** Mines one block on the tip. `txs: null` = what the mempool holds; `time` null = now. */
  mine(block: { script: Buffer; txs: readonly Tx[] | null; time: number | null }): Promise<Block>
  /** Null when the block was taken, else why not, in the words of BIP-22. */
  submit(block: Block): Promise<string | null>
  accept(tx: Tx, options: { testOnly: boolean; maxFeeRate: number }): Promise<Acceptance>
  /** False when there is no such block. */
  invalidate(hash: string): Promise<boolean>
  reconsider(hash: string): Promise<boolean>
  close(): Promise<void>
}>

/** Above every height that a sandbox reaches: blocks up to here are not verified again. */
const allHistory = 0x7fffffff

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
    // A transaction whose inputs are unknown is refused, not kept for later.
    maxOrphans: 0,
    rejectAbsurdFees: false,
  })
  await chain.open()
  await mempool.open()
  const makeBlock = await createBlockMaker(bcoin, chain, mempool)
  const branches = createBranches(chain, mempool)
  const journal = openJournal(journalFile)
  await replay({ bcoin, chain, mempool }, branches, journal.records)

  const exclusively = pLimit(1)
  const marked = (kind: 'invalidate' | 'reconsider') => (hash: string) =>
    exclusively(async () => {
      const known = await branches[kind](hash)
      if (known) journal.append({ kind, bytes: Buffer.from(hash, 'hex') })
      return known
    })

  return {
    bcoin,
    chain,
    mempool,
    read: exclusively,
    mine: (wanted) =>
      exclusively(async () => {
        const block = await makeBlock(wanted)
        const reason = await branches.submit(block)
        if (reason !== null) throw new Error(reason)
        journal.append({ kind: 'block', bytes: block.toRaw() })
        return block
      }),
    submit: (block) =>
      exclusively(async () => {
        const reason = await branches.submit(block)
        if (reason === null || reason === 'inconclusive') journal.append({ kind: 'block', bytes: block.toRaw() })
        return reason
      }),
    accept: (tx, options) =>
      exclusively(async () => {
        const result = await acceptTransaction({ chain, mempool }, tx, options)
        if (result.kind === 'accepted' && !options.testOnly) journal.append({ kind: 'transaction', bytes: tx.toRaw() })
        return result
      }),
    invalidate: marked('invalidate'),
    reconsider: marked('reconsider'),
    close: () =>
      exclusively(async () => {
        journal.close()
        await mempool.close()
        await chain.close()
      }),
  }
}

type Core = Pick<BcoinNode, 'bcoin' | 'chain' | 'mempool'>

/** Plays a journal. Signatures in its blocks were verified when it was written. */
async function replay(
  { bcoin, chain, mempool }: Core,
  branches: Branches,
  records: readonly JournalRecord[],
): Promise<void> {
  bcoin.network.lastCheckpoint = allHistory
  const unconfirmed = new Map<string, Tx>()
  for (const { kind, bytes } of records) {
    if (kind === 'transaction') {
      const tx = bcoin.Tx.fromRaw(bytes)
      unconfirmed.set(tx.hash('hex'), tx)
    } else if (kind === 'block') await branches.submit(bcoin.Block.fromRaw(bytes))
    else await branches[kind](bytes.toString('hex'))
  }
  bcoin.network.lastCheckpoint = 0
  for (const [hash, tx] of unconfirmed) {
    // What conflicts with a block is refused again; of two versions the later replaces the earlier, as it did before.
    if (!(await chain.getMeta(hash)))
      await acceptTransaction({ chain, mempool }, tx, { testOnly: false, maxFeeRate: 0 })
  }
}
