import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tamper } from '../../../test/support/tamper.ts'
import { type Database, openDatabase } from '../../src/adapters/postgres/core/database.ts'
import { createStore } from '../../src/adapters/postgres/exchange/store.ts'
import { accounts, partnerAccount, unownedFundingEntry } from '../../src/core/domain/ledger/entries.ts'
import { journalEntry } from '../../src/core/domain/ledger/journal.ts'
import { payeeMacs } from '../payee-macs.ts'
import { openShell, type Shell } from './shell.ts'

const ETHER = 10n ** 18n
/** Example addresses of EIP-55. */
const owner = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const otherOwner = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'

let shell: Shell
let swapyard: Shell['swapyard']
let database: Database
let hotAddress = ''
beforeAll(async () => {
  shell = await openShell()
  swapyard = shell.swapyard
  await swapyard(['keystore', 'create'])
  for (const name of ['acme', 'beta']) await swapyard(['partners', 'add', name])
  database = openDatabase(shell.url, { max: 1, applicationName: 'test' })
  hotAddress = String(
    (await swapyard(['keystore', 'addresses'])).lines.find(({ network }) => network === 'eth')?.['hot'],
  )
  // The service registers its hot addresses when it starts.
  await createStore(database, payeeMacs).wallets.registerHotAddress('eth', hotAddress, 0)
})
afterAll(async () => {
  await database.close()
  await shell.close()
})

/** Credits a partner's balance, as the fees of its exchanges do. */
async function creditPartner(name: string, units: bigint): Promise<void> {
  const [row] = await database.query<{ id: string }>('select id from partners where name = $1', [name])
  const entry = journalEntry(`test:${name}:${units}`, 'earned', null, [
    { debit: accounts.wallet, credit: partnerAccount(row?.id ?? ''), assetId: 'eth@eth', units },
  ])
  await createStore(database, payeeMacs).ledger.post(entry)
}

/** Inserts a credited deposit with an unknown memo. */
async function insertUnclaimedDeposit(units: bigint): Promise<string> {
  const [row] = await database.query<{ id: string }>(
    `insert into deposits (network, identity, tx_hash, address, asset_id, units, required_confirmations, block_height, block_hash, unclaimed, status, credited_units, credits)
     values ('eth', $1, $1, 'ours', 'eth@eth', $2, 1, 1, 'block', true, 'credited', $2, 1) returning id`,
    [`0x${units.toString(16)}`, units],
  )
  const id = row?.id ?? ''
  await createStore(database, payeeMacs).ledger.post(unownedFundingEntry(id, 1, 'eth@eth', units))
  return id
}

const payOut = (
  name: string,
  amount: string,
  key: string,
  { currency = 'eth@eth', address = owner, rest = ['--reason', 'invoice 7 of May'], env = {} } = {},
) => swapyard(['partners', 'pay-out', name, currency, address, amount, '--key', key, ...rest], env)
const listPayouts = () =>
  database.query<{ units: string; address: string }>('select units, address from payouts order by created_at')

/** Expects exit code 1 and one sentence on standard error: no stack and no database message. */
function expectRefusal({ code, error, lines }: Awaited<ReturnType<typeof swapyard>>, sentence: string): void {
  expect([code, lines]).toEqual([1, []])
  expect(error).toContain(sentence)
  expect(error.trim().split('\n')).toHaveLength(1)
}

const expectRefusalWith = (sentence: string) => (answer: Awaited<ReturnType<typeof swapyard>>) =>
  expectRefusal(answer, sentence)

describe('partner balances', () => {
  test('lists nothing for an empty balance, and rejects a payout', async () => {
    expect(await swapyard(['partners', 'balances', 'acme'])).toMatchObject({ code: 0, lines: [], error: '' })
    expectRefusal(await payOut('acme', '0.5', 'early'), 'partner acme has 0 eth@eth; 0.5 eth@eth cannot be paid out')
    expectRefusal(await swapyard(['partners', 'balances', 'unknown']), 'there is no partner unknown')
    expectRefusal(await payOut('unknown', '0.5', 'early'), 'there is no partner unknown')
  })

  test('pays out once per key, and lists the rest by currency', async () => {
    await creditPartner('acme', 3n * ETHER)
    await creditPartner('beta', ETHER)
    const balance = async (name: string) => (await swapyard(['partners', 'balances', name])).lines
    expect(await balance('acme')).toEqual([{ name: 'acme', currency: 'eth@eth', amount: '3' }])
    const first = await payOut('acme', '1.25', 'may')
    expect(first).toMatchObject({
      code: 0,
      lines: [{ amount: '1.25', address: owner, state: 'reserved', repeated: false }],
    })
    expect(await payOut('acme', '1.25', 'may')).toMatchObject({
      code: 0,
      lines: [{ payoutId: first.lines[0]?.['payoutId'], repeated: true }],
    })
    expect(await listPayouts()).toEqual([{ units: '1250000000000000000', address: owner }])
    expect(await balance('acme')).toEqual([{ name: 'acme', currency: 'eth@eth', amount: '1.75' }])
    for (const conflicting of [
      await payOut('acme', '1', 'may'),
      await payOut('acme', '1.25', 'may', { address: otherOwner }),
    ])
      expectRefusal(conflicting, `this key or deposit already has a payout: 1.25 eth@eth to ${owner}`)
    expectRefusal(
      await payOut('acme', '1.76', 'june'),
      'partner acme has 1.75 eth@eth; 1.76 eth@eth cannot be paid out',
    )
    // Keys of different partners are independent.
    expect(await payOut('beta', '0.25', 'may')).toMatchObject({ code: 0, lines: [{ repeated: false }] })
    expect((await listPayouts()).map(({ units }) => units)).toEqual(['1250000000000000000', '250000000000000000'])
    expect(await balance('beta')).toEqual([{ name: 'beta', currency: 'eth@eth', amount: '0.75' }])
  })

  test('rejects a payout in another currency, to an invalid, denied or own address, or without a key or a reason', async () => {
    const before = await listPayouts()
    const denied = join(shell.folder, 'denied.json')
    writeFileSync(denied, JSON.stringify({ environment: 'sandbox', screening: { denied: [`eth:${otherOwner}`] } }))
    await Promise.all([
      payOut('acme', '1', 'a', { currency: 'usdt@eth' }).then(expectRefusalWith('partner acme has 0 usdt@eth')),
      payOut('acme', '1', 'b', { currency: 'nothing@eth' }).then(
        expectRefusalWith('nothing@eth is not a listed currency'),
      ),
      payOut('acme', '1', 'c', { currency: 'btc@btc' }).then(expectRefusalWith('is not an address of btc')),
      payOut('acme', '1', 'd', { address: `${owner}0` }).then(expectRefusalWith('is not an address of eth')),
      payOut('acme', '1', 'e', { address: String(hotAddress) }).then(
        expectRefusalWith('is an address of this service'),
      ),
      payOut('acme', '1', 'f', { address: otherOwner, env: { SWAPYARD_CONFIG: denied } }).then(
        expectRefusalWith('is never served'),
      ),
      payOut('acme', '0', 'g').then(expectRefusalWith('0 eth@eth cannot be paid out')),
      payOut('acme', '0.1234567890123456789', 'h').then(expectRefusalWith('has 19 decimals; ETH has 18')),
      payOut('acme', '1e3', 'i').then(expectRefusalWith('must be a plain decimal amount')),
      payOut('acme', '1', 'j', { rest: [] }).then(expectRefusalWith('a reason of at least 3 letters')),
      payOut('acme', '1', 'k', { rest: ['--reason', '-'] }).then(expectRefusalWith('a reason of at least 3 letters')),
    ])
    const unnamed = await swapyard(['partners', 'pay-out', 'acme', 'eth@eth', owner, '1', '--reason', 'invoice 8'])
    expect(unnamed).toMatchObject({ code: 2, lines: [], error: expect.stringContaining('--key') })
    expect(await listPayouts()).toEqual(before)
  })
})

describe('unclaimed deposits', () => {
  test('are listed, and each is paid out in full, once', async () => {
    expect(await swapyard(['unclaimed', 'list'])).toMatchObject({ code: 0, lines: [], error: '' })
    const [first, second] = [await insertUnclaimedDeposit(ETHER / 2n), await insertUnclaimedDeposit(ETHER / 4n)]
    const pay = (id: string, address = otherOwner, rest = ['--reason', 'the sender proved ownership']) =>
      swapyard(['unclaimed', 'pay-out', id, address, ...rest])
    expect((await swapyard(['unclaimed', 'list'])).lines).toMatchObject([
      { depositId: first, currency: 'eth@eth', amount: '0.5' },
      { depositId: second, currency: 'eth@eth', amount: '0.25' },
    ])
    expectRefusal(await pay(first, 'nowhere'), 'is not an address of eth')
    expectRefusal(await pay(first, otherOwner, []), 'a reason of at least 3 letters')
    const paid = await pay(first)
    expect(paid).toMatchObject({ code: 0, lines: [{ depositId: first, amount: '0.5', repeated: false }] })
    expect(await pay(first)).toMatchObject({
      code: 0,
      lines: [{ payoutId: paid.lines[0]?.['payoutId'], repeated: true }],
    })
    expectRefusal(await pay(first, owner), `this key or deposit already has a payout: 0.5 eth@eth to ${otherOwner}`)
    expect((await listPayouts()).filter(({ address }) => address === otherOwner)).toEqual([
      { units: '500000000000000000', address: otherOwner },
    ])
    expect((await swapyard(['unclaimed', 'list'])).lines).toMatchObject([{ depositId: second }])
  })

  test.each(['999999', 'x'])('rejects %s as the id of a deposit', async (id) => {
    const answer = await swapyard(['unclaimed', 'pay-out', id, otherOwner, '--reason', 'a test'])
    expectRefusal(answer, `deposit ${id} is not unclaimed`)
  })
})

describe('a report', () => {
  test('states the postings of the period in units of the currency, with their sign', async () => {
    const entry = journalEntry('test:capital', 'funding', null, [
      { debit: accounts.wallet, credit: 'equity:capital', assetId: 'btc@btc', units: 150_000_000n },
    ])
    await createStore(database, payeeMacs).ledger.post(entry)
    const day = new Date().toISOString().slice(0, 10)
    const period = ['--from', day, '--to', day]
    const { code, lines } = await swapyard(['report', 'trial-balance', ...period])
    expect(code).toBe(0)
    const bitcoin = { assetId: 'btc@btc', opening: '0' }
    expect(lines.filter(({ assetId }) => assetId === 'btc@btc')).toEqual([
      { ...bitcoin, account: 'asset:wallet', debits: '1.5', credits: '0', closing: '1.5' },
      { ...bitcoin, account: 'equity:capital', debits: '0', credits: '1.5', closing: '-1.5' },
    ])
    const { text } = await swapyard(['report', 'trial-balance', ...period, '--csv'])
    const rows = text.trimEnd().split('\n')
    expect(rows.filter((row) => !row.includes('eth@eth'))).toEqual([
      'account,assetId,opening,debits,credits,closing',
      'asset:wallet,btc@btc,0,1.5,0,1.5',
      'equity:capital,btc@btc,0,0,1.5,-1.5',
    ])
    // No exchange has earned anything.
    expect(await swapyard(['report', 'revenue', ...period, '--by', 'partner', '--csv'])).toMatchObject({
      code: 0,
      text: 'group,assetId,exchanges,spread,partnerFees,networkFees,dust\n',
    })
    expect(await swapyard(['report', 'costs', ...period, '--by', 'exchange'])).toMatchObject({ code: 0 })
  })

  test('prints every row, also of more than one page', async () => {
    const days = 10_001
    const entries = `generate_series(1, ${days}) n`
    await database.query(
      `insert into journal (id, event, at)
       select 'test:day:' || n, 'balance converted', timestamptz '1979-12-31 12:00Z' + n * interval '1 day' from ${entries}`,
    )
    await database.query(
      `insert into postings (journal_id, position, debit, credit, asset_id, units)
       select 'test:day:' || n, 0, 'equity:inventory', 'income:spread', 'eth@eth', n from ${entries}`,
    )
    const { code, lines } = await swapyard(['report', 'revenue', '--from', '1980-01-01', '--to', '2019-12-31'])
    expect([code, lines.length, new Set(lines.map(({ group }) => group)).size]).toEqual([0, days, days])
    expect([lines[0], lines.at(-1)]).toMatchObject([
      { group: '1980-01-01', spread: '0.000000000000000001' },
      { group: '2007-05-19', spread: '0.000000000000010001' },
    ])
  })

  test.each([
    [['--from', '2026-02-30', '--to', '2026-03-01'], /--from.* must be a day, for example 2026-11-01/],
    [['--from', '2026-03-02', '--to', '2026-03-01'], /--to is before --from/],
    [['--from', '2026-03-02'], /--to/],
  ])('rejects the period %j', async (period, sentence) => {
    const { code, error } = await swapyard(['report', 'revenue', ...period])
    expect(code).not.toBe(0)
    expect(error).toMatch(sentence)
  })
})

describe('the ledger check', () => {
  test('exits with 1 and prints each fault after a balance was changed, and with 0 otherwise', async () => {
    expect(await swapyard(['ledger', 'check'])).toMatchObject({ code: 0, lines: [{ faults: 0 }] })
    await tamper(database, 'balances', [
      "update balances set units = units + 3 where account = 'asset:wallet' and asset_id = 'eth@eth'",
    ])
    const answer = await swapyard(['ledger', 'check'])
    await tamper(database, 'balances', [
      "update balances set units = units - 3 where account = 'asset:wallet' and asset_id = 'eth@eth'",
    ])
    expect(answer).toMatchObject({
      code: 1,
      lines: [
        { kind: 'sum', assetId: 'eth@eth', units: '3' },
        { kind: 'balance', assetId: 'eth@eth', account: 'asset:wallet' },
      ],
      error: expect.stringContaining('the balances of eth@eth sum to 3, not to 0'),
    })
    expect(BigInt(String(answer.lines[1]?.['stored'])) - BigInt(String(answer.lines[1]?.['posted']))).toBe(3n)
  })
})

describe('the treasury', () => {
  test('withdraws to the addresses of the config only, and only with a key and a reason', async () => {
    const withdraw = (...rest: string[]) =>
      swapyard(['treasury', 'withdraw', 'eth@eth', '1', owner, '--reason', 'profit of May', ...rest])
    expectRefusal(await withdraw('--key', 'may'), `eth:${owner} is not in treasury.coldAddresses`)
    expect((await withdraw()).code).toBe(2)
    const config = join(shell.folder, 'treasury.json')
    const coldAddresses = [`eth:${owner.toLowerCase()}`]
    writeFileSync(config, JSON.stringify({ environment: 'sandbox', treasury: { coldAddresses } }))
    const env = { SWAPYARD_CONFIG: config }
    const args = ['treasury', 'ceiling', 'eth@eth', '1000000', owner, '--key', 'june', '--reason', 'weekly']
    expectRefusal(await swapyard(args, env), 'nothing above the ceiling')
  })
})
