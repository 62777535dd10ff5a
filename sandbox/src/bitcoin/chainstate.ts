import { type Block, type Chain, type Entry, isVerifyError, type Mempool, type Tx } from './bcoin.ts'

export type Chainstate = Readonly<{
  /** Null if the block was accepted, else the BIP-22 reject reason. */
  submit(block: Block): Promise<string | null>
  /** False if the block does not exist. */
  invalidate(hash: string): Promise<boolean>
  reconsider(hash: string): Promise<boolean>
}>

/** Every operation that moves the tip; each one updates the mempool. Hashes are in internal byte order. */
export function createChainstate(chain: Chain, mempool: Mempool): Chainstate {
  const mempoolSync = syncMempool(chain, mempool)
  return {
    async submit(block) {
      const reason = await addBlock(chain, block)
      await mempoolSync.resubmitDisconnected()
      return reason
    },
    async invalidate(hash) {
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
      await mempoolSync.resubmitDisconnected()
      return true
    },
    async reconsider(hash) {
      if (!(await chain.getEntry(hash))) return false
      await withChainLocked(chain, () => activateBestBranch(chain, hash))
      await mempoolSync.resubmitDisconnected()
      return true
    },
  }
}

/**
 * Updates the mempool on every tip change. `resubmitDisconnected` adds the transactions of disconnected blocks again.
 */
function syncMempool(chain: Chain, mempool: Mempool) {
  let disconnected: Tx[] = []
  const ignore = () => undefined
  chain.on('error', ignore)
  mempool.on('error', ignore)
  chain.on('connect', (entry, block) => mempool._addBlock(entry, block.txs))
  chain.on('disconnect', async (entry, block) => {
    disconnected = [...block.txs.slice(1), ...disconnected]
    mempool.tip = entry.prevBlock
  })
  chain.on('reorganize', () => mempool._handleReorg())
  return {
    async resubmitDisconnected() {
      const transactions = disconnected
      disconnected = []
      for (const tx of transactions) {
        if (mempool.getEntry(tx.hash('hex')) || (await chain.getMeta(tx.hash('hex')))) continue
        const isRejected = await mempool.addTX(tx).then(
          (missing) => missing !== null,
          () => true,
        )
        // A mempool transaction that spends a missing output would make every mined block invalid.
        if (isRejected) evictSpenders(mempool, tx)
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

/** Clears the invalid mark of the block and switches to the branch with the most work, as Bitcoin Core does. */
async function activateBestBranch(chain: Chain, hash: string): Promise<void> {
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
    // bcoin marks the invalid block and every block that was submitted on top of it.
    if (block && branch.some((one) => one.hash === hash)) for (const one of branch) chain.removeInvalid(one.hash)
    if (branch[0] && block && !chain.hasInvalid(block) && branch[0].chainwork.gt(best.chainwork)) best = branch[0]
  }
  if (best === chain.tip) return
  await chain.reorganize(best)
  await chain.reconnect(best)
}
