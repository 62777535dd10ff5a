import fc from 'fast-check'
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { drawSamples } from '../../../../../test/support/draw-samples.ts'
import { createRpc, rpcDefaults } from '../../../../src/adapters/chains/evm/rpc.ts'
import { forecastFees } from '../../../../src/adapters/dex/algebra-fee.ts'
import { createBlockReader } from '../../../../src/adapters/dex/block-reader.ts'
import type { TrackedPool } from '../../../../src/adapters/dex/tracked-pool.ts'
import { hex, TEST_CHAIN_ID } from '../../../adapters/chains/evm/anvil.ts'
import { type Artifact, artifact, type Chain, PRUNE_HISTORY, RUN_MS, SWAPS_FACTOR, startChain } from './chain.ts'

/*
 * Real Algebra pools with their price history: random swaps at random times. Before each swap we forecast the fee for its second. The fee
 * that the pool then charges must be equal, in millionths.
 */

const POOLS = 6 * SWAPS_FACTOR
const STEPS = 60
const first = (name: string) => artifact('algebra-core-v1', `artifacts/contracts/${name}.sol/${name}.json`)
const second = (name: string) => artifact('@cryptoalgebra/core', `artifacts/contracts/${name}.sol/${name}.json`)
const SQRT_ONE = 2n ** 96n
const HOUR = 3_600
const DAY = 24 * HOUR

const small = (max: number) => fc.integer({ min: 1, max })
const terms = fc.record({
  alpha1: small(5_000),
  alpha2: small(20_000),
  beta1: small(1_000),
  beta2: small(60_000),
  gamma1: fc.integer({ min: 30, max: 600 }),
  gamma2: fc.integer({ min: 3_000, max: 20_000 }),
  volumeBeta: fc.integer({ min: 0, max: 10 }),
  volumeGamma: small(60),
  baseFee: small(1_000),
})
const steps = fc.array(
  fc.record({
    /** Seconds before the forecast; `after`: seconds from the forecast to the swap. */
    idle: fc.oneof(
      { weight: 6, arbitrary: fc.constant(0) },
      { weight: 3, arbitrary: small(2 * HOUR) },
      { weight: 1, arbitrary: small(2 * DAY) },
    ),
    after: small(120),
    zeroForOne: fc.boolean(),
    size: fc.integer({ min: 16, max: 21 }),
    digits: small(999),
  }),
  { minLength: STEPS, maxLength: STEPS },
)

let chain: Chain
beforeAll(async () => {
  chain = await startChain('ConcentratedHarness', PRUNE_HISTORY)
})
afterAll(() => chain.anvil.stop())

describe('the forecast fee equals the fee of an Algebra pool', () => {
  test(`version 1: ${POOLS * STEPS} swaps`, { timeout: 2 * RUN_MS }, async () => {
    const deployer = await chain.deploy(encodeDeployData({ ...first('AlgebraPoolDeployer'), args: [] }))
    await chain.send('execute', [deployer, dataOf(first('AlgebraPoolDeployer'), 'setFactory', [chain.harness])])
    const storage = first('DataStorageOperator')
    await compareAll('words', async (config) => {
      const configure = dataOf(storage, 'changeFeeConfiguration', [config])
      await chain.send('algebraV1', [deployer, storage.bytecode, configure, SQRT_ONE, positions])
    })
  })

  test(`version 2: ${POOLS * STEPS} swaps`, { timeout: 2 * RUN_MS }, async () => {
    const nonce = BigInt(await chain.anvil.request<Hex>('eth_getTransactionCount', [chain.harness, 'latest']))
    const factoryAddress = getContractAddress({ from: chain.harness, nonce: nonce + 1n })
    await chain.deploy(encodeDeployData({ ...second('AlgebraPoolDeployer'), args: [factoryAddress, factoryAddress] }))
    const deployer = getContractAddress({ from: chain.harness, nonce })
    const factory = await chain.deploy(encodeDeployData({ ...second('AlgebraFactory'), args: [deployer] }))
    expect(factory).toBe(factoryAddress.toLowerCase())
    await compareAll('list', async ({ volumeBeta: _, volumeGamma: __, ...config }) => {
      await chain.send('renew', [])
      await chain.send('execute', [factory, dataOf(second('AlgebraFactory'), 'setDefaultFeeConfiguration', [config])])
      const tokens = await Promise.all([0n, 1n].map((place) => chain.ask<Hex>('tokens', [place])))
      await chain.send('execute', [factory, dataOf(second('AlgebraFactory'), 'createPool', tokens)])
      const call = dataOf(second('AlgebraFactory'), 'poolByPair', tokens)
      const answer = await chain.anvil.request<Hex>('eth_call', [{ to: factory, data: call }, 'latest'])
      await chain.send('adopt', [`0x${answer.slice(26)}`, SQRT_ONE, positions])
    })
  })
})

const positions = [
  { lower: -120_000, upper: 120_000, liquidity: 10n ** 22n },
  { lower: -600, upper: 600, liquidity: 3n * 10n ** 22n },
  { lower: -3_000, upper: 9_000, liquidity: 10n ** 22n },
]

type Config = typeof terms extends fc.Arbitrary<infer T> ? T : never

async function compareAll(ticksBy: 'words' | 'list', setUp: (config: Config) => Promise<void>): Promise<void> {
  const fees = new Set<number>()
  for (const plan of drawSamples(fc.record({ terms, steps }), POOLS)) {
    await setUp(plan.terms)
    for (const fee of await compareOne(ticksBy, plan)) fees.add(fee)
  }
  // On average at least three different fees per pool.
  expect(fees.size).toBeGreaterThan(POOLS * 3)
}

type Plan = Readonly<{ steps: typeof steps extends fc.Arbitrary<infer T> ? T : never }>

/** Returns the different fees that the pool charged. */
async function compareOne(ticksBy: 'words' | 'list', plan: Plan): Promise<ReadonlySet<number>> {
  const { anvil, ask, send } = chain
  const address = (await ask<Hex>('pool', [])).toLowerCase()
  const rpc = createRpc('test', anvil.url, TEST_CHAIN_ID, rpcDefaults)
  const reader = createBlockReader(() => rpc, null)
  const fees = new Set<number>()
  for (const [index, { idle, after, zeroForOne, size, digits }] of plan.steps.entries()) {
    if (idle > 0) {
      await anvil.request('evm_increaseTime', [idle])
      await anvil.mine()
    }
    const { hash } = await anvil.request<{ hash: Hex }>('eth_getBlockByNumber', ['latest', false])
    const now = await reader.minedAt(hash)
    const tracked = await forecastFees(
      { reader, wrapped: '', nativeIsToken: false },
      hash,
      poolAt(address, ticksBy),
      now,
    )
    expect(tracked.fees?.from, `step ${index}`).toBe(now)
    await anvil.request('evm_setNextBlockTimestamp', [hex(now + after)])
    await send('run', [[{ zeroForOne, amountIn: BigInt(digits) * 10n ** BigInt(size - 3) }]])
    const fee = await feeOf(address as Hex, ticksBy)
    expect([index, tracked.fees?.ppm[after]], JSON.stringify(plan)).toEqual([index, fee])
    // The quoted fee is the highest of the next minute.
    const [quotedFee = 0] = tracked.pool.kind === 'algebra' ? tracked.pool.feePpm : []
    if (after <= 60) expect(quotedFee).toBeGreaterThanOrEqual(fee)
    fees.add(fee)
  }
  return fees
}

async function feeOf(to: Hex, ticksBy: 'words' | 'list'): Promise<number> {
  const data = dataOf(first('AlgebraPool'), 'globalState', [])
  const answer = await chain.anvil.request<Hex>('eth_call', [{ to, data }, 'latest'])
  const place = 2 + 64 * (ticksBy === 'words' ? 2 : 3)
  return Number.parseInt(answer.slice(place, place + 64), 16)
}

/** The state of the pool besides its fee does not matter here. */
function poolAt(address: string, ticksBy: 'words' | 'list'): TrackedPool {
  const state = { sqrtPrice: SQRT_ONE, tick: 0, liquidity: 1n, tickSpacing: 60, ticks: [], feePpm: [0, 0] as const }
  return { pool: { kind: 'algebra', id: address, address, dex: 'algebra', tokens: ['0xa', '0xb'], ticksBy, ...state } }
}

const dataOf = ({ abi }: Artifact, functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi, functionName, args: [...args] })
