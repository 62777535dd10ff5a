import { bcs } from '@mysten/sui/bcs'
import { Transaction, type TransactionArgument } from '@mysten/sui/transactions'
import { expect, test } from 'vitest'
import { type CetusSwapResult, createCetusFunctions } from './cetus-functions.ts'
import { SUI, startTestNode } from './sui-node.fixture.ts'

const clmm = `0x${'1e'.repeat(32)}`
const usdc = '0xdba3::usdc::USDC'
const types = ['0x2::sui::SUI', usdc]
const poolSchema = bcs.struct('Pool', { id: bcs.Address, reserveB: bcs.u64() })

/** Two units of B for one of A, while the reserve lasts. */
function swapAtTwo(contents: Uint8Array, { amount }: { amount: bigint }): CetusSwapResult {
  const { id, reserveB } = poolSchema.parse(contents)
  const rest = BigInt(reserveB) - 2n * amount
  if (rest < 0n) return { abort: { module: 'pool', code: 4n } }
  return { paid: amount, received: 2n * amount, contents: poolSchema.serialize({ id, reserveB: rest }).toBytes() }
}

async function startWithPool() {
  const started = await startTestNode({ functions: createCetusFunctions(clmm, swapAtTwo) })
  const share = (type: string, encode: (id: string) => Uint8Array) =>
    started.node.createObject({ type, owner: { kind: 'shared', initialVersion: 1n }, hasPublicTransfer: false }, encode)
  const idOnly = (id: string) => bcs.Address.serialize(id).toBytes()
  return {
    ...started,
    config: share(`${clmm}::config::GlobalConfig`, idOnly),
    clock: share('0x2::clock::Clock', () => idOnly('0x6')),
    pool: share(`${clmm}::pool::Pool<${types.join()}>`, (id) =>
      poolSchema.serialize({ id, reserveB: 1_000n }).toBytes(),
    ),
  }
}

/** Swaps A for B; pays `paid` units of what is owed, and splits `minimum` off the output. */
function buildSwap(
  ids: { config: string; pool: string; clock: string },
  amount: bigint,
  paid: bigint,
  minimum: bigint,
  to: string,
) {
  const t = new Transaction()
  const call = (target: string, values: TransactionArgument[], typeArguments = types) =>
    t.moveCall({ target, arguments: values, typeArguments })
  const [config, pool] = [t.object(ids.config), t.object(ids.pool)]
  const inputs = [t.pure.bool(true), t.pure.bool(true), t.pure.u64(amount), t.pure.u128(4_295_048_016n)]
  const [a, b, receipt] = call(`${clmm}::pool::flash_swap`, [config, pool, ...inputs, t.object(ids.clock)])
  call('0x2::balance::destroy_zero', [a as TransactionArgument], types.slice(0, 1))
  const [input] = t.splitCoins(t.gas, [paid])
  const payment = call('0x2::coin::into_balance', [input as TransactionArgument], types.slice(0, 1))
  const zero = call('0x2::balance::zero', [], types.slice(1))
  call(`${clmm}::pool::repay_flash_swap`, [config, pool, payment, zero, receipt as TransactionArgument])
  const out = call('0x2::coin::from_balance', [b as TransactionArgument], types.slice(1))
  const [least] = t.splitCoins(out, [minimum])
  t.transferObjects([out, least as never], to)
  return t
}

test('a swap pays the output, takes the input and changes the pool', async () => {
  const { client, createFunded, config, clock, pool } = await startWithPool()
  const { keypair, address } = createFunded(SUI)
  const transaction = buildSwap({ config: config.id, clock: clock.id, pool: pool.id }, 100n, 100n, 200n, address)
  const result = await client.signAndExecuteTransaction({
    transaction,
    signer: keypair,
    include: { balanceChanges: true },
  })
  expect(result.Transaction?.balanceChanges).toContainEqual(expect.objectContaining({ amount: '200' }))
  const { object } = await client.getObject({ objectId: pool.id, include: { content: true } })
  expect(poolSchema.parse(object.content).reserveB).toBe('800')
})

test.for([
  ['a payment that is too small', 100n, 99n, 200n, /abort code: 0/],
  ['an amount above the liquidity', 501n, 501n, 1n, /abort code: 4/],
  ['an output below the minimum', 100n, 100n, 201n, /InsufficientCoinBalance/],
] as const)('a swap fails with %s', async ([, amount, paid, minimum, message]) => {
  const { client, createFunded, config, clock, pool } = await startWithPool()
  const { keypair, address } = createFunded(SUI)
  const transaction = buildSwap({ config: config.id, clock: clock.id, pool: pool.id }, amount, paid, minimum, address)
  transaction.setSender(keypair.toSuiAddress())
  await expect(transaction.build({ client })).rejects.toThrow(message)
})
