import { externalExecutor, swapExecutor, swapRouter } from '@swapyard/contracts'
import { decodeFunctionData, type Hex, parseTransaction } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AggregatorStage, startAggregatorStage } from './aggregator-stage.ts'
import type { Behaviour } from './fake-aggregators.ts'
import { LOCK_MS, NATIVE } from './partner.ts'

// Decision 0064: an aggregator that falls short of its quote is penalised in the next comparisons.

/** As in production, far longer than the test. */
const HALF_LIFE_MS = 300_000

let on: AggregatorStage
beforeAll(async () => {
  on = await startAggregatorStage(HALF_LIFE_MS)
}, LOCK_MS)
afterAll(() => on?.stop())

const asked = (slippage = '1') => ({
  ...{
    fromTokenAddress: NATIVE,
    toTokenAddress: on.stage.token('usdc'),
    amount: '1.5',
    slippage,
    referrerFee: '0',
  },
})
const more = (units: bigint, ppm: bigint) => units + (units * ppm) / 1_000_000n
/** Whose contract carries out what is built. */
async function executor(slippage?: string): Promise<Hex> {
  const built = await on.stage.build({ ...asked(slippage), account: (await on.stage.user()).address })
  expect(built.status, JSON.stringify(built.body)).toBe(201)
  const { data = '0x' } = parseTransaction(built.body[0] as Hex)
  const { args } = decodeFunctionData({ abi: swapRouter.abi, data })
  const [order] = (args ?? []) as unknown as readonly { executor: Hex }[]
  return order?.executor ?? '0x'
}
async function metric(name: string, labels: string): Promise<number> {
  const text = await (await fetch(`${on.stage.scenario.url}/metrics`)).text()
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name}{${labels}}`))
      ?.split(' ')[1] ?? 0,
  )
}

test('one that does not pay what it offers is quoted no more, and the honest one is', async () => {
  const own = await on.ownOut(asked())
  const [lie, truth] = [more(own, 12_000n), more(own, 6_000n)]
  const liar: Behaviour = { pays: lie, builds: on.calls({ pays: own - 1n }) }
  on.routers.behave({ kyberswap: liar })
  expect((await on.stage.quote(asked())).body.toAmountRaw).toBe(lie.toString())
  // The minimum alone would let it through.
  expect(await executor('5')).toBe(swapExecutor.address)

  const after = await on.stage.quote(asked())
  expect(after.body.toAmountRaw).toBe(own.toString())
  // What it says is shown all the same.
  expect(after.body.alternatives).toMatchObject([{ source: 'kyberswap' }])
  const labels = 'network="eth",source="kyberswap"'
  // It fell short by 1.19 % of what it offered.
  const penalty = await metric('swapyard_outside_penalty_ppm', labels)
  expect(penalty).toBeGreaterThan(11_000)
  expect(penalty).toBeLessThanOrEqual(11_858)
  expect(await metric('swapyard_outside_offers_total', `${labels},outcome="broken"`)).toBe(1)

  // The other network's and the other routers' words are not the worse for it.
  on.routers.behave({ kyberswap: liar, openocean: { pays: truth, builds: on.calls({ pays: truth }) } })
  expect((await on.stage.quote(asked())).body.toAmountRaw).toBe(truth.toString())
  expect(await executor()).toBe(externalExecutor.address)
  expect(await metric('swapyard_outside_offers_total', 'network="eth",source="openocean",outcome="kept"')).toBe(1)
})

test('one whose call reverts rests, too, and is shown to have fallen short by the slippage', async () => {
  const own = await on.ownOut(asked())
  const pays = more(own, 40_000n)
  on.routers.behave({ '0x': { pays, builds: on.calls({ pays, takes: 1n }) } })
  expect((await on.stage.quote(asked())).body.toAmountRaw).toBe(pays.toString())
  expect(await executor()).toBe(swapExecutor.address)
  const penalty = await metric('swapyard_outside_penalty_ppm', 'network="eth",source="0x"')
  expect(penalty).toBeGreaterThan(9_000)
  expect(penalty).toBeLessThanOrEqual(10_000)
  expect((await on.stage.quote(asked())).body.toAmountRaw).toBe(own.toString())
})

test('an account without the means breaks nobody’s word', async () => {
  const own = await on.ownOut({ ...asked(), amount: '1000' })
  on.routers.behave({ openocean: { pays: more(own, 10_000n), builds: on.calls({ pays: more(own, 10_000n) }) } })
  const built = await on.stage.build({ ...asked(), amount: '1000', account: (await on.stage.user()).address })
  expect(built.body.code).toBe('INSUFFICIENT_BALANCE')
  expect(await metric('swapyard_outside_penalty_ppm', 'network="eth",source="openocean"')).toBe(0)
})
