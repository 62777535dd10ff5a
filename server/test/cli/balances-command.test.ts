import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/adapters/postgres/core/database.ts'
import { createStore } from '../../src/adapters/postgres/exchange/store.ts'
import { accounts, partnerAccount, unknownMemoEntry } from '../../src/core/domain/ledger/entries.ts'
import { journalEntry } from '../../src/core/domain/ledger/journal.ts'
import { openShell, type Shell } from './shell.ts'

const ETHER = 10n ** 18n
/** Of EIP-55's own examples. */
const owner = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const another = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'

let shell: Shell
let swapyard: Shell['swapyard']
let database: Database
let hot = ''
beforeAll(async () => {
  shell = await openShell()
  swapyard = shell.swapyard
  await swapyard(['keystore', 'create'])
  for (const name of ['acme', 'beta']) await swapyard(['partners', 'add', name])
  database = openDatabase(shell.url, { max: 1, applicationName: 'test' })
  hot = String((await swapyard(['keystore', 'addresses'])).lines.find(({ network }) => network === 'eth')?.['hot'])
  // The service registers its hot addresses when it starts.
  await createStore(database).wallets.registerHotAddress('eth', hot, 0)
})
afterAll(async () => {
  await database.close()
  await shell.close()
})

/** Credits a partner as the fees of its exchanges would. */
async function earn(name: string, units: bigint): Promise<void> {
  const [row] = await database.query<{ id: string }>('select id from partners where name = $1', [name])
  const entry = journalEntry(`test:${name}:${units}`, 'earned', null, [
    { debit: accounts.wallet, credit: partnerAccount(row?.id ?? ''), assetId: 'eth@eth', units },
  ])
  await createStore(database).ledger.post(entry)
}

/** A deposit with an unknown memo. */
async function insertUnclaimed(units: bigint): Promise<string> {
  const [row] = await database.query<{ id: string }>(
    `insert into deposits (network, identity, tx_hash, address, asset_id, units, required_confirmations, block_height, block_hash, unclaimed, status, credited_units, credits)
     values ('eth', $1, $1, 'ours', 'eth@eth', $2, 1, 1, 'block', true, 'credited', $2, 1) returning id`,
    [`0x${units.toString(16)}`, units],
  )
  const id = row?.id ?? ''
  await createStore(database).ledger.post(unknownMemoEntry(id, 1, 'eth@eth', units))
  return id
}

const payOut = (
  name: string,
  amount: string,
  key: string,
  { currency = 'eth@eth', address = owner, rest = ['--reason', 'invoice 7 of May'], env = {} } = {},
) => swapyard(['partners', 'pay-out', name, currency, address, amount, '--key', key, ...rest], env)
const payouts = () =>
  database.query<{ units: string; address: string }>('select units, address from payouts order by created_at')

/** One sentence on standard error, without a stack or a database message. */
function expectRefusal({ code, error, lines }: Awaited<ReturnType<typeof swapyard>>, sentence: string): void {
  expect([code, lines]).toEqual([1, []])
  expect(error).toContain(sentence)
  expect(error.trim().split('\n')).toHaveLength(1)
}

const refusedAs = (sentence: string) => (answer: Awaited<ReturnType<typeof swapyard>>) =>
  expectRefusal(answer, sentence)

describe('the balance of a partner', () => {
  test('is empty at first, and cannot be paid out then', async () => {
    expect(await swapyard(['partners', 'balances', 'acme'])).toMatchObject({ code: 0, lines: [], error: '' })
    expectRefusal(await payOut('acme', '0.5', 'early'), 'partner acme has 0 eth@eth; 0.5 eth@eth cannot be paid out')
    expectRefusal(await swapyard(['partners', 'balances', 'unknown']), 'there is no partner unknown')
    expectRefusal(await payOut('unknown', '0.5', 'early'), 'there is no partner unknown')
  })

  test('is listed by currency, and paid out once per key', async () => {
    await earn('acme', 3n * ETHER)
    await earn('beta', ETHER)
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
    expect(await payouts()).toEqual([{ units: '1250000000000000000', address: owner }])
    expect(await balance('acme')).toEqual([{ name: 'acme', currency: 'eth@eth', amount: '1.75' }])
    for (const other of [await payOut('acme', '1', 'may'), await payOut('acme', '1.25', 'may', { address: another })])
      expectRefusal(other, `this key or deposit already has a payout: 1.25 eth@eth to ${owner}`)
    expectRefusal(
      await payOut('acme', '1.76', 'june'),
      'partner acme has 1.75 eth@eth; 1.76 eth@eth cannot be paid out',
    )
    // Keys of different partners are independent.
    expect(await payOut('beta', '0.25', 'may')).toMatchObject({ code: 0, lines: [{ repeated: false }] })
    expect((await payouts()).map(({ units }) => units)).toEqual(['1250000000000000000', '250000000000000000'])
    expect(await balance('beta')).toEqual([{ name: 'beta', currency: 'eth@eth', amount: '0.75' }])
  })

  test('is paid in its own currency, to a valid address that is not ours, with a key and a reason', async () => {
    const before = await payouts()
    const denied = join(shell.folder, 'denied.json')
    writeFileSync(denied, JSON.stringify({ environment: 'sandbox', screening: { denied: [`eth:${another}`] } }))
    await Promise.all([
      payOut('acme', '1', 'a', { currency: 'usdt@eth' }).then(refusedAs('partner acme has 0 usdt@eth')),
      payOut('acme', '1', 'b', { currency: 'nothing@eth' }).then(refusedAs('nothing@eth is not a listed currency')),
      payOut('acme', '1', 'c', { currency: 'btc@btc' }).then(refusedAs('is not an address of btc')),
      payOut('acme', '1', 'd', { address: `${owner}0` }).then(refusedAs('is not an address of eth')),
      payOut('acme', '1', 'e', { address: String(hot) }).then(refusedAs('is an address of this service')),
      payOut('acme', '1', 'f', { address: another, env: { SWAPYARD_CONFIG: denied } }).then(
        refusedAs('is never served'),
      ),
      payOut('acme', '0', 'g').then(refusedAs('0 eth@eth cannot be paid out')),
      payOut('acme', '0.1234567890123456789', 'h').then(refusedAs('has 19 decimals; ETH has 18')),
      payOut('acme', '1e3', 'i').then(refusedAs('must be a plain decimal amount')),
      payOut('acme', '1', 'j', { rest: [] }).then(refusedAs('a reason of at least 3 letters')),
      payOut('acme', '1', 'k', { rest: ['--reason', '-'] }).then(refusedAs('a reason of at least 3 letters')),
    ])
    const unnamed = await swapyard(['partners', 'pay-out', 'acme', 'eth@eth', owner, '1', '--reason', 'invoice 8'])
    expect(unnamed).toMatchObject({ code: 2, lines: [], error: expect.stringContaining('--key') })
    expect(await payouts()).toEqual(before)
  })
})

describe('an unclaimed deposit', () => {
  test('is listed, and paid to its owner in full and once', async () => {
    expect(await swapyard(['unclaimed', 'list'])).toMatchObject({ code: 0, lines: [], error: '' })
    const [first, second] = [await insertUnclaimed(ETHER / 2n), await insertUnclaimed(ETHER / 4n)]
    const pay = (id: string, address = another, rest = ['--reason', 'she showed her wallet']) =>
      swapyard(['unclaimed', 'pay-out', id, address, ...rest])
    expect((await swapyard(['unclaimed', 'list'])).lines).toMatchObject([
      { depositId: first, currency: 'eth@eth', amount: '0.5' },
      { depositId: second, currency: 'eth@eth', amount: '0.25' },
    ])
    expectRefusal(await pay(first, 'nowhere'), 'is not an address of eth')
    expectRefusal(await pay(first, another, []), 'a reason of at least 3 letters')
    const paid = await pay(first)
    expect(paid).toMatchObject({ code: 0, lines: [{ depositId: first, amount: '0.5', repeated: false }] })
    expect(await pay(first)).toMatchObject({
      code: 0,
      lines: [{ payoutId: paid.lines[0]?.['payoutId'], repeated: true }],
    })
    expectRefusal(await pay(first, owner), `this key or deposit already has a payout: 0.5 eth@eth to ${another}`)
    expect((await payouts()).filter(({ address }) => address === another)).toEqual([
      { units: '500000000000000000', address: another },
    ])
    expect((await swapyard(['unclaimed', 'list'])).lines).toMatchObject([{ depositId: second }])
  })

  test.each(['999999', 'x'])('%s is refused as a deposit', async (id) => {
    const answer = await swapyard(['unclaimed', 'pay-out', id, another, '--reason', 'a test'])
    expectRefusal(answer, `deposit ${id} is not unclaimed`)
  })
})
