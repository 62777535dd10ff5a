import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startCheckedMoneyPath } from '../support/checked-money-path.ts'
import { tamper } from '../support/tamper.ts'
import { checkNonces } from './check-nonces.ts'
import type { Fleet } from './fleet.ts'

let path: Awaited<ReturnType<typeof startCheckedMoneyPath>>
beforeEach(async () => {
  path = await startCheckedMoneyPath()
  await path.sweepToken()
})
afterEach(() => path.close())

/** The check with a node whose chain has used `more` nonces of the hot wallet than it has. */
const check = (more = 0) => {
  const { database, dependencies, fakes } = path
  const call = async (_network: string, method: string, [address]: readonly [string]) => {
    expect(method).toBe('eth_getTransactionCount')
    const used = (await fakes.eth.chain.reader.minedNonce?.(address)) ?? 0
    return `0x${(address === 'eth-hot' ? used + more : used).toString(16)}`
  }
  return checkNonces({ database, chains: dependencies.chains, cluster: { call } } as unknown as Fleet)
}

test('finds nothing where the rows, the lanes and the chain agree', async () => {
  expect(await check()).toEqual([])
  const lanes = await path.database.query<{ address: string; next: string }>(
    "select address, next from nonce_lanes where network = 'eth' order by 1",
  )
  expect(lanes).toContainEqual({ address: 'eth-hot', next: '2' })
  expect(lanes).toContainEqual({ address: path.fromToken.deposit.address, next: '1' })
})

describe('the check of nonces finds', () => {
  const gap = [expect.stringMatching(/^a gap in the nonces of eth-hot on eth: /)]

  test.each([-1, 1])('a chain that has used %i nonces more', async (more) => {
    expect(await check(more)).toEqual([
      `eth has another number of nonces of eth-hot: 2 transactions, lane at 2, chain at ${2 + more}`,
    ])
  })

  const plants: readonly [what: string, table: string, statement: string][] = [
    ['a lane that is behind', 'nonce_lanes', "update nonce_lanes set next = next - 1 where address = 'eth-hot'"],
    ['a lane that is ahead', 'nonce_lanes', "update nonce_lanes set next = next + 1 where address = 'eth-hot'"],
    [
      'a nonce that is left out',
      'transactions',
      "update transactions set conflict_key = 'eth-hot:2' where conflict_key = 'eth-hot:1'",
    ],
    [
      'a first nonce that is not 0',
      'transactions',
      "update transactions set conflict_key = 'eth-hot:7' where conflict_key = 'eth-hot:0'",
    ],
    [
      'a transaction that is missing',
      'transactions',
      "update transactions set wallet = 'another' where conflict_key = 'eth-hot:1'",
    ],
    [
      'a transaction that expired without a successor',
      'transactions',
      "update transactions set state = 'expired', proof = jsonb_build_object('reverted', 'a block') where conflict_key = 'eth-hot:0'",
    ],
  ]
  /** The keys of Postgres refuse most of these faults. */
  const dropKeys = () =>
    path.database.query(
      `alter table attempts drop constraint attempts_transaction_id_conflict_key_fkey;
       drop index one_live_transaction`,
    )

  test.each(plants)('%s', async (_what, table, statement) => {
    await dropKeys()
    await tamper(path.database, table, [statement])
    expect(await check()).toEqual(gap)
  })

  test('a nonce that two transactions have', async () => {
    await dropKeys()
    await tamper(path.database, 'transactions', [
      `insert into transactions select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'state', 'final'))).*
       from transactions t where conflict_key = 'eth-hot:1'`,
    ])
    expect(await check()).toEqual(gap)
  })
})
