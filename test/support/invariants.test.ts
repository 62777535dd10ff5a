import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { journalEntry } from '../../server/src/core/domain/ledger/journal.ts'
import { ETHER } from '../../server/test/exchange/money-path.ts'
import { FEE_ADDRESS, startCheckedMoneyPath } from './checked-money-path.ts'
import { answeredDeposits, type NodeBalances } from './holdings.ts'
import { checkInvariants } from './invariants.ts'
import { tamper } from './tamper.ts'

let path: Awaited<ReturnType<typeof startCheckedMoneyPath>>
beforeEach(async () => {
  path = await startCheckedMoneyPath()
})
afterEach(() => path.close())

/** Looks once. */
const check = (nodes: NodeBalances = path.nodes, unrecorded?: ReadonlyMap<string, bigint>) =>
  checkInvariants(path.books, nodes, answeredDeposits(path.books, nodes, path.listAddresses, unrecorded), 0)
/** Nodes that show another balance of one account. */
const showing = (address: string, contract: string | null, more: bigint): NodeBalances => ({
  ...path.nodes,
  account: async (network, asked, token) =>
    (await path.nodes.account(network, asked, token)) + (asked === address && token === contract ? more : 0n),
})

test('a payment in a block that the app has not credited yet is no fault', async () => {
  const late = await path.createExchange()
  path.fakes.btc.pay(late.deposit.address, 7_000_000n)
  path.fakes.btc.mine()
  await path.runWatchers()
  expect(await path.database.query("select units from deposits where status = 'seen'")).toEqual([{ units: '7000000' }])
  await check()
})

test('a faultless app has no fault', async () => {
  await check()
  const accounts = await path.database.query<{ account: string }>(
    "select distinct account from balances where account like 'asset:%' and units <> 0 order by 1",
  )
  expect(accounts.map(({ account }) => account)).toEqual([
    'asset:deposits',
    `asset:fees:${FEE_ADDRESS}`,
    'asset:wallet',
  ])
})

describe('the check of a scenario finds in the rows', () => {
  const plants: readonly [what: string, statement: string, message: RegExp][] = [
    [
      'a balance that differs from its postings',
      "update balances set units = units + 1 where account = 'equity:capital' and asset_id = 'eth@eth'",
      /the ledger is balanced/,
    ],
    [
      'a posting that is missing',
      "delete from postings where debit like 'liability:exchange:%'",
      /the ledger is balanced/,
    ],
    [
      'an exchange that is finished without a payout',
      "update payouts set state = 'void', transaction_id = null where purpose = 'payout' and network = 'eth'",
      /every finished or refunded execution was paid/,
    ],
    [
      'an exchange that is refunded without a refund',
      "update executions set status = 'refunded' where payout_hash is not null",
      /every finished or refunded execution was paid/,
    ],
    ['a transaction that is still live', "update transactions set state = 'live'", /no transaction is pending.*live/],
    [
      'a payout that is signed and not confirmed',
      "update payouts set state = 'signed' where network = 'eth'",
      /no transaction is pending.*signed/,
    ],
    [
      'a payout that is signed, held and not in asset:outgoing',
      "update payouts set state = 'signed', attention = 'REVERTED', lost = true where network = 'eth'",
      /in asset:outgoing, and [1-9]\d* are signed/,
    ],
  ]
  for (const [what, statement, message] of plants)
    test(what, async () => {
      const [, table = ''] = /^(?:update|delete from) (\w+)/.exec(statement) ?? []
      await tamper(path.database, table, [statement])
      await expect(check()).rejects.toThrow(message)
    })

  test('a payout that is paid twice', async () => {
    await path.database.query('drop index payout_or_refund')
    await tamper(path.database, 'payouts', [
      `insert into payouts select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid()))).* from payouts p
       where purpose = 'payout' and network = 'eth'`,
    ])
    await expect(check()).rejects.toThrow('nothing is paid twice')
  })

  test('a closed exchange that is still owed something', async () => {
    const units = 1n
    await path.store.ledger.post(
      journalEntry('planted', 'planted', null, [
        { debit: 'equity:capital', credit: path.account, assetId: 'eth@eth', units },
      ]),
    )
    await expect(check()).rejects.toThrow('closed exchanges owe nothing')
  })
})

describe('the check of a scenario finds on the chains', () => {
  for (const more of [-1n, 1n]) {
    test(`a wallet of an account family with ${more} units more than the ledger`, async () => {
      await expect(check(showing('eth-hot', null, more))).rejects.toThrow(/eth@eth in asset:wallet/)
    })

    test(`outputs with ${more} units more than the ledger`, async () => {
      const outputs: NodeBalances['outputs'] = async (...of) => (await path.nodes.outputs(...of)) + more
      await expect(check({ ...path.nodes, outputs })).rejects.toThrow(/btc@btc in asset:wallet/)
    })

    test(`unswept tokens with ${more} units more than the ledger`, async () => {
      const nodes = showing(path.fromToken.deposit.address, '0xusdt', more)
      await expect(check(nodes)).rejects.toThrow(/usdt@eth in asset:deposits/)
    })

    test(`unswept ether with ${more} units more than the ledger`, async () => {
      const nodes = showing(path.fromEther.deposit.address, null, more)
      await expect(check(nodes)).rejects.toThrow(/eth@eth in asset:deposits/)
    })

    test(`the gas that a sweep left with ${more} units more than the ledger`, async () => {
      const { address } = path.fromToken.deposit
      await path.sweepToken()
      expect(path.fakes.eth.balanceOf(address, '0xusdt')).toBe(0n)
      expect(path.fakes.eth.balanceOf(address, null)).toBeGreaterThan(0n)
      await check()
      await expect(check(showing(address, null, more))).rejects.toThrow(
        /eth@eth in asset:deposits and expense:stranded/,
      )
    })

    test(`a fee address with ${more} units more than the ledger`, async () => {
      const account: NodeBalances['account'] = async (network, asked, token) =>
        asked === FEE_ADDRESS ? 700n + more : path.nodes.account(network, asked, token)
      await expect(check({ ...path.nodes, account })).rejects.toThrow(new RegExp(`asset:fees:${FEE_ADDRESS}`))
    })
  }

  test('another amount than the test paid and the app cannot see', async () => {
    const nodes = showing(path.fromEther.deposit.address, null, 7n)
    await check(nodes, new Map([['eth@eth', 7n]]))
    await expect(check(nodes, new Map([['eth@eth', 6n]]))).rejects.toThrow(/eth@eth in asset:deposits/)
  })

  test('deposits in the ledger that no address holds', async () => {
    await path.store.ledger.post(
      journalEntry('planted', 'planted', null, [
        { debit: 'asset:deposits', credit: 'equity:capital', assetId: 'wbtc@eth', units: 1n },
      ]),
    )
    await expect(check()).rejects.toThrow(/1 of wbtc@eth in asset:deposits, and the chain has 0/)
  })

  test('a payment that left the wallet twice', async () => {
    const [paid] = path.fakes.eth.listPayments(path.exchange.recipient?.address ?? '')
    expect(paid?.units).toBeGreaterThan(ETHER / 100n)
    await expect(check(showing('eth-hot', null, -(paid?.units ?? 0n)))).rejects.toThrow(/eth@eth in asset:wallet/)
  })
})
