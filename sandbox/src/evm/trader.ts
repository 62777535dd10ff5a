import { encodeFunctionData, type Hex, numberToHex } from 'viem'
import type { JsonRpc } from '../json-rpc.ts'
import { evmTraderAddress } from '../keys.ts'
import type { Market, MarketPool } from '../market/snapshot.ts'
import { sqrtPriceX96 } from '../market/sqrt-price.ts'
import { priceOf } from '../prices.ts'
import { toTraderPool, traderAbi } from './trader-abi.ts'

type Dependencies = Readonly<{
  rpc: JsonRpc
  market: Market
  baseFeeWei: bigint
  /** The pools stay at the fixed base prices. */
  isFrozen: boolean
}>

/** Moves the pools towards the sandbox's prices, as arbitrageurs do on a real chain. */
export type Trader = Readonly<{ trade(): Promise<void> }>

/** The trader sends one transaction every four blocks, which trades in four pools. */
const blocksPerRound = 4
const poolsPerRound = 4
/** Half of what fits into a block. */
const poolsPerTransaction = 20
const gasPerPool = 700_000n
/**
 * A pool may be off the price by half its fee, where arbitrage does not pay. Fees above this count as this, in
 * millionths.
 */
const offsetPpmMax = 2000
const partsPerMillion = 1_000_000n

/** The trader's contract owns all tokens that it trades: no other balance changes. */
export function createTrader({ rpc, market, baseFeeWei, isFrozen }: Dependencies): Trader {
  const address = evmTraderAddress()
  const pools = market.pools.filter(({ kind }) => kind !== 'balancer-weighted')
  let isAligned = false
  let blocks = 0
  let nextPool = 0

  const sendMove = async (moves: readonly MarketPool[], target: (pool: MarketPool) => bigint): Promise<void> => {
    const args = [moves.map(toTraderPool), moves.map(target)] as const
    const transaction = {
      from: address,
      to: market.trader,
      data: encodeFunctionData({ abi: traderAbi, functionName: 'move', args }),
      gas: numberToHex(gasPerPool * BigInt(moves.length)),
      maxFeePerGas: numberToHex(2n * baseFeeWei),
      // A zero tip does not change fee estimates.
      maxPriorityFeePerGas: '0x0',
    }
    // The confirmed nonce: a transaction that was reorged out or never mined is replaced.
    const nonce = await rpc.call('eth_getTransactionCount', [address, 'latest'])
    await rpc.call('eth_sendTransaction', [{ ...transaction, nonce }])
  }

  const alignPools = async (): Promise<void> => {
    const misaligned: MarketPool[] = []
    const prices = await rpc.batch(
      pools.map((pool) => {
        const data = encodeFunctionData({ abi: traderAbi, functionName: 'sqrtPriceOf', args: [toTraderPool(pool)] })
        return ['eth_call', [{ to: market.trader, data }, 'latest']] as const
      }),
    )
    const second = isFrozen ? null : unixSeconds()
    for (const [index, pool] of pools.entries()) {
      const current = BigInt(prices[index] as Hex)
      const target = computeTarget(pool, second, 0)
      const difference = current > target ? current - target : target - current
      // The square root of a price moves half as much as the price.
      if (difference * 2n * partsPerMillion > target * BigInt(pool.feePpm)) misaligned.push(pool)
    }
    if (misaligned.length > 0) {
      await sendMove(misaligned.slice(0, poolsPerTransaction), (pool) => computeTarget(pool, second, 0))
    }
    isAligned = misaligned.length <= poolsPerTransaction
  }

  return {
    async trade() {
      if (!isAligned) return alignPools()
      if (isFrozen || ++blocks % blocksPerRound !== 0) return
      const selected = Array.from(
        { length: Math.min(poolsPerRound, pools.length) },
        (_none, index) => pools[(nextPool + index) % pools.length],
      )
      nextPool = (nextPool + poolsPerRound) % pools.length
      const second = unixSeconds()
      await sendMove(
        selected.filter((pool) => pool !== undefined),
        (pool) => computeTarget(pool, second, 2 * Math.random() - 1),
      )
    },
  }
}

/** The square root of the sandbox price, shifted by `part` (−1 to 1) of half the pool's fee. */
function computeTarget({ prices, decimals, feePpm }: MarketPool, second: number | null, part: number): bigint {
  const tokenAt = (side: 0 | 1) => ({ price: priceOf(prices[side], second), decimals: decimals[side] })
  const parts = Math.round((Math.min(feePpm, offsetPpmMax) * part) / 2)
  return (sqrtPriceX96(tokenAt(0), tokenAt(1)) * (partsPerMillion + BigInt(parts))) / partsPerMillion
}

const unixSeconds = () => Math.floor(Date.now() / 1000)
