import fc from 'fast-check'
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { drawSamples } from '../../../../../test/support/draw-samples.ts'
import { type Pool, swapExact } from '../../../../src/swap/routing/pool-kinds.ts'
import { MAX_SQRT_PRICE, MAX_TICK, MIN_SQRT_PRICE, MIN_TICK } from '../../../../src/swap/routing/pools/tick-math.ts'
import { concentratedOf, holdingOf, magnitude, type PositionedPool, positionedPools } from '../random-pools.ts'
import { type Artifact, artifact, type Chain, POOLS, PRUNE_HISTORY, RUN_MS, startChain, TRADES } from './chain.ts'

const uniswap = artifact('@uniswap/v3-core', 'artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json')
/** @cryptoalgebra/core 2.0.0 under an alias: the last version with the tick bitmap of v1. */
const algebra = (name: string) => artifact('algebra-core-v1', `artifacts/contracts/${name}.sol/${name}.json`)
const integral = (name: string) =>
  artifact('@cryptoalgebra/integral-core', `artifacts/contracts/${name}.sol/${name}.json`)
const algebraContracts = [algebra('AlgebraPoolDeployer'), algebra('DataStorageOperator')] as const
const integralContracts = [integral('AlgebraPoolDeployer'), integral('AlgebraFactory')] as const

const identity = { id: 'differential', address: '0x0', dex: 'differential', tokens: ['0xa', '0xb'] }

const trades = fc.array(fc.record({ zeroForOne: fc.boolean(), share: magnitude(0, 24) }), {
  minLength: TRADES,
  maxLength: TRADES,
})
type Trades = readonly Readonly<{ zeroForOne: boolean; share: bigint }>[]

let chain: Chain
beforeAll(async () => {
  chain = await startChain('ConcentratedHarness', PRUNE_HISTORY)
})
afterAll(() => chain.anvil.stop())

describe('concentrated liquidity pays what the real pools pay', () => {
  test(`uniswap v3: ${POOLS * TRADES} swaps`, { timeout: RUN_MS }, async () => {
    const factory = await chain.deploy(deployData(uniswap, []))
    // The factory has fixed tick spacings for its default fees.
    const fees = fc.integer({ min: 0, max: 60_000 }).filter((fee) => ![500, 3_000, 10_000].includes(fee))
    const all = drawSamples(fc.record({ pool: positionedPools(), fee: fees, trades }), POOLS)
    for (const { pool, fee, trades: plannedTrades } of all) {
      const simulation = simulate(
        { ...identity, ...concentratedOf(pool), kind: 'uniswap-v3', feePpm: fee },
        plannedTrades,
      )
      const args = [factory, fee, pool.tickSpacing, pool.sqrtPrice, pool.positions, simulation.trades]
      compare(await chain.ask('uniswapV3', args), simulation, pool)
    }
  })

  test('uniswap v3 at the ends of the price range', async () => {
    const factory = await chain.deploy(deployData(uniswap, []))
    const positions = [{ lower: MIN_TICK, upper: MAX_TICK, liquidity: 1n << 80n }]
    const down = [0n, 1n << 10n, 1n << 22n].map((share) => ({ zeroForOne: true, share }))
    const up = down.map(({ share }) => ({ zeroForOne: false, share }))
    for (const [sqrtPrice, tick, plannedTrades] of [
      [MIN_SQRT_PRICE, MIN_TICK, [...down, ...up, ...down]],
      [MAX_SQRT_PRICE - 1n, MAX_TICK - 1, [...up, ...down, ...up]],
    ] as const) {
      const pool = { sqrtPrice, tick, tickSpacing: 1, positions }
      const simulation = simulate(
        { ...identity, ...concentratedOf(pool), kind: 'uniswap-v3', feePpm: 0 },
        plannedTrades,
      )
      compare(await chain.ask('uniswapV3', [factory, 0, 1, sqrtPrice, positions, simulation.trades]), simulation, pool)
    }
  })

  test(`algebra v1: ${POOLS * TRADES} swaps`, { timeout: RUN_MS }, async () => {
    const deployer = await deployAlgebra()
    const fees = fc.integer({ min: 1, max: 60_000 })
    const all = drawSamples(fc.record({ pool: positionedPools([60]), fee: fees, trades }), POOLS)
    for (const { pool, fee, trades: plannedTrades } of all) {
      const args = [deployer, algebraContracts[1]?.bytecode, feeConfiguration(fee), pool.sqrtPrice, pool.positions]
      await chain.send('algebraV1', args)
      // The configured fee applies from the first swap in a later second.
      await chain.anvil.request('evm_increaseTime', [5])
      await chain.anvil.mine()
      const state: Pool = {
        ...identity,
        ...concentratedOf(pool),
        kind: 'algebra',
        ticksBy: 'words',
        feePpm: [fee, fee],
      }
      const simulation = simulate(state, plannedTrades)
      compare(await chain.ask('run', [simulation.trades]), simulation, pool)
    }
  })

  test(`algebra integral: ${POOLS * TRADES} swaps`, { timeout: RUN_MS }, async () => {
    const factory = await deployIntegral()
    const fees = fc.integer({ min: 0, max: 60_000 }).filter((fee) => fee !== 500)
    const all = drawSamples(fc.record({ pool: positionedPools(), fee: fees, trades }), POOLS)
    for (const { pool, fee, trades: plannedTrades } of all) {
      const state: Pool = { ...identity, ...concentratedOf(pool), kind: 'algebra', ticksBy: 'list', feePpm: [fee, fee] }
      const simulation = simulate(state, plannedTrades)
      const args = [factory, fee, pool.tickSpacing, pool.sqrtPrice, pool.positions, simulation.trades]
      compare(await chain.ask('algebraIntegral', args), simulation, pool)
    }
  })
})

type Simulation = Readonly<{ trades: readonly { zeroForOne: boolean; amountIn: bigint }[]; outputs: readonly bigint[] }>

/** Runs the trades in sequence with our maths. A swap without output changes nothing. */
function simulate(start: Pool, plannedTrades: Trades): Simulation {
  let pool = start
  const outputs: bigint[] = []
  const amounts = plannedTrades.map(({ zeroForOne, share }) => {
    const from = zeroForOne ? 0 : 1
    const amountIn = (holdingOf(start, from) * share) / (1n << 22n) + 1n
    const result = swapExact(pool, from, 1 - from, amountIn)
    if (result) pool = result.next
    outputs.push(result?.amountOut ?? 0n)
    return { zeroForOne, amountIn }
  })
  return { trades: amounts, outputs }
}

function compare(actual: unknown, { outputs, trades: swaps }: Simulation, pool: PositionedPool): void {
  const message = JSON.stringify({ pool, swaps }, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  expect(outputs, message).toEqual(actual)
  expect(outputs.some((amount) => amount > 0n)).toBe(true)
}

function deployData(contract: Artifact, args: readonly unknown[]): Hex {
  return encodeDeployData({ ...contract, args: [...args] })
}

async function deployAlgebra(): Promise<Hex> {
  const [contract] = algebraContracts
  const deployer = await chain.deploy(deployData(contract, []))
  const data = encodeFunctionData({ abi: contract?.abi ?? [], functionName: 'setFactory', args: [chain.harness] })
  await chain.send('execute', [deployer, data])
  return deployer
}

/** Fee configuration without volatility and volume terms: the fee is `baseFee`. */
function feeConfiguration(baseFee: number): Hex {
  const volatility = { alpha1: 0, alpha2: 0, beta1: 360, beta2: 60_000, gamma1: 59, gamma2: 8_500 }
  const args = [{ ...volatility, volumeBeta: 0, volumeGamma: 10, baseFee }]
  return encodeFunctionData({ abi: algebraContracts[1]?.abi ?? [], functionName: 'changeFeeConfiguration', args })
}

/** Each constructor takes the other contract's address, so the deployer's address is computed before its deployment. */
async function deployIntegral(): Promise<Hex> {
  const [deployerContract, factoryContract] = integralContracts
  const nonce = BigInt(await chain.anvil.request<Hex>('eth_getTransactionCount', [chain.harness, 'latest']))
  const deployer = getContractAddress({ from: chain.harness, nonce: nonce + 1n })
  const factory = await chain.deploy(deployData(factoryContract, [deployer]))
  expect(await chain.deploy(deployData(deployerContract, [factory]))).toBe(deployer.toLowerCase())
  return factory
}
