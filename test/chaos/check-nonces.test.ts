import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCheckedMoneyPath } from '../support/checked-money-path.ts'
import { tamper } from '../support/tamper.ts'
import { checkNonces } from './check-nonces.ts'
import type { Fleet } from './fleet.ts'

let path: Awaited<ReturnType<typeof startCheckedMoneyPath>>
beforeAll(async () => {
  path = await startCheckedMoneyPath()
  await path.sweepToken()
  // They refuse most of the faults.
  await path.database.query(
    'alter table attempts drop constraint attempts_transaction_id_conflict_key_fkey; drop index one_live_transaction',
  )
})
afterAll(() => path.close())

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
  test.each([-1, 1])('a chain that has used %i nonces more', async (more) => {
    expect(await check(more)).toEqual([
      `eth has another number of nonces of eth-hot: 2 transactions, lane at 2, chain at ${2 + more}`,
    ])
  })

  const lane = (next: string) => `update nonce_lanes set next = ${next} where address = 'eth-hot'`
  const transaction = (values: string, key: string) => `update transactions set ${values} where conflict_key = '${key}'`
  type Plant = readonly [what: string, table: string, plant: string, undo: string]
  const plants: readonly Plant[] = [
    ['a lane that is behind', 'nonce_lanes', lane('next - 1'), lane('next + 1')],
    ['a lane that is ahead', 'nonce_lanes', lane('next + 1'), lane('next - 1')],
    [
      'a nonce that is left out',
      'transactions',
      transaction("conflict_key = 'eth-hot:2'", 'eth-hot:1'),
      transaction("conflict_key = 'eth-hot:1'", 'eth-hot:2'),
    ],
    [
      'a first nonce that is not 0',
      'transactions',
      transaction("conflict_key = 'eth-hot:7'", 'eth-hot:0'),
      transaction("conflict_key = 'eth-hot:0'", 'eth-hot:7'),
    ],
    [
      'a transaction that is missing',
      'transactions',
      transaction("wallet = 'another'", 'eth-hot:1'),
      transaction("wallet = 'eth-hot'", 'eth-hot:1'),
    ],
    [
      'a transaction that expired without a successor',
      'transactions',
      transaction("state = 'expired', proof = jsonb_build_object('reverted', 'a block')", 'eth-hot:0'),
      transaction("state = 'final', proof = null", 'eth-hot:0'),
    ],
    [
      'a nonce that two transactions have',
      'transactions',
      `insert into transactions select (jsonb_populate_record(t, '{"id": "00000000-0000-7000-8000-000000000001", "state": "final"}')).*
       from transactions t where conflict_key = 'eth-hot:1'`,
      "delete from transactions where id = '00000000-0000-7000-8000-000000000001'",
    ],
  ]
  test.each(plants)('%s', async (_what, table, plant, undo) => {
    await tamper(path.database, table, [plant])
    expect(await check()).toEqual([expect.stringMatching(/^a gap in the nonces of eth-hot on eth: /)])
    await tamper(path.database, table, [undo])
    expect(await check()).toEqual([])
  })
})
