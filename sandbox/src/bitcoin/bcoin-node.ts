import { createMutex } from '../mutex.ts'
import {
  type Bcoin,
  type Block,
  type Chain,
  type Entry,
  isVerifyError,
  loadBcoin,
  type Mempool,
  type Tx,
} from './bcoin.ts'
import { createBlockMaker } from './block-maker.ts'
import { openJournal } from './journal.ts'
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
  const exclusively = createMutex()
  const journal = openJournal(journalFile)
  const returning = followChain(chain, mempool)
  const makeBlock = await createBlockMaker(bcoin, chain, mempool)

  const invalidate = async (hash: string) => {
    const entry = await chain.getEntry(hash)
    if (!entry || entry.isGenesis()) return false
    await withChainLocked(chain, async () => {
      if (await chain.isMainChain(entry)) {
        for (let tip: Entry = chain.tip; ; tip = chain.tip) {
          await chain.disconnect(tip)
          if (tip.hash === hash) break
        }
        chain.setDeploymentState(await chain.getDeploymentState())
      }
      chain.setInvalid(hash)
    })
    await returning.restore()
    return true
  }

  const reconsider = async (hash: string) => {
    if (!(await chain.getEntry(hash))) return false
    await withChainLocked(chain, () => activateBest(chain, hash))
    await returning.restore()
    return true
  }

  const submit = async (block: Block) => {
    const reason = await addBlock(chain, block)
    await returning.restore()
    return reason
  }

  await replay({ bcoin, chain, mempool, invalidate, reconsider, submit }, journal.records)

  return {
    bcoin,
    chain,
    mempool,
    read: exclusively,
    mine: (wanted) =>
      exclusively(async () => {
        const block = await makeBlock(wanted)
        const reason = await submit(block)
        if (reason !== null) throw new Error(`a block of our own was refused: ${reason}`)
        journal.append({ kind: 'block', bytes: block.toRaw() })
        return block
      }),
    submit: (block) =>
      exclusively(async () => {
        const reason = await submit(block)
        if (reason === null || reason === 'inconclusive') journal.append({ kind: 'block', bytes: block.toRaw() })
        return reason
      }),
    accept: (tx, options) =>
      exclusively(async () => {
        const result = await acceptTransaction({ chain, mempool }, tx, options)
        if (result.kind === 'accepted' && !options.testOnly) journal.append({ kind: 'transaction', bytes: tx.toRaw() })
        return result
      }),
    invalidate: (hash) =>
      exclusively(async () => {
        const known = await invalidate(hash)
        if (known) journal.append({ kind: 'invalidate', bytes: Buffer.from(hash, 'hex') })
        return known
      }),
    reconsider: (hash) =>
      exclusively(async () => {
        const known = await reconsider(hash)
        if (known) journal.append({ kind: 'reconsider', bytes: Buffer.from(hash, 'hex') })
        return known
      }),
    close: () =>
      exclusively(async () => {
        journal.close()
        await mempool.close()
        await chain.close()
      }),
  }
}

/** Keeps the mempool in step with the chain. What a disconnected block held waits until `restore` offers it again. */
function followChain(chain: Chain, mempool: Mempool) {
  let returned: Tx[] = []
  const ignore = () => undefined
  chain.on('error', ignore)
  mempool.on('error', ignore)
  chain.on('connect', (entry, block) => mempool._addBlock(entry, block.txs))
  chain.on('disconnect', async (entry, block) => {
    returned = [...block.txs.slice(1), ...returned]
    mempool.tip = entry.prevBlock
  })
  chain.on('reorganize', () => mempool._handleReorg())
  return {
    async restore() {
      const waiting = returned
      returned = []
      for (const tx of waiting) {
        if (mempool.getEntry(tx.hash('hex')) || (await chain.getMeta(tx.hash('hex')))) continue
        const refused = await mempool.addTX(tx).then(
          (missing) => missing !== null,
          () => true,
        )
        // What spends an output that is gone could never be mined: it would make every block invalid.
        if (refused) evictSpenders(mempool, tx)
      }
    },
  }
}

function evictSpenders(mempool: Mempool, tx: Tx): void {
  tx.outputs.forEach((_output, index) => {
    const spender = mempool.getSpent(tx.hash('hex'), index)
    if (spender) mempool.evictEntry(spender)
  })
}

async function addBlock(chain: Chain, block: Block): Promise<string | null> {
  if (await chain.getEntry(block.hash('hex'))) return 'duplicate'
  if (!(await chain.getEntry(block.prevBlock))) return 'prev-blk-not-found'
  try {
    await chain.add(block)
  } catch (error) {
    if (isVerifyError(error)) return error.reason
    throw error
  }
  return chain.tip.hash === block.hash('hex') ? null : 'inconclusive'
}

async function withChainLocked(chain: Chain, work: () => Promise<void>): Promise<void> {
  const unlock = await chain.locker.lock()
  try {
    await work()
  } finally {
    unlock()
  }
}

/** Forgets that the block is invalid and goes over to the branch with the most work (Bitcoin Core's rule). */
async function activateBest(chain: Chain, hash: string): Promise<void> {
  chain.removeInvalid(hash)
  let best = chain.tip
  for (const tip of await chain.getTips()) {
    let entry = await chain.getEntry(tip)
    const branch: Entry[] = []
    while (entry && !(await chain.isMainChain(entry))) {
      branch.push(entry)
      entry = await chain.getPrevious(entry)
    }
    const block = branch[0] && (await chain.getBlock(branch[0].hash))
    // The mark of a branch is on its first invalid block and on whatever was offered on top of it.
    if (block && branch.some((one) => one.hash === hash)) for (const one of branch) chain.removeInvalid(one.hash)
    if (branch[0] && block && !chain.hasInvalid(block) && branch[0].chainwork.gt(best.chainwork)) best = branch[0]
  }
  if (best === chain.tip) return
  await chain.reorganize(best)
  await chain.reconnect(best)
}

type Replayed = Pick<BcoinNode, 'bcoin' | 'chain' | 'mempool' | 'invalidate' | 'reconsider' | 'submit'>

/** Plays a journal. Signatures were verified when it was written. */
async function replay(node: Replayed, records: ReturnType<typeof openJournal>['records']): Promise<void> {
  const { bcoin, chain, mempool } = node
  bcoin.network.lastCheckpoint = allHistory
  const unconfirmed = new Map<string, Tx>()
  for (const { kind, bytes } of records) {
    if (kind === 'transaction') {
      const tx = bcoin.Tx.fromRaw(bytes)
      unconfirmed.set(tx.hash('hex'), tx)
    } else if (kind === 'block') await node.submit(bcoin.Block.fromRaw(bytes))
    else await (kind === 'invalidate' ? node.invalidate : node.reconsider)(bytes.toString('hex'))
  }
  bcoin.network.lastCheckpoint = 0
  for (const [hash, tx] of unconfirmed) {
    // Mined, replaced or conflicting meanwhile: then it is refused again.
    if (!(await chain.getMeta(hash))) await mempool.addTX(tx).catch(() => undefined)
  }
}
