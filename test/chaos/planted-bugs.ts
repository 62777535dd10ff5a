import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Attack,
  broadcastToFaultyNode,
  crashAfterSigning,
  fakeTransferEvent,
  pauseMining,
  payDifferentAmounts,
  raceRateId,
  reorgPaidPayouts,
  requestForeignExchanges,
} from './attacks.ts'
import type { Cluster } from './cluster.ts'
import type { FleetOptions } from './fleet.ts'
import { withFleet } from './run.ts'
import { copyServer, type Patch } from './server-copy.ts'

/** A possible mistake in the server and the attack that reveals it. */
export type PlantedBug = Readonly<{
  name: string
  /**
   * Matches the findings that the bug causes, and none that slowness alone causes. Alarms of the program do not count: the
   * customers, the chains or the sums of the ledger must show the bug.
   */
  shows: RegExp
  patches: readonly Patch[]
  /** May return findings of its own in addition to those of the checks. */
  attack: Attack | ((run: Parameters<Attack>[0]) => Promise<readonly string[]>)
}>

/** One process of each role, so that no other process does what the bug omits. */
const options: FleetOptions = {
  apis: 1,
  workers: 1,
  config: { clocks: { stuck: '1s' } },
  proxied: { networks: ['eth'] },
  fixedFees: ['eth'],
}
const advance = 'server/src/exchange/payouts/advance-transaction.ts'
const replace = 'server/src/exchange/payouts/replace-transaction.ts'
const dispatch = 'server/src/exchange/payouts/dispatch-payouts.ts'
const journal = 'server/src/adapters/signers/signing-journal.ts'
const convert = 'server/src/exchange/settlement/steps/convert.ts'
const refund = 'server/src/exchange/settlement/steps/refund.ts'

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'paid at depth 0',
    shows: /^lost: exchange .* reports [1-9]\d* of .* has 0$/,
    patches: [
      {
        file: advance,
        find: 'const { confirmations, finalityBlocks, blockTimeMs } = chain.network',
        put: 'const { blockTimeMs } = chain.network\n  const [confirmations, finalityBlocks] = [0, 0]',
      },
    ],
    attack: reorgPaidPayouts,
  },
  {
    name: 'sent before it is stored',
    // The first payment is on the chain and in no answer. If the app does not notice its own transaction, it pays again.
    shows: /^(paidTwice: .* got |other: .* paid .* does not report it$)/,
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
    shows: /^paidTwice: .* got /,
    patches: [
      {
        file: replace,
        find: "nonce: intent.family === 'evm' ? intent.nonce : null",
        put: "nonce: intent.family === 'evm' ? await deps.store.transactions.lockLane(chain.network.id, chain.addresses.hot(), 0) : null",
      },
      {
        file: replace,
        find: 'wrapBuildError(() =>\n    chain.sender.build',
        put: 'wrapBuildError(async () =>\n    chain.sender.build',
      },
      { file: replace, find: 'replaces: { intent, feeUnits: newest.feeUnits, evictedUnits }', put: 'replaces: null' },
      {
        file: replace,
        find: "assert(unsigned.conflictKey === transaction.conflictKey, 'a replacement spends the conflict key of all attempts')",
        put: '',
      },
      // The signer's journal refuses a second payment too. Without it the bug reaches the chain.
      {
        file: journal,
        find: 'throw new AlreadyReleasedError(line.payoutId, before.hashes, isSame)',
        put: 'return false',
      },
    ],
    attack: pauseMining,
  },
  {
    name: 'a missing answer is treated as a failure',
    // The abandoned transaction has used its nonce and may still be mined. The proof is made up, because the database refuses an empty one.
    shows: /^(paidTwice: .* got |other: a gap in the nonces)/,
    patches: [
      {
        file: advance,
        find: "if (result.kind === 'rejected') {",
        put: "if (result.kind === 'unknown') return requeuePayouts(deps, transaction, { proof: { proof: [{ txHash: 'none', spentBy: 'none' }] }, attention: null })\n  if (result.kind === 'rejected') {",
      },
    ],
    attack: broadcastToFaultyNode,
  },
  {
    name: 'credited by its event alone',
    shows: /^wrongCredits: /,
    patches: [
      {
        file: 'server/src/exchange/settlement/step-exchange.ts',
        find: 'await reader.receivedUnits(deposit, block, held.read)',
        put: 'deposit.units',
      },
    ],
    attack: fakeTransferEvent,
  },
  {
    name: 'no filter by partner',
    shows: /^leak: /,
    patches: [
      {
        file: 'server/src/adapters/postgres/exchange/poll-cache.ts',
        find: 'and (k.partner_id is null or e.partner_id = k.partner_id)',
        put: '',
      },
    ],
    attack: (run) => requestForeignExchanges(run, { exchanges: 5, requests: 200 }),
  },
  {
    name: 'one rateId for two exchanges',
    shows: /^rateId: ([2-9]|\d{2}) exchanges are created with one rateId$/,
    patches: [
      {
        file: 'server/src/adapters/postgres/exchange/create-exchanges.ts',
        find: 'rate_nonce: row.rate?.nonce ?? null',
        put: 'rate_nonce: row.rate && row.rate.nonce + row.id',
      },
    ],
    attack: raceRateId,
  },
  {
    name: 'pays 1 % less',
    shows: /^lost: .* got [1-9]\d* of .* is due$/,
    patches: [
      {
        file: convert,
        find: 'const takeUnits = released?.units ?? dueUnitsOf(act, terms.toUnits)',
        put: 'const takeUnits = (dueUnitsOf(act, terms.toUnits) * 99n) / 100n',
      },
    ],
    attack: payDifferentAmounts,
  },
  {
    name: 'takes a tenth more than the network fee',
    // The fee of ether: that of bitcoin is exact in every fleet.
    shows: /^lost: .* got [1-9]\d* of eth@eth, .* is due$/,
    patches: [
      {
        file: 'server/src/exchange/domain/terms.ts',
        find: 'payout: (fromUnits) => afterNetworkFee(pricing, fromUnits),',
        put: 'payout: (fromUnits) => afterNetworkFee(pricing, fromUnits) - pricing.networkUnits / 10n,',
      },
    ],
    attack: payDifferentAmounts,
  },
  {
    name: 'quotes and takes twice the network fee',
    // Quotes, payouts and ledger agree, and each customer gets what was quoted.
    shows: /^other: a quote of .* to .* states network costs of \d+, and those of the chains are \d+$/,
    patches: [
      {
        file: 'server/src/exchange/domain/pricing.ts',
        find: 'const networkUnits = toCosts.networkUnits + depositCost(book, from, to)',
        put: 'const networkUnits = 2n * (toCosts.networkUnits + depositCost(book, from, to))',
      },
    ],
    attack: async (run) => void (await run.customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.004' })),
  },
  {
    name: 'ignores the fixed rate',
    // With still prices the live rate is better for the customer, by the surcharge of a fixed rate.
    shows: /^(paidTwice|lost): .* got [1-9]\d* of btc@btc, .* is due$/,
    patches: [
      { file: convert, find: 'if (await hasFixedRate(act, facts)) return toTerms(decideTerms(facts))', put: '' },
    ],
    attack: payDifferentAmounts,
  },
  {
    name: 'halves a refund',
    shows: /^lost: .* got [1-9]\d* of .* is due$/,
    patches: [
      {
        file: refund,
        find: 'released.units <= units ? released.units : units - feeUnits',
        put: 'released.units <= units ? released.units : (units - feeUnits) / 2n',
      },
    ],
    attack: payDifferentAmounts,
  },
  {
    name: 'drops a fee from the ledger',
    shows: /^imbalance: exchange .* kept .* the ledger has an income of /,
    patches: [
      {
        file: 'server/src/core/domain/ledger/entries.ts',
        find: "    { debit: inventory, credit: 'income:network-fee', assetId: take.assetId, units: take.networkUnits },\n",
        put: '',
      },
    ],
    attack: payDifferentAmounts,
  },
]

/** A missing payment is reported after this time without progress. Finality takes less than half of it. */
const IDLE_MS = 30_000

/**
 * Runs the attack on a copy of the server with the bug. Returns the findings that match `shows`; if empty, the checks missed
 * the bug. Other findings are ignored, because they may come from slowness alone.
 */
export async function attackWithBug(cluster: Cluster, bug: PlantedBug): Promise<readonly string[]> {
  const findings = await attackCopy(cluster, bug.patches, [bug.attack], IDLE_MS)
  return findings.filter((line) => bug.shows.test(line))
}

/** Runs all attacks on a copy of the server without a bug. Returns the findings, which must be empty. */
export function attackWithoutBug(cluster: Cluster): Promise<readonly string[]> {
  const attacks = [...new Set(plantedBugs.map(({ attack }) => attack))]
  return attackCopy(cluster, [], attacks)
}

/** Other tests may take the cores meanwhile, and no attack is about a server that has too much to do. */
const withoutOverloadGuard: Patch = {
  file: 'server/src/core/http/settings.ts',
  find: '  overload: { eventLoopDelayMs: 200, sampleMs: 1_000 },\n',
  put: '  overload: null,\n',
}

async function attackCopy(
  cluster: Cluster,
  patches: readonly Patch[],
  attacks: readonly PlantedBug['attack'][],
  idleMs?: number,
): Promise<readonly string[]> {
  // The same path for every copy, so that Node's compile cache has the files that no patch changes.
  const path = join(cluster.folder, 'server-copy')
  rmSync(path, { recursive: true, force: true })
  const root = copyServer(path, [withoutOverloadGuard, ...patches])
  return withFleet(cluster, { ...options, root }, async (run) => {
    const findings: string[] = []
    for (const attack of attacks) findings.push(...((await attack(run)) ?? []))
    return [...findings, ...(await run.listFindings(idleMs))]
  })
}
