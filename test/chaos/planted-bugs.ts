import { join } from 'node:path'
import { type Attack, aTokenThatLies, curiousPartners, deathAfterSigning, nobodyMines, nodesThatDoNotAnswer, payoutsAreForgotten } from './attacks.ts'
import type { FleetOptions } from './fleet.ts'
import type { Ground } from './ground.ts'
import { withFleet } from './run.ts'
import { copyServer, type Patch } from './server-copy.ts'

/** A mistake that somebody could make, and the attack that shows it. */
export type PlantedBug = Readonly<{
  name: string
  patches: readonly Patch[]
  options: Omit<FleetOptions, 'root'>
  /** Returns what it saw itself, beside what the judgement finds. */
  attack: Attack | ((run: Parameters<Attack>[0]) => Promise<readonly string[]>)
}>

const advance = 'server/src/services/advance-transaction.ts'
const dispatch = 'server/src/services/dispatch-payouts.ts'

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'paid at depth 0',
    patches: [
      { file: advance, find: 'const { confirmations, finalityBlocks, blockTimeMs } = chain.network', put: 'const { blockTimeMs } = chain.network\n  const [confirmations, finalityBlocks] = [0, 0]' },
    ],
    options: { apis: 1, workers: 1 },
    attack: payoutsAreForgotten,
  },
  {
    name: 'sent before it is stored',
    patches: [{ file: dispatch, find: "checkpoint('dispatch.signed')", put: "await chain.sender.broadcast(signed.raw)\n  checkpoint('dispatch.signed')" }],
    options: { apis: 1, workers: 1 },
    attack: deathAfterSigning,
  },
  {
    name: 'a replacement with a nonce of its own',
    patches: [
      { file: advance, find: "nonce: intent.family === 'evm' ? intent.nonce : null", put: "nonce: intent.family === 'evm' ? await tx.transactions.lockLane(transaction.network, transaction.wallet) : null" },
      { file: advance, find: 'replaces: { intent, feeUnits: newest.feeUnits }', put: 'replaces: null' },
    ],
    options: { apis: 1, workers: 2, config: { clocks: { stuck: '1s' } } },
    attack: nobodyMines,
  },
  {
    name: 'no answer is taken for a failure',
    patches: [{ file: advance, find: "if (result.kind === 'rejected') {", put: "if (result.kind === 'unknown') return expire(deps, transaction, [])\n  if (result.kind === 'rejected') {" }],
    options: { apis: 1, workers: 1, proxied: { networks: ['eth'] } },
    attack: nodesThatDoNotAnswer,
  },
  {
    name: 'counted by its event alone',
    patches: [{ file: 'server/src/services/step-exchange.ts', find: 'await reader.received(deposit, deposit.block)', put: 'deposit.units' }],
    options: { apis: 1, workers: 1 },
    attack: aTokenThatLies,
  },
  {
    name: "no filter for the partner's own",
    patches: [{ file: 'server/src/adapters/postgres/exchanges.ts', find: 'where e.id = $1 and e.partner_id = $2', put: 'where e.id = $1 and $2::uuid is not null' }],
    options: { apis: 1, workers: 1 },
    attack: (run) => curiousPartners(run, { each: 5, asks: 200 }),
  },
]

/** What is owed and never comes is seen after this long; what is healthy needs less than half of it. */
const REST_MS = 45_000

/** Runs the attack on a copy of the server with the bug in it. Returns what was found: nothing = the harness is blind. */
export async function findPlanted(ground: Ground, bug: PlantedBug): Promise<readonly string[]> {
  const root = copyServer(join(ground.folder, bug.name.replaceAll(/[^a-z0-9]+/g, '-')), bug.patches)
  return attackOn(ground, bug, root)
}

/** The same attack on the server as it is: what it finds is no planted bug. */
export function findNone(ground: Ground, bug: PlantedBug): Promise<readonly string[]> {
  return attackOn(ground, bug, undefined)
}

async function attackOn(ground: Ground, { options, attack }: PlantedBug, root: string | undefined): Promise<readonly string[]> {
  return withFleet(ground, { ...options, ...(root === undefined ? {} : { root }) }, async (run) => {
    const seen = await attack(run)
    return [...(seen ?? []), ...(await run.wrong(REST_MS))]
  })
}
