import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Chains, startChains } from '../../../../test/support/chains.ts'
import { type Json, type Scenario, startScenario } from '../../../../test/support/scenario.ts'
import { DROPPED_MS, isDroppedAndRecovers, isReopenedByReorg, isReplaced, isReverted } from './failing-swaps.ts'
import { NATIVE, type Stage, stageOn } from './partner.ts'
import {
  feesAreOwedToPartner,
  paysTheQuotedAmount,
  quotesLowestOutputOfAMinute,
  requestsOneApproval,
} from './paying-swaps.ts'
import { onlyApprovesOurRouter, refusesTamperedSwaps } from './refused-swaps.ts'
import { isOneRow, isReportedByHash, refusesAUsedNonce } from './repeated-swaps.ts'

const networks = ['eth', 'sei', 'arbitrum', 'base', 'bsc', 'cchain', 'celo', 'linea', 'matic', 'op', 'sonic', 'uni']

/** Of its own: every network is reorganised, and what others paid there meanwhile would be lost. */
let chains: Chains
let folder: string
let scenario: Scenario
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'swapyard-networks-'))
  chains = await startChains(folder, networks)
  scenario = await startScenario({ networks, chainsFile: chains.file, swaps: { droppedMs: DROPPED_MS } })
})
afterAll(async () => {
  await scenario?.stop()
  await chains?.stop()
  await rm(folder, { recursive: true, force: true })
})

// Mostly waiting for blocks and the tracker: all networks at a time, and one test after the other on each.
describe.for(networks)('on %s a swap', { concurrent: true }, (network) => {
  const inTurn = { concurrent: false }
  let stage: Stage
  let fees: ReadonlyMap<string, bigint> = new Map()
  beforeAll(async () => {
    stage = await stageOn(scenario, network)
  })

  test('coin → token → token → coin pays to the unit what was quoted, and the fee', inTurn, async () => {
    fees = await paysTheQuotedAmount(stage)
  })
  test('asks for an approval where none is there', inTurn, () => requestsOneApproval(stage))
  test('is refused where somebody changed it, or for another chain', inTurn, () => refusesTamperedSwaps(stage))
  test('approves nobody but our router, which is sent by isExchange: false, too', inTurn, () =>
    onlyApprovesOurRouter(stage),
  )
  test('is one row, however often it is sent', inTurn, () => isOneRow(stage))
  test('is refused where its nonce is used', inTurn, () => refusesAUsedNonce(stage))
  test('that was sent by the user is told by its hash alone', inTurn, () => isReportedByHash(stage))
  if (network === 'base')
    test('where a fee may move by the second is quoted as the second that pays least', inTurn, () =>
      quotesLowestOutputOfAMinute(stage),
    )
  if (network === 'celo') test('knows that the coin and its token are one', inTurn, () => isOneCoin(stage))
  test('fails where another transaction took its nonce', inTurn, () => isReplaced(stage))
  test('fails where no node knows it any more, until it comes back', inTurn, () => isDroppedAndRecovers(stage))
  test('is opened again by a reorg under it, and ends as the chain ends', inTurn, () => isReopenedByReorg(stage))
  test('has paid its fees to the operator, for the partner', inTurn, () => feesAreOwedToPartner(stage, fees))
  // Last: the pools don't come back.
  test('fails where the pools moved beyond its slippage', inTurn, () => isReverted(stage))
})

async function isOneCoin(stage: Stage): Promise<void> {
  const { body } = await stage.quote({
    ...{ fromTokenAddress: NATIVE, toTokenAddress: stage.wrapped, amount: '1', slippage: '1', referrerFee: '0' },
  })
  expect(body).toMatchObject({ statusCode: 400, code: 'SAME_CURRENCY' })
  const listed = await scenario.call('GET', '/v1/defi/available-currencies?network=celo')
  const coins = listed.body.filter((one: { symbol: string }) => one.symbol === 'CELO')
  expect(coins).toHaveLength(1)
}

describe('of all networks', () => {
  const list = async (query = '', headers: Record<string, string> = {}): Promise<Json> =>
    (await scenario.call('GET', `/v1/defi/exchange/list${query}`, undefined, headers)).body

  test('the list has filters, pages, a window of a day, and nobody else’s', async () => {
    const stage = await stageOn(scenario, 'base')
    const usdc = stage.token('usdc')
    const all = await list()
    expect(all.total).toBe(all.exchanges.length)
    expect(all.total).toBeGreaterThan(10 * networks.length)
    const created = all.exchanges.map((one: Json) => one.created)
    expect(created).toEqual([...created].sort().reverse())
    const ids = (rows: readonly Json[]): string[] => rows.map(({ id }) => id)
    const counted = async (query: string, holds: (one: Json) => boolean): Promise<number> => {
      const found = await list(query)
      expect(ids(found.exchanges), query).toEqual(ids(all.exchanges.filter(holds)))
      expect(found.total).toBe(found.exchanges.length)
      return found.total
    }
    const from = ({ fromTokenAddress }: Json, token: string) => fromTokenAddress.toLowerCase() === token.toLowerCase()
    const to = ({ toTokenAddress }: Json, token: string) => toTokenAddress.toLowerCase() === token.toLowerCase()
    expect(await counted('?status=failed', ({ status }) => status === 'failed')).toBe(3 * networks.length)
    const coinForDollars = `?toTokenAddress=${usdc.toLowerCase()}&fromTokenAddress=${NATIVE}&network=BASE`
    expect(
      await counted(coinForDollars, (one) => one.network === 'base' && from(one, NATIVE) && to(one, usdc)),
    ).toBeGreaterThan(4)
    expect(await counted('?network=eth', ({ network }) => network === 'eth')).toBeGreaterThan(10)
    expect(await counted(`?fromTokenAddress=${usdc}`, (one) => from(one, usdc))).toBeGreaterThan(0)
    expect((await list('?network=nowhere')).total).toBe(0)
    expect((await list('?toTokenAddress=%00')).total).toBe(0)
    const page = await list('?page=2&limit=2')
    expect([page.total, ids(page.exchanges)]).toEqual([all.total, ids(all.exchanges.slice(2, 4))])
    expect((await scenario.call('GET', '/v1/defi/exchange/list?status=done')).status).toBe(400)
    expect((await scenario.call('GET', '/v1/defi/exchange/list?limit=501')).status).toBe(400)
    expect((await list('', { 'x-api-key': 'sandbox-b' })).total).toBe(0)
  })

  test('every status that a swap comes to is counted for the operator', async () => {
    const text = await (await fetch(`${scenario.url}/metrics`)).text()
    for (const network of networks)
      for (const status of ['confirming', 'finished', 'failed'])
        expect(text).toMatch(
          new RegExp(`^swapyard_swaps_total\\{network="${network}",status="${status}"\\} [1-9]`, 'm'),
        )
  })

  test('the books have what the chains have', () => scenario.invariants(), 90_000)
})
