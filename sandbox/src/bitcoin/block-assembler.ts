import type { Bcoin, Block, Chain, Mempool, Miner, Tx } from './bcoin.ts'

type BlockRequest = { script: Buffer; txs: readonly Tx[] | null; time: number | null }

/** Assembles blocks on the tip, with any output script for the reward. */
export async function createBlockAssembler(bcoin: Bcoin, chain: Chain, mempool: Mempool) {
  const { network } = bcoin
  const fromMempool: Miner = new bcoin.Miner({ network, chain, mempool })
  const fromList: Miner = new bcoin.Miner({ network, chain })

  return async ({ script, txs, time }: BlockRequest): Promise<Block> => {
    const miner = txs === null ? fromMempool : fromList
    const job = await miner.cpu.createJob(chain.tip, bcoin.genericAddress)
    const { attempt } = job
    const createCoinbase = attempt.createCoinbase.bind(attempt)
    attempt.createCoinbase = (hash) => {
      const coinbase = createCoinbase(hash)
      coinbase.outputs[0]?.script.fromRaw(script)
      coinbase.refresh()
      return coinbase
    }
    if (time !== null) attempt.time = Math.max(time, attempt.mtp + 1)
    for (const [index, tx] of (txs ?? []).entries()) {
      const view = await chain.getCoinView(tx)
      for (const earlier of (txs ?? []).slice(0, index)) view.addTX(earlier, attempt.height)
      if (!tx.hasCoins(view)) throw new Error('bad-txns-inputs-missingorspent')
      attempt.addTX(tx, view)
    }
    attempt.refresh()
    return miner.cpu.mine(job)
  }
}
