import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createReconcile } from '../../../src/exchange/operations/reconcile.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let differences: [asset: string, units: bigint][]
let reconcile: (network: 'btc' | 'eth') => Promise<void>
beforeEach(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 2n * COIN, eth: 10n * ETHER })
  differences = []
  const { store, dependencies, fakes } = fixture
  const run = createReconcile({
    addressesEveryMs: 0,
    store,
    assetById: dependencies.assetById,
    log: dependencies.log,
    onDifference: (asset, units) => differences.push([asset, units]),
  })
  reconcile = (network) => run(fakes[network].chain)
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

  test('finds money that the chain has and the ledger does not', async () => {
    await change("update balances set units = units - 5 where account = 'asset:wallet' and asset_id = 'btc@btc'")
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
    await change("update balances set units = units + 9 where account = 'asset:wallet' and asset_id = 'eth@eth'")
    await reconcile('eth')
    await reconcile('eth')
    expect(await readAlarms()).toMatchObject([{ subject: 'difference:eth@eth', detail: { difference: '-9' } }])
    expect(await readPauses()).toEqual(['payouts:eth'])
  })
})
