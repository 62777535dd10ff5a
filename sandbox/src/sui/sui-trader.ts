/* Moves the pools of the simulated Sui chain towards the sandbox's prices as arbitrageurs do, and its order books as market makers. */
import { SuiGrpcClient } from '@mysten/sui/grpc'
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { Transaction, type TransactionArgument } from '@mysten/sui/transactions'
import { cetusPoolSchema } from '@swapyard/lib/pools/sui/cetus-objects.ts'
import { turbosPoolSchema } from '@swapyard/lib/pools/sui/turbos-objects.ts'
import { priceOf } from '../prices.ts'
import { placeOrders } from './books.ts'
import { addCetusSwap } from './cetus-swap.ts'
import { cetusPackage, type SuiMarket, type SuiPool, sqrtPriceOf, turbosFeeType, turbosPackage } from './market.ts'
import type { SuiNode } from './sui-node.ts'
import { addTurbosSwap } from './turbos-swap.ts'

export type SuiTrader = Readonly<{ trade(): Promise<void> }>

/** One trade every four blocks. */
const blocksPerTrade = 4
const gasUnits = 1_000_000_000n
/** More than a trade can use: the price limit ends it. In millionths of a millionth of a US dollar, as prices are. */
const usdPerTrade = 3_000_000n * 10n ** 12n
const partsPerMillion = 1_000_000n
const offsetPpmMax = 2000

export function createSuiTrader(node: SuiNode, market: SuiMarket, isFrozen: boolean): SuiTrader {
  const keypair = Ed25519Keypair.generate()
  const address = keypair.toSuiAddress()
  const client = new SuiGrpcClient({ network: 'localnet', baseUrl: node.url })
  let blocks = 0
  let nextVenue = 0

  /** The price of a pool, as a square root in Q64.64. */
  async function readSqrtPrice({ id, dex }: SuiPool): Promise<bigint> {
    const { object } = await client.getObject({ objectId: id, include: { content: true } })
    const schema = dex === 'cetus' ? cetusPoolSchema : turbosPoolSchema
    return BigInt(schema.parse(object.content).sqrtPrice)
  }

  /** Returns the coin that the pool pays, and what is left of the given one. */
  function addSwap(t: Transaction, pool: SuiPool, swap: Omit<Parameters<typeof addCetusSwap>[2], 'types'>) {
    const ids = { pool: pool.id, clock: market.clock }
    const types = [pool.coins[0].type, pool.coins[1].type] as const
    if (pool.dex === 'turbos')
      return addTurbosSwap(
        t,
        { ...ids, address: turbosPackage, versioned: market.turbosVersioned },
        { ...swap, types: [...types, turbosFeeType(pool.feeRate)], recipient: address },
      )
    const paid = addCetusSwap(t, { ...ids, address: cetusPackage, config: market.cetusConfig }, { ...swap, types })
    return [paid, swap.coin] as const
  }

  async function move(pool: SuiPool): Promise<void> {
    const { coins, feeRate } = pool
    const current = await readSqrtPrice(pool)
    const offset = Math.round((Math.min(feeRate, offsetPpmMax) * (2 * Math.random() - 1)) / 2)
    const middle = sqrtPriceOf(coins, Math.floor(Date.now() / 1000))
    const target = (middle * (partsPerMillion + BigInt(offset))) / partsPerMillion
    if (target === current) return
    const a2b = target < current
    const paid = a2b ? coins[0] : coins[1]
    const amount = (usdPerTrade * 10n ** BigInt(paid.decimals)) / priceOf(paid.ticker, null)
    const input = node.mint(address, amount, paid.type)
    const { id: objectId, version, digest } = node.mint(address, gasUnits)
    const t = new Transaction()
    t.setSender(address)
    t.setGasPayment([{ objectId, version: version.toString(), digest }])
    const [out, rest] = addSwap(t, pool, { a2b, coin: t.object(input.id), amount, sqrtPriceLimit: target })
    // Into its address balance, so that the coins are no objects any more.
    const keep = (one: TransactionArgument, type: string) =>
      t.moveCall({ target: '0x2::coin::send_funds', arguments: [one, t.pure.address(address)], typeArguments: [type] })
    keep(rest, paid.type)
    keep(out, (a2b ? coins[1] : coins[0]).type)
    await client.signAndExecuteTransaction({ transaction: t, signer: keypair })
  }

  return {
    async trade() {
      if (isFrozen || ++blocks % blocksPerTrade !== 0) return
      const next = nextVenue++ % (market.pools.length + market.books.length)
      const [pool, book] = [market.pools[next], market.books[next - market.pools.length]]
      if (pool !== undefined) await move(pool)
      if (book !== undefined) placeOrders(node, book, Math.floor(Date.now() / 1000))
    },
  }
}
