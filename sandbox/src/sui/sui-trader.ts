/* Moves the pools of the simulated Sui chain towards the sandbox's prices as arbitrageurs do, and its order books as market makers. */
import { SuiGrpcClient } from '@mysten/sui/grpc'
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { Transaction, type TransactionArgument } from '@mysten/sui/transactions'
import { cetusPoolSchema } from '@swapyard/lib/pools/sui/cetus-objects.ts'
import { placeOrders } from './books.ts'
import { addCetusSwap } from './cetus-swap.ts'
import { cetusPackage, type SuiMarket, type SuiPool, sqrtPriceOf } from './market.ts'
import type { SuiNode } from './sui-node.ts'

export type SuiTrader = Readonly<{ trade(): Promise<void> }>

/** One trade every four blocks. */
const blocksPerTrade = 4
const gasUnits = 1_000_000_000n
/** More than a trade can use: the price limit ends it. */
const dollarsPerTrade = 3_000_000n
const partsPerMillion = 1_000_000n
const offsetPpmMax = 2000

export function createSuiTrader(node: SuiNode, market: SuiMarket, isFrozen: boolean): SuiTrader {
  const keypair = Ed25519Keypair.generate()
  const address = keypair.toSuiAddress()
  const client = new SuiGrpcClient({ network: 'localnet', baseUrl: node.url })
  let blocks = 0
  let nextVenue = 0

  async function move({ id, coins, feeRate }: SuiPool): Promise<void> {
    const { object } = await client.getObject({ objectId: id, include: { content: true } })
    const current = BigInt(cetusPoolSchema.parse(object.content).sqrtPrice)
    const offset = Math.round((Math.min(feeRate, offsetPpmMax) * (2 * Math.random() - 1)) / 2)
    const middle = sqrtPriceOf(coins, Math.floor(Date.now() / 1000))
    const target = (middle * (partsPerMillion + BigInt(offset))) / partsPerMillion
    if (target === current) return
    const a2b = target < current
    const paid = a2b ? coins[0] : coins[1]
    const amount = (dollarsPerTrade * 10n ** BigInt(paid.decimals)) / (paid.ticker === 'wbtc' ? 50_000n : 1n)
    const input = node.mint(address, amount, paid.type)
    const { id: objectId, version, digest } = node.mint(address, gasUnits)
    const t = new Transaction()
    t.setSender(address)
    t.setGasPayment([{ objectId, version: version.toString(), digest }])
    const types = [coins[0].type, coins[1].type] as const
    const ids = { address: cetusPackage, config: market.cetusConfig, pool: id, clock: market.clock }
    const coin = t.object(input.id)
    const out = addCetusSwap(t, ids, { types, a2b, coin, amount, sqrtPriceLimit: target })
    // Into its address balance, so that the coins are no objects any more.
    const keep = (one: TransactionArgument, type: string) =>
      t.moveCall({ target: '0x2::coin::send_funds', arguments: [one, t.pure.address(address)], typeArguments: [type] })
    keep(coin, paid.type)
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
