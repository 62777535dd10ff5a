import { join } from 'node:path'
import {
  type Attack,
  aTokenThatLies,
  crashAfterSigning,
  curiousPartners,
  nobodyMines,
  nodesThatDoNotAnswer,
  payoutsAreForgotten,
} from './attacks.ts'
import type { Cluster } from './cluster.ts'
import type { FleetOptions } from './fleet.ts'
import { withFleet } from './run.ts'
import { copyServer, type Patch } from './server-copy.ts'

/** A mistake that somebody could make, and the attack that shows it. */
export type PlantedBug = Readonly<{
  name: string
  /** What it does, in the words of the judgement or of the attack itself: no other finding counts. */
  shows: RegExp
  patches: readonly Patch[]
  /** Returns what it saw itself, beside what the judgement finds. */
  attack: Attack | ((run: Parameters<Attack>[0]) => Promise<readonly string[]>)
}>

/** One process of each role, so that no other process does what the bug omits. */
const options: FleetOptions = {
  apis: 1,
  workers: 1,
  config: { clocks: { stuck: '1s' } },
  proxied: { networks: ['eth'] },
}
const advance = 'server/src/exchange/payouts/advance-transaction.ts'
const replace = 'server/src/exchange/payouts/replace-transaction.ts'
const dispatch = 'server/src/exchange/payouts/dispatch-payouts.ts'

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'paid at depth 0',
    shows: /^lost: .* is said to be paid$/,
    patches: [
      {
        file: advance,
        find: 'const { confirmations, finalityBlocks, blockTimeMs } = chain.network',
        put: 'const { blockTimeMs } = chain.network\n  const [confirmations, finalityBlocks] = [0, 0]',
      },
    ],
    attack: payoutsAreForgotten,
  },
  {
    name: 'sent before it is stored',
    // The payout twice, or its second half that the reconciler met first.
    shows: /^(paidTwice: |other: .*\(intrusion:)/,
    patches: [
      {
        file: dispatch,
        find: "checkpoint('dispatch.signed')",
        put: "await chain.sender.broadcast(signed.raw)\n  checkpoint('dispatch.signed')",
      },
    ],
    attack: crashAfterSigning,
  },
  {
    name: 'a replacement with a nonce of its own',
    // The signer's own memory stops the second one, and says so.
    shows: /^(paidTwice: |other: .*\(release:)/,
    patches: [
      {
        file: replace,
        find: "nonce: intent.family === 'evm' ? intent.nonce : null",
        put: "nonce: intent.family === 'evm' ? await tx.transactions.lockLane(transaction.network, transaction.wallet) : null",
      },
      {
        file: replace,
        find: 'wrapBuildError(() =>\n    chain.sender.build',
        put: 'wrapBuildError(async () =>\n    chain.sender.build',
      },
      { file: replace, find: 'replaces: { intent, feeUnits: newest.feeUnits }', put: 'replaces: null' },
      {
        file: replace,
        find: "assert(unsigned.conflictKey === transaction.conflictKey, 'a replacement spends the conflict key of all attempts')",
        put: '',
      },
    ],
    attack: nobodyMines,
  },
  {
    name: 'no answer is taken for a failure',
    // What was given up had its nonce, and may be mined all the same.
    shows: /^(paidTwice: |other: a gap in the nonces)/,
    patches: [
      {
        file: advance,
        find: "if (result.kind === 'rejected') {",
        put: "if (result.kind === 'unknown') return requeuePayouts(deps, transaction, { proof: { proof: [] }, attention: null })\n  if (result.kind === 'rejected') {",
      },
    ],
    attack: nodesThatDoNotAnswer,
  },
  {
    name: 'counted by its event alone',
    shows: /^wrongCredits: /,
    patches: [
      {
        file: 'server/src/exchange/settlement/step-exchange.ts',
        find: 'await reader.receivedUnits(deposit, deposit.block)',
        put: 'deposit.units',
      },
    ],
    attack: aTokenThatLies,
  },
  {
    name: "no filter for the partner's own",
    shows: /^leak: /,
    patches: [
      {
        file: 'server/src/adapters/postgres/exchange/poll-cache.ts',
        find: 'and e.partner_id = k.partner_id',
        put: 'and k.partner_id is not null',
      },
    ],
    attack: (run) => curiousPartners(run, { each: 5, asks: 200 }),
  },
]

/** What is owed and never comes is seen once nothing moved for this long; blocks that make something final come within half of it. */
const REST_MS = 30_000

/**
 * Runs the attack on a copy of the server with the bug in it. Returns what was found of it: nothing = the harness is blind.
 * What else is found may be another thing: where something never ends, it may only be slow.
 */
export async function findPlanted(cluster: Cluster, bug: PlantedBug): Promise<readonly string[]> {
  const found = await attackCopy(cluster, bug.name, bug.patches, [bug.attack], REST_MS)
  return found.filter((line) => bug.shows.test(line))
}

/** All of the attacks on a copy without a bug: what they find would be no bug's. */
export function findNone(cluster: Cluster): Promise<readonly string[]> {
  const attacks = plantedBugs.map(({ attack }) => attack)
  return attackCopy(cluster, 'no bug', [], attacks)
}

async function attackCopy(
  cluster: Cluster,
  name: string,
  patches: readonly Patch[],
  attacks: readonly PlantedBug['attack'][],
  restMs?: number,
): Promise<readonly string[]> {
  const root = copyServer(join(cluster.folder, name.replaceAll(/[^a-z0-9]+/g, '-')), patches)
  return withFleet(cluster, { ...options, root }, async (run) => {
    const seen: string[] = []
    for (const attack of attacks) seen.push(...((await attack(run)) ?? []))
    return [...seen, ...(await run.wrong(restMs))]
  })
}
