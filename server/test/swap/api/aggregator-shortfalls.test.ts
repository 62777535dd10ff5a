import { externalExecutor, swapExecutor, swapRouter } from '@swapyard/contracts'
import { decodeFunctionData, type Hex, parseTransaction } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AggregatorStage, startAggregatorStage } from './aggregator-stage.ts'
import type { Behaviour } from './fake-aggregators.ts'
import { LOCK_MS, NATIVE } from './partner.ts'

// Decision 0064: an aggregator that falls short of its quote is penalised in the next comparisons.

/** As in production: much longer than the test. */
const HALF_LIFE_MS = 300_000

let started: AggregatorStage
beforeAll(async () => {
  started = await startAggregatorStage(HALF_LIFE_MS)
}, LOCK_MS)
afterAll(() => started?.stop())

const request = (slippage = '1') => ({
  ...{
    fromTokenAddress: NATIVE,
    toTokenAddress: started.stage.token('usdc'),
    amount: '1.5',
    slippage,
    referrerFee: '0',
  },
})
const more = (units: bigint, ppm: bigint) => units + (units * ppm) / 1_000_000n
/** Builds a swap and returns its executor. */
async function buildAndReadExecutor(slippage?: string): Promise<Hex> {
  const built = await started.stage.build({ ...request(slippage), account: (await started.stage.user()).address })
  expect(built.status, JSON.stringify(built.body)).toBe(201)
  const { data = '0x' } = parseTransaction(built.body[0] as Hex)
  const { args } = decodeFunctionData({ abi: swapRouter.abi, data })
  const [order] = (args ?? []) as unknown as readonly { executor: Hex }[]
  return order?.executor ?? '0x'
}
async function metric(name: string, labels: string): Promise<number> {
  const text = await (await fetch(`${started.stage.scenario.url}/metrics`)).text()
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name}{${labels}}`))
      ?.split(' ')[1] ?? 0,
  )
}

test('an aggregator that pays less than its quote is not used; a reliable one is', async () => {
  const own = await started.ownOut(request())
  const [overstated, accurate] = [more(own, 12_000n), more(own, 6_000n)]
  const unreliable: Behaviour = { pays: overstated, builds: started.calls({ pays: own - 1n }) }
  started.aggregators.behave({ kyberswap: unreliable })
  expect((await started.stage.quote(request())).body.toAmountRaw).toBe(overstated.toString())
  // The minimum output alone would accept it.
  expect(await buildAndReadExecutor('5')).toBe(swapExecutor.address)

  const after = await started.stage.quote(request())
  expect(after.body.toAmountRaw).toBe(own.toString())
  // Its quote is still listed.
  expect(after.body.alternatives).toMatchObject([{ source: 'kyberswap' }])
  const labels = 'network="eth",source="kyberswap"'
  // The shortfall is 1.19 % of the quote.
  const penalty = await metric('swapyard_outside_penalty_ppm', labels)
  expect(penalty).toBeGreaterThan(11_000)
  expect(penalty).toBeLessThanOrEqual(11_858)
  expect(await metric('swapyard_outside_offers_total', `${labels},outcome="broken"`)).toBe(1)

  // Other aggregators are not penalised.
  started.aggregators.behave({
    kyberswap: unreliable,
    openocean: { pays: accurate, builds: started.calls({ pays: accurate }) },
  })
  expect((await started.stage.quote(request())).body.toAmountRaw).toBe(accurate.toString())
  expect(await buildAndReadExecutor()).toBe(externalExecutor.address)
  expect(await metric('swapyard_outside_offers_total', 'network="eth",source="openocean",outcome="kept"')).toBe(1)
})

test('an aggregator whose call reverts is excluded, with the gap to its minimum as its shortfall', async () => {
  const own = await started.ownOut(request())
  const pays = more(own, 12_000n)
  started.aggregators.behave({ '0x': { pays, builds: started.calls({ pays, takes: 1n }) } })
  expect((await started.stage.quote(request())).body.toAmountRaw).toBe(pays.toString())
  expect(await buildAndReadExecutor()).toBe(swapExecutor.address)
  const penalty = await metric('swapyard_outside_penalty_ppm', 'network="eth",source="0x"')
  expect(penalty).toBeGreaterThan(9_000)
  expect(penalty).toBeLessThanOrEqual(10_000)
  expect((await started.stage.quote(request())).body.toAmountRaw).toBe(own.toString())
})

test('insufficient balance does not penalise the aggregator', async () => {
  const own = await started.ownOut({ ...request(), amount: '1000' })
  started.aggregators.behave({
    openocean: { pays: more(own, 10_000n), builds: started.calls({ pays: more(own, 10_000n) }) },
  })
  const built = await started.stage.build({
    ...request(),
    amount: '1000',
    account: (await started.stage.user()).address,
  })
  expect(built.body.code).toBe('INSUFFICIENT_BALANCE')
  expect(await metric('swapyard_outside_penalty_ppm', 'network="eth",source="openocean"')).toBe(0)
})
