import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AssetId } from '../../server/src/core/domain/asset.ts'
import { createLog } from '../../server/src/lib/log.ts'
import { describeWith, hasProgram } from '../support/describe-with.ts'
import { partOf } from '../support/part.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { constantFeeServer } from './constant-fees.ts'
import { separateBankRoles } from './funders.ts'
import { describePath } from './graph.ts'
import { findGuessableIds, type PublicDeposit } from './guessable-ids.ts'
import { findIdsWithBothEnds, findLinesNaming, findLinesWithBothEnds } from './log-links.ts'
import { matchRun, readWithheldShares } from './match-run.ts'
import { type ObservedRun, observeExchanges, readHeights } from './observe-run.ts'
import { createObserver, toHolder } from './observer.ts'
import { loadServerWithOneKey } from './one-key-server.ts'
import { readPayoutDelays } from './payout-delays.ts'
import { readMonero, readMoneroHeight } from './read-monero.ts'
import { drawOrders } from './run-exchanges.ts'

const COUNT = 100
/** Time runs 120 times as fast as on real chains: blocks come every second, and a delay of ten minutes becomes five seconds. */
const PRIVACY = { delayMaxMs: 5_000, withheldMaxPpm: 10_000, payoutMaxPpm: 0, stallMs: 3_600_000 }
const load = { count: COUNT, durationMs: 10_000, scale: 3 }
const MONERO_COUNT = 8
/** The matcher hits nearly all random sizes: a few sizes may be similar, but a lower rate means that the matcher lacks data. */
const RANDOM_HIT_RATE_MIN = 0.85
/**
 * Of the fifty equal sizes. Who guesses within the six directions of the pairs hits one of each on average, 12 %; of 50 binomial
 * draws at 12 % at least 20 hit in less than one of a million runs, and at least 19 do more often. So this shows that equal sizes
 * are not distinguished, and no effect of a single measure: model.test.ts shows these, and the tests of delays and withheld parts
 * below read each measure from the chains.
 */
const EQUAL_HITS_BELOW = 20
/** Network fees move between the quote and the conversion; for the smallest amount that is this fraction. */
const QUOTE_TOLERANCE = 0.0008
/** Ring size of Monero since its hard fork of August 2022. */
const RING_SIZE = 16
const hasMonero = hasProgram('monerod')
type AssetPair = readonly [AssetId, AssetId]
const assetPairs: readonly AssetPair[] = [
  ['btc@btc', 'eth@eth'],
  ['eth@eth', 'btc@btc'],
  ['btc@btc', 'eth@eth'],
  ['eth@eth', 'btc@btc'],
  ['ltc@ltc', 'usdt@eth'],
  ['pol@matic', 'eth@eth'],
  ['usdt@eth', 'pol@matic'],
]
/** UTXO networks, and account networks whose keys share one coin type. */
const transparentNetworks = ['btc', 'ltc', 'eth', 'matic']

const findLinked = ({ pairs, observer }: Pick<ObservedRun, 'pairs' | 'observer'>) =>
  pairs.filter(({ payer, recipient }) => observer.areLinked(payer, recipient))

describeWith('litecoind', 'a hundred private exchanges at once', () => {
  const lines: string[] = []
  let scenario: Scenario
  let run: ObservedRun
  let moneroHeight = 0
  beforeAll(async () => {
    const log = createLog({ level: 'debug', pretty: false, destination: { write: (line) => void lines.push(line) } })
    const networks = [...transparentNetworks, ...(hasMonero ? ['xmr'] : [])]
    const since = await readHeights()
    scenario = await startScenario({ networks, settings: { privacy: PRIVACY }, log, server: constantFeeServer })
    moneroHeight = hasMonero ? await readMoneroHeight() : 0
    const orders = drawOrders([...assetPairs, ['usdt@eth', 'ltc@ltc']], {
      ...load,
      moneroCount: hasMonero ? MONERO_COUNT : 0,
    })
    run = await observeExchanges(scenario, orders, since, PRIVACY)
  }, 8 * PATIENCE_MS)
  afterAll(() => scenario?.stop())

  test('have no path on the chains from a payer to the recipient', () => {
    const { pairs, observer } = run
    expect(pairs).toHaveLength(COUNT)
    expect(findLinked(run).map(({ id, from, to }) => `${from} → ${to} ${id}`)).toEqual([])
    // The observer works: each payer is linked to recipients of other exchanges, because the same wallet pays them.
    for (const { payer } of pairs)
      expect(pairs.some(({ recipient }) => observer.areLinked(payer, recipient))).toBe(true)
  })

  test('have a path exactly between wallets that one address funded', () => {
    // The sandbox's bank funded the wallets of both EVM networks from one address, and those of btc and ltc from two others.
    const observer = createObserver(separateBankRoles(run.movements, run.wallets, 'one address'))
    const isEvm = ({ network }: { network: string }) => network === 'eth' || network === 'matic'
    const funded = run.pairs.filter(({ payer, recipient }) => isEvm(payer) && isEvm(recipient))
    const linked = findLinked({ pairs: run.pairs, observer })
    console.log(`one address funded both EVM wallets: ${linked.length} of ${COUNT} linked`)
    expect(funded.length).toBeGreaterThan(0)
    expect(linked.map(({ id }) => id)).toEqual(funded.map(({ id }) => id))
  })

  test('pay each deposit address of the second leg and each recipient once', () => {
    const { pairs, observer, innerAddresses } = run
    // The graph cannot show a second use: the address is on one chain only.
    expect(innerAddresses.size).toBe(COUNT)
    const transparentAddresses = [...innerAddresses.values()].filter(({ network }) => network !== 'xmr')
    for (const recipient of [...transparentAddresses, ...pairs.map(({ recipient }) => recipient)]) {
      const holder = toHolder(recipient)
      const payments = observer.movements.filter(({ to }) => to.some((side) => side.holder === holder))
      expect(payments).toHaveLength(1)
    }
  })

  describeWith('monerod', 'through Monero', () => {
    test('reveal neither recipients nor amounts on Monero', async () => {
      const { payments, outputs, plainAmounts, minRing, extraBytes } = await readMonero(moneroHeight)
      expect(payments).toBeGreaterThan(0)
      expect(new Set(outputs).size).toBe(outputs.length)
      expect({ plainAmounts, extraBytes }).toEqual({ plainAmounts: 0, extraBytes: 0 })
      expect(minRing).toBeGreaterThanOrEqual(RING_SIZE)
    })
  })

  test('do not link payer and recipient in logs or metrics', async () => {
    const { pairs } = run
    const metrics = await scenario.call('GET', '/metrics')
    expect([metrics.status, findLinesNaming(metrics.body, pairs)]).toEqual([200, []])
    // The log names each end alone: hashes of signed transactions and swept addresses.
    expect(findLinesNaming(lines.join(''), pairs)).not.toEqual([])
    expect(findLinesWithBothEnds(lines, pairs)).toEqual([])
    expect(findIdsWithBothEnds(lines, pairs)).toEqual([])
  })

  test('write no id to the signing journal or the log that an outsider can compute from the chains', async () => {
    const deposits = await scenario.app.database.query<PublicDeposit>('select network, identity from deposits')
    expect(deposits.length).toBeGreaterThanOrEqual(2 * COUNT)
    const journal = scenario.readJournal()
    // The journal names the recipient of every payment.
    for (const { recipient } of run.pairs) expect(journal).toContain(recipient.address)
    expect(findGuessableIds(journal, deposits)).toEqual([])
    expect(findGuessableIds(lines.join(''), deposits)).toEqual([])
    expect(findLinesWithBothEnds(journal.split('\n'), run.pairs)).toEqual([])
  })

  test('have no payment in a block before its delay is over', async () => {
    const delays = await readPayoutDelays(scenario, run)
    // Both legs of every exchange, except first legs that pay Monero. With so many payments, a missing delay would show.
    expect(delays.length).toBeGreaterThanOrEqual(2 * COUNT - MONERO_COUNT)
    expect(delays.filter(({ afterMs, drawnMs }) => afterMs < drawnMs)).toEqual([])
    // Evenly drawn: of about 200 draws the mean lies within a tenth of the maximum of its middle (5 standard deviations).
    const drawn = delays.map(({ drawnMs }) => drawnMs)
    const meanMs = drawn.reduce((sum, ms) => sum + ms, 0) / drawn.length
    expect(Math.abs(meanMs - PRIVACY.delayMaxMs / 2)).toBeLessThan(PRIVACY.delayMaxMs / 10)
    expect(Math.max(...drawn)).toBeLessThanOrEqual(PRIVACY.delayMaxMs)
    expect(new Set(drawn).size).toBeGreaterThan(0.9 * drawn.length)
  })

  test('withhold a part of each payment between the legs, within the published bounds', () => {
    const shares = readWithheldShares(scenario, run)
    expect(shares.length).toBeGreaterThanOrEqual(COUNT - MONERO_COUNT)
    const max = PRIVACY.withheldMaxPpm / 1_000_000
    expect(shares.filter((share) => !(share > max / 10 - QUOTE_TOLERANCE && share < max + QUOTE_TOLERANCE))).toEqual([])
    // Evenly drawn between a tenth of the maximum and all of it.
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
    expect(Math.abs(mean - 0.55 * max)).toBeLessThan(max / 8)
  })

  test('are mostly matched by amount and time if sizes are random, and seldom if sizes are equal', () => {
    const random = matchRun('with delays', scenario, run, 'random')
    const equal = matchRun('with delays', scenario, run, 'equal')
    expect(random.hits).toBeGreaterThan(random.count * RANDOM_HIT_RATE_MIN)
    expect(equal.count).toBe(COUNT / 2)
    expect(equal.hits).toBeLessThan(EQUAL_HITS_BELOW)
  })
})

/* Measures are switched off one at a time. */

describeWith('litecoind', 'private exchanges with one key for all networks', () => {
  const count = 30
  let server: Awaited<ReturnType<typeof loadServerWithOneKey>>
  let scenario: Scenario
  let run: ObservedRun
  beforeAll(async () => {
    server = await loadServerWithOneKey()
    const since = await readHeights()
    scenario = await startScenario({ networks: transparentNetworks, settings: { privacy: PRIVACY }, server })
    const orders = drawOrders([...assetPairs, ['usdt@eth', 'eth@eth']], {
      count,
      durationMs: 5_000,
      moneroCount: 0,
      scale: 1,
    })
    run = await observeExchanges(scenario, orders, since, PRIVACY)
  }, 8 * PATIENCE_MS)
  afterAll(async () => {
    await scenario?.stop()
    server?.remove()
  })

  test('have a path from every payer to the recipient', () => {
    const { pairs, observer } = run
    const paths = pairs.map(({ payer, recipient }) => observer.findPath(payer, recipient))
    for (const path of paths.slice(0, 6)) if (path) console.log(describePath(path))
    expect(paths.filter((path) => path === null)).toHaveLength(0)
    expect(findLinked(run)).toHaveLength(count)
  })
})

/** The graph contains links, no times or amounts: it is the same with and without these two measures. */
const plainSettings = [
  { name: 'without delays', privacy: { ...PRIVACY, delayMaxMs: 0 } },
  { name: 'with nothing withheld', privacy: { ...PRIVACY, withheldMaxPpm: 0 } },
]

for (const { name, privacy } of partOf(plainSettings, 2))
  describeWith('litecoind', `private exchanges ${name}`, () => {
    const count = 20
    let scenario: Scenario
    let run: ObservedRun
    beforeAll(async () => {
      const since = await readHeights()
      scenario = await startScenario({
        networks: transparentNetworks,
        settings: { privacy },
        server: constantFeeServer,
      })
      const orders = drawOrders(assetPairs, { count, durationMs: 5_000, moneroCount: 0, scale: 10 })
      run = await observeExchanges(scenario, orders, since, privacy)
    }, 8 * PATIENCE_MS)
    afterAll(() => scenario?.stop())

    test('have no path on the chains from a payer to the recipient', () => {
      expect(findLinked(run)).toEqual([])
    })

    test('show exactly the missing measure in the amounts and times of their payments', async () => {
      const delays = await readPayoutDelays(scenario, run)
      expect(delays).toHaveLength(2 * count)
      expect(delays.every(({ drawnMs }) => drawnMs === 0)).toBe(privacy.delayMaxMs === 0)
      const shares = readWithheldShares(scenario, run)
      expect(shares).toHaveLength(count)
      const smallest = PRIVACY.withheldMaxPpm / 10 / 1_000_000
      // Network fees move between the quote and the conversion, by less than the smallest withheld part.
      const withheld = shares.filter((share) => Math.abs(share) > 0.8 * smallest)
      expect(withheld).toHaveLength(privacy.withheldMaxPpm === 0 ? 0 : count)
    })

    // Of the ten equal sizes in five directions, a guess gets half right.
    test('are mostly matched by amount and time if sizes are random', () => {
      const { hits, count } = matchRun(name, scenario, run, 'random')
      expect(hits).toBeGreaterThan(count * RANDOM_HIT_RATE_MIN)
    })
  })
