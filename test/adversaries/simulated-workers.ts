import type { startMoneyPath } from '../../server/test/exchange/money-path.ts'

type Program = Awaited<ReturnType<typeof startMoneyPath>>

/** Jobs wake jobs: a deposit's exchange wakes its payout, whose transaction is signed, and sent by the next job. */
const ROUNDS_MAX = 8
const DUE_MAX = 1_000

/**
 * The workers of the program, as they run in production: the jobs in the queue, and the rows whose next check is due by the
 * simulated clock.
 */
export function createSimulatedWorkers({ database, store, fakes, dependencies, runWatchers, runJob }: Program) {
  const chains = [fakes.btc, fakes.eth]
  /** Ends the sightings of payments that were replaced: their exchanges are not checked any more. */
  const endSightings = async () => {
    for (const { network, txHash } of await store.chainLog.listSightings(DUE_MAX)) {
      const observed = await dependencies.chains.get(network)?.sender.observe({ txHash, conflictKey: null })
      if (observed?.kind === 'unseen') await store.chainLog.recordLookup(network, txHash, true)
    }
  }
  const takeQueued = async () =>
    (await database.query<{ key: string }>('delete from graphile_worker._private_jobs returning key')).map(
      ({ key }) => key,
    )

  /** Records what the chains have, and runs jobs until none is left. */
  const run = async (): Promise<void> => {
    await runWatchers()
    await endSightings()
    const due = await store.jobs.leaseDue(DUE_MAX)
    let keys = [...new Set([...due.map(({ kind, id }) => `${kind}:${id}`), ...(await takeQueued())])]
    for (let round = 0; round < ROUNDS_MAX && keys.length > 0; round++) {
      for (const key of keys) await runJob(key)
      keys = await takeQueued()
    }
  }

  return {
    run,
    /** Mines blocks on both chains, and runs the workers after the last one. */
    mine: async (count: number): Promise<void> => {
      for (const { mine } of chains) mine(count)
      await run()
    },
    /** Mines blocks on the chains with an unconfirmed payment; empty blocks of the other one decide nothing. */
    mineWaiting: async (count: number): Promise<void> => {
      for (const { chain, mine } of chains) if ((await chain.reader.mempool()).length > 0) mine(count)
      await run()
    },
  }
}
