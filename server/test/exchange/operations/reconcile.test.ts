import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tamper } from '../../../../test/support/tamper.ts'
import { btc, eth, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createReconcile } from '../../../src/exchange/operations/reconcile.ts'
import { acknowledgeShortfalls } from '../../../src/exchange/operations/report-shortfall.ts'
import type { Chain } from '../../../src/exchange/ports/chain.ts'
import type { RecordedUtxo } from '../../../src/exchange/ports/spend.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let differences: [asset: string, units: bigint][]
let reconcile: (network: 'btc' | 'eth') => Promise<void>
let reconcileChain: (chain: Chain) => Promise<void>
beforeEach(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 2n * COIN, eth: 10n * ETHER })
  differences = []
  const { store, dependencies, fakes } = fixture
  reconcileChain = createReconcile({
    addressesEveryMs: 0,
    store,
    assetById: dependencies.assetById,
    log: dependencies.log,
    onDifference: (asset, units) => differences.push([asset, units]),
  })
  reconcile = (network) => reconcileChain(fakes[network].chain)
})
afterEach(() => fixture.close())

const readAlarms = async () => (await fixture.store.alarms.list(10)).map(({ subject, detail }) => ({ subject, detail }))
const readPauses = async () => (await fixture.store.pauses.list()).map(({ scope }) => scope)
const change = (text: string) => fixture.database.query(text)

describe('reconciliation of a UTXO wallet (I-7)', () => {
  test('finds nothing while the ledger, the recorded outputs and the node agree', async () => {
    await reconcile('btc')
    await reconcile('btc')
    expect(differences).toEqual([
      ['btc@btc', 0n],
      ['btc@btc', 0n],
    ])
    expect([await readAlarms(), await readPauses()]).toEqual([[], []])
  })

  test('finds an output that is recorded in the database and that the node does not have', async () => {
    // A forged row hides a loss from every check that reads the database alone.
    await change("update coins set outpoint = 'f' || substr(outpoint, 2) where network = 'btc'")
    await reconcile('btc')
    expect([await readAlarms(), await readPauses()]).toEqual([[], []])
    await reconcile('btc')
    const [{ outpoint } = { outpoint: '' }] = await fixture.database.query<{ outpoint: string }>(
      "select outpoint from coins where network = 'btc'",
    )
    expect(await readAlarms()).toEqual([
      {
        subject: 'difference:btc@btc',
        detail: { difference: String(-2n * COIN), held: '0', missing: [outpoint] },
      },
    ])
    expect(await readPauses()).toEqual(['payouts:btc'])
  })

  test('finds an output whose recorded amount is higher than on the chain', async () => {
    await change("update coins set units = units + 7 where network = 'btc'")
    await reconcile('btc')
    await reconcile('btc')
    expect(await readPauses()).toEqual(['payouts:btc'])
  })

  test('finds an output that another key holder spent', async () => {
    const [{ outpoint } = { outpoint: '' }] = await fixture.database.query<{ outpoint: string }>(
      "select outpoint from coins where network = 'btc'",
    )
    const { btc } = fixture.fakes
    btc.addConflict(outpoint)
    btc.mine()
    await reconcile('btc')
    await reconcile('btc')
    expect(await readAlarms()).toMatchObject([{ subject: 'difference:btc@btc', detail: { missing: [outpoint] } }])
    expect(await readPauses()).toEqual(['payouts:btc'])
  })

  test('asks for each output of a deposit with the transfer that made it', async () => {
    const txHash = fixture.payDeposit(await fixture.createExchange({ from: btc, to: eth, fromUnits: COIN }), COIN)
    await fixture.mineBlocks(1)
    const asked: unknown[] = []
    const { chain } = fixture.fakes.btc
    const findMissingUtxos = async (utxos: readonly RecordedUtxo[]) => {
      asked.push(...utxos.map(({ deposit }) => deposit))
      return []
    }
    await reconcileChain({ ...chain, reader: { ...chain.reader, findMissingUtxos } })
    expect(asked).toContainEqual({ identity: `${txHash}:0`, txHash })
  })

  test('does not count an output whose deposit was rejected, which the ledger does not have', async () => {
    fixture.fakes.btc.pay('btc-hot', 7n)
    fixture.fakes.btc.mine()
    await fixture.services.record(fixture.fakes.btc.chain)
    await change("update deposits set status = 'rejected' where status = 'seen' and units = 7")
    differences = []
    await reconcile('btc')
    await reconcile('btc')
    expect(differences.map(([, units]) => units)).toEqual([0n, 0n])
    expect(await readAlarms()).toEqual([])
  })

  test('reports no surplus while a confirmed payout is in blocks that are not recorded yet (F4)', async () => {
    await fixture.insertPayout('btc', COIN / 10n, 'customer', 'withdrawal')
    await fixture.runJobs()
    for (let n = 0; n < 3; n++) fixture.fakes.btc.mine()
    await fixture.runJobs()
    expect(await fixture.database.query('select state from payouts')).toEqual([{ state: 'confirmed' }])
    await reconcile('btc')
    await reconcile('btc')
    expect([await readAlarms(), await readPauses()]).toEqual([[], []])
    await fixture.runWatchers()
    differences = []
    await reconcile('btc')
    expect(differences).toEqual([['btc@btc', 0n]])
  })

  test('finds money that the chain has and the ledger does not', async () => {
    await tamper(fixture.database, 'balances', [
      "update balances set units = units - 5 where account = 'asset:wallet' and asset_id = 'btc@btc'",
    ])
    await reconcile('btc')
    await reconcile('btc')
    expect(await readAlarms()).toMatchObject([{ subject: 'difference:btc@btc', detail: { difference: '5' } }])
    expect(await readPauses()).toEqual([])
  })
})

describe('reconciliation of an account wallet (I-7)', () => {
  test('compares the ledger with the balance on the node', async () => {
    await reconcile('eth')
    await reconcile('eth')
    expect(await readAlarms()).toEqual([])
    await tamper(fixture.database, 'balances', [
      "update balances set units = units + 9 where account = 'asset:wallet' and asset_id = 'eth@eth'",
    ])
    await reconcile('eth')
    await reconcile('eth')
    expect(await readAlarms()).toMatchObject([{ subject: 'difference:eth@eth', detail: { difference: '-9' } }])
    expect(await readPauses()).toEqual(['payouts:eth'])
  })

  test('pauses for the same gap in two runs, or for gaps of any size in three', async () => {
    const add = (units: number) =>
      tamper(fixture.database, 'balances', [
        `update balances set units = units + ${units} where account = 'asset:wallet' and asset_id = 'eth@eth'`,
      ])
    await add(9)
    await reconcile('eth')
    await add(-4)
    await reconcile('eth')
    expect([await readAlarms(), await readPauses()]).toEqual([[], []])
    await add(1)
    await reconcile('eth')
    expect(await readAlarms()).toMatchObject([{ subject: 'difference:eth@eth', detail: { difference: '-6' } }])
    expect(await readPauses()).toEqual(['payouts:eth'])
  })
})

describe('a shortfall that an operator acknowledged by resuming the payouts', () => {
  /** Changes what the ledger has in a wallet: coins that the chain lacks if positive. */
  const lose = (units: bigint, asset = 'eth@eth') =>
    tamper(fixture.database, 'balances', [
      `update balances set units = units + ${units} where account = 'asset:wallet' and asset_id = '${asset}'`,
    ])
  const runTwice = async () => {
    await reconcile('eth')
    await reconcile('eth')
  }
  const subject = 'difference:eth@eth'
  /** As `swapyard resume payouts:eth` does, with what the operator has looked at. */
  const resume = async (stated: Readonly<Record<string, bigint>> = { [subject]: 9n }) => {
    const { acknowledged } = await acknowledgeShortfalls(fixture.store, 'eth', new Map(Object.entries(stated)))
    if (acknowledged.length > 0) await fixture.store.pauses.resume('payouts:eth')
    return acknowledged
  }

  test('does not pause again, and its alarm stays', async () => {
    await lose(9n)
    await runTwice()
    expect(await readPauses()).toEqual(['payouts:eth'])
    expect(await resume()).toMatchObject([{ subject, units: 9n }])
    for (let n = 0; n < 3; n++) await runTwice()
    expect(await readPauses()).toEqual([])
    expect(await readAlarms()).toMatchObject([{ subject, detail: { difference: '-9', acknowledged: '9' } }])
  })

  test('pauses again as soon as more is missing', async () => {
    await lose(9n)
    await runTwice()
    await resume()
    await lose(1n)
    await runTwice()
    expect(await readPauses()).toEqual(['payouts:eth'])
    expect(await readAlarms()).toMatchObject([{ subject, detail: { difference: '-10', acknowledged: '9' } }])
    // Of 10 that are missing the operator has looked at 9.
    expect(await resume()).toEqual([])
    expect(await readPauses()).toEqual(['payouts:eth'])
    expect(await resume({ [subject]: 10n })).toMatchObject([{ subject, units: 10n }])
    await runTwice()
    expect(await readPauses()).toEqual([])
  })

  test('pauses again if more is missing after a part came back', async () => {
    await lose(9n)
    await runTwice()
    await resume()
    await lose(-5n)
    await runTwice()
    expect(await readPauses()).toEqual([])
    // Less in total than before, and still a further loss.
    await lose(3n)
    await runTwice()
    expect(await readPauses()).toEqual(['payouts:eth'])
  })

  test('pauses again if all came back and the same amount is missing later', async () => {
    await lose(9n)
    await runTwice()
    await resume()
    await lose(-9n)
    await runTwice()
    expect([await readAlarms(), await readPauses()]).toEqual([[], []])
    await lose(9n)
    await runTwice()
    expect(await readPauses()).toEqual(['payouts:eth'])
  })

  test('pauses for another asset of the same network, and for another network', async () => {
    await lose(9n)
    await runTwice()
    await resume()
    fixture.fakes.eth.pay('eth-hot', 50n, { contract: '0xusdt' })
    await fixture.mineBlocks(3)
    await lose(1n, 'usdt@eth')
    await lose(1n, 'btc@btc')
    await runTwice()
    for (let n = 0; n < 2; n++) await reconcile('btc')
    expect((await readPauses()).toSorted()).toEqual(['payouts:btc', 'payouts:eth'])
    expect(await resume()).toEqual([])
    // What was acknowledged before need not be stated again.
    expect(await resume({ 'difference:usdt@eth': 1n })).toMatchObject([
      { subject, units: 9n },
      { subject: 'difference:usdt@eth', units: 1n },
    ])
    expect(await readPauses()).toEqual(['payouts:btc'])
  })

  test('does not pause again after payouts in motion hid it', async () => {
    await lose(9n)
    await runTwice()
    await resume()
    await fixture.insertPayout('eth', ETHER, 'customer', 'withdrawal')
    await fixture.runJobs()
    expect(await fixture.database.query('select state from payouts')).toEqual([{ state: 'signed' }])
    // Its fee may be paid or not, so that 9 units do not show.
    await runTwice()
    await fixture.mineBlocks(4)
    expect(await fixture.database.query('select state from payouts')).toEqual([{ state: 'confirmed' }])
    await runTwice()
    expect(await readPauses()).toEqual([])
    await lose(1n)
    await runTwice()
    expect(await readPauses()).toEqual(['payouts:eth'])
  })
})

describe('reconciliation of deposit addresses (I-7)', () => {
  const TETHER = 1_000_000n
  const open = async (from: typeof eth, fromUnits: bigint) => {
    const exchange = await fixture.createExchange({ from, to: btc, fromUnits })
    fixture.payDeposit(exchange, fromUnits)
    await fixture.mineBlocks(6)
    return exchange.deposit.address
  }
  /** The chain, on which somebody took units of an asset from an address. */
  const without = (address: string, assetId: string, units: bigint): Chain => {
    const { chain } = fixture.fakes.eth
    const balance: Chain['reader']['balance'] = async (from, asset) =>
      (await chain.reader.balance(from, asset)) - (from === address && asset.id === assetId ? units : 0n)
    return { ...chain, reader: { ...chain.reader, balance } }
  }
  const runTwice = async (chain: Chain = fixture.fakes.eth.chain) => {
    await reconcileChain(chain)
    await reconcileChain(chain)
  }

  test('finds nothing while each address holds its deposits, and nothing after their sweep', async () => {
    const [tokens, ether] = [await open(usdt, 400n * TETHER), await open(eth, ETHER)]
    await runTwice()
    expect([await readAlarms(), await readPauses()]).toEqual([[], []])
    await fixture.mineBlocks(10)
    for (let n = 0; n < 4; n++) {
      await fixture.services.sweep(fixture.fakes.eth.chain)
      await fixture.mineBlocks(3)
    }
    expect(fixture.fakes.eth.balanceOf(tokens, '0xusdt')).toBe(0n)
    expect(fixture.fakes.eth.balanceOf(ether, null)).toBeLessThan(ETHER / 100n)
    await runTwice()
    expect([await readAlarms(), await readPauses()]).toEqual([[], []])
  })

  test('finds tokens that left an address, pauses payouts until they are resumed, and clears the alarm when they are back', async () => {
    const address = await open(usdt, 400n * TETHER)
    const chain = without(address, 'usdt@eth', 5n * TETHER)
    await reconcileChain(chain)
    expect([await readAlarms(), await readPauses()]).toEqual([[], []])
    await reconcileChain(chain)
    const alarms = [
      {
        subject: `unswept:eth:${address}:usdt@eth`,
        detail: { address, assetId: 'usdt@eth', missing: String(5n * TETHER) },
      },
    ]
    expect([await readAlarms(), await readPauses()]).toEqual([alarms, ['payouts:eth']])
    const [{ subject } = { subject: '' }] = alarms
    const units = String(5n * TETHER)
    const stated = new Map([[subject, 5n * TETHER]])
    expect((await acknowledgeShortfalls(fixture.store, 'eth', stated)).larger).toEqual([])
    await fixture.store.pauses.resume('payouts:eth')
    await runTwice(chain)
    expect(await readPauses()).toEqual([])
    expect(await readAlarms()).toMatchObject([{ subject, detail: { missing: units, acknowledged: units } }])
    // A further loss at the same address.
    await runTwice(without(address, 'usdt@eth', 6n * TETHER))
    expect(await readPauses()).toEqual(['payouts:eth'])
    await reconcile('eth')
    expect(await readAlarms()).toEqual([])
  })

  test('finds ether that left an address, unless the address has paid gas of its own', async () => {
    const address = await open(eth, ETHER)
    await change(`insert into nonce_lanes (network, address, next) values ('eth', '${address}', 1)`)
    const chain = without(address, 'eth@eth', ETHER / 2n)
    await runTwice(chain)
    expect(await readAlarms()).toEqual([])
    await change(`delete from nonce_lanes where address = '${address}'`)
    await runTwice(chain)
    expect(await readAlarms()).toMatchObject([{ subject: `unswept:eth:${address}:eth@eth` }])
    expect(await readPauses()).toEqual(['payouts:eth'])
  })

  test('reads all addresses in several runs, also if a token does not answer', async () => {
    const exchange = await fixture.createExchange({ from: usdt, to: btc, fromUnits: TETHER })
    await change(
      `insert into deposits (network, identity, tx_hash, exchange_id, leg, address, key_index, asset_id, contract, units, block_height,
         block_hash, required_confirmations, status, credited_units, credits)
       select 'eth', 'unheld' || n, 'unheld' || n, '${exchange.id}', 0, 'unheld-' || lpad(n::text, 3, '0'), n, 'usdt@eth', '0xusdt', 7, 1,
         'h', 2, 'credited', 7, 1 from generate_series(0, 119) n`,
    )
    const { chain } = fixture.fakes.eth
    const balance: Chain['reader']['balance'] = (address, asset) =>
      address === 'unheld-017' ? Promise.reject(new Error('execution reverted')) : chain.reader.balance(address, asset)
    for (let n = 0; n < 6; n++) await reconcileChain({ ...chain, reader: { ...chain.reader, balance } })
    const alarms = await fixture.database.query<{ subject: string }>('select subject from alarms order by 1')
    const expected = Array.from({ length: 120 }, (_, n) => `unswept:eth:unheld-${String(n).padStart(3, '0')}:usdt@eth`)
    expect(alarms.map(({ subject }) => subject)).toEqual(expected.filter((_, n) => n !== 17))
  })
})

describe('payments at deposit addresses that no scan recorded (T37)', () => {
  const TETHER = 1_000_000n
  /** The chain, on which the addresses hold more than the blocks show. */
  const withUnrecorded = (units: ReadonlyMap<string, bigint>): Chain => {
    const { chain } = fixture.fakes.eth
    const balance: Chain['reader']['balance'] = async (address, asset) =>
      (await chain.reader.balance(address, asset)) + (units.get(`${address} ${asset.id}`) ?? 0n)
    return { ...chain, reader: { ...chain.reader, balance } }
  }
  const listSubjects = async () =>
    (await change("select subject from alarms where subject like 'unseen:%' order by 1")).map(
      (row) => (row as { subject: string }).subject,
    )

  test('are found in tokens, from the second run on, until they are recorded', async () => {
    const { id, deposit } = await fixture.createExchange({ from: usdt, to: btc, fromUnits: 400n * TETHER })
    const chain = withUnrecorded(new Map([[`${deposit.address} usdt@eth`, 5n * TETHER]]))
    await reconcileChain(chain)
    expect(await readAlarms()).toEqual([])
    await reconcileChain(chain)
    expect(await readAlarms()).toEqual([
      {
        subject: `unseen:${id}`,
        detail: { address: deposit.address, assetId: 'usdt@eth', units: String(5n * TETHER) },
      },
    ])
    expect(await readPauses()).toEqual([])
    await reconcile('eth')
    expect(await readAlarms()).toEqual([])
  })

  test('are found beside a recorded payment whose payout waits', async () => {
    await fixture.store.pauses.pause('payouts:btc', 'test', 'test')
    const exchange = await fixture.createExchange({ from: usdt, to: btc, fromUnits: 400n * TETHER })
    fixture.payDeposit(exchange, 400n * TETHER)
    await fixture.mineBlocks(6)
    expect(await change(`select status from exchanges where id = '${exchange.id}'`)).toEqual([{ status: 'exchanging' }])
    const chain = withUnrecorded(new Map([[`${exchange.deposit.address} usdt@eth`, 7n]]))
    for (let n = 0; n < 2; n++) await reconcileChain(chain)
    expect(await readAlarms()).toMatchObject([{ subject: `unseen:${exchange.id}`, detail: { units: '7' } }])
    expect(await readPauses()).toEqual(['payouts:btc'])
  })

  test('are found at every open exchange, however many there are', async () => {
    const oldest = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })
    await change(
      `insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units,
         to_units, partner_fee_bps, expires_at)
       select gen_random_uuid(), partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units,
         to_units, partner_fee_bps, expires_at from exchanges cross join generate_series(1, 999)`,
    )
    await change(
      `insert into deposit_targets (exchange_id, leg, network, address, key_index)
       select id, 0, 'eth', 'target-' || id, 2000000 + row_number() over () from exchanges where id <> '${oldest.id}'`,
    )
    const held = new Map([[`${oldest.deposit.address} eth@eth`, 1n]])
    const rows = (await change(
      "select exchange_id as id, address from deposit_targets where address like 'target-%'",
    )) as readonly { id: string; address: string }[]
    for (const { address } of rows.slice(0, 500)) held.set(`${address} eth@eth`, 1n)
    const chain = withUnrecorded(held)
    for (let n = 0; n < 12; n++) await reconcileChain(chain)
    const expected = [oldest.id, ...rows.slice(0, 500).map(({ id }) => id)].map((id) => `unseen:${id}`).sort()
    expect(await listSubjects()).toEqual(expected)
  })

  test('that are reported on one network do not keep another from being read again', async () => {
    const copied = await fixture.createExchange({ from: btc, to: eth, fromUnits: COIN })
    const { id } = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })
    await change(
      `with copies as (
         insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units,
           to_units, partner_fee_bps, expires_at)
         select gen_random_uuid(), partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units,
           to_units, partner_fee_bps, expires_at from exchanges cross join generate_series(1, 300) where id = '${copied.id}'
         returning id)
       insert into alarms (subject, alarm, detail) select 'unseen:' || id, 'a test', '{}' from copies`,
    )
    await fixture.store.alarms.raise(`unseen:${id}`, 'a test', {})
    const targets = await fixture.store.reconciliation.depositTargets('eth', [])
    expect(targets.map(({ exchangeId }) => exchangeId)).toEqual([id])
  })

  test('are found although a token does not answer', async () => {
    const silent = await fixture.createExchange({ from: usdt, to: btc, fromUnits: 400n * TETHER })
    const ether = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })
    const { reader, ...chain } = withUnrecorded(new Map([[`${ether.deposit.address} eth@eth`, 3n]]))
    const balance: Chain['reader']['balance'] = (address, asset) =>
      address === silent.deposit.address
        ? Promise.reject(new Error('execution reverted'))
        : reader.balance(address, asset)
    for (let n = 0; n < 2; n++) await reconcileChain({ ...chain, reader: { ...reader, balance } })
    expect(await listSubjects()).toEqual([`unseen:${ether.id}`])
  })
})
