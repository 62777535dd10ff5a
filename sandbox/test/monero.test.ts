import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../test/support/describe-with.ts'
import { until } from '../../test/support/until.ts'
import { type RunningSandbox, runSandbox, temporaryFolder } from './running-sandbox.ts'

describeWith('monerod', 'monero in the sandbox', () => {
  const folder = temporaryFolder()
  let sandbox: RunningSandbox
  beforeAll(async () => {
    sandbox = await runSandbox(folder.path, 'xmr')
    console.log(`first start of xmr: ${sandbox.startMs} ms`)
  })
  afterAll(async () => {
    await sandbox?.stop()
    folder.remove()
  })

  const createAddress = async () => String((await sandbox.post('/wallets', { network: 'xmr' })).body['address'])
  const deposit = async (address: string, amount: string) => {
    const { status, body } = await sandbox.post('/deposits', { network: 'xmr', currency: 'native', address, amount })
    expect([status, body]).toEqual([201, { hash: expect.stringMatching(/^[0-9a-f]{64}$/) }])
  }
  const balance = async (address: string) =>
    (await sandbox.get(`/balance?network=xmr&currency=xmr&address=${address}`)).body['amount']

  test('pays the exact amount and rejects an invalid address', async () => {
    const address = await createAddress()
    expect(address).toMatch(/^8[1-9A-HJ-NP-Za-km-z]{94}$/)
    await deposit(address, '1.000000000001')
    await until('the payment', async () => (await balance(address)) === '1.000000000001')
    const rejected = await sandbox.post('/deposits', {
      network: 'xmr',
      currency: 'native',
      address: `${address.slice(0, -1)}1`,
      amount: '1',
    })
    expect([rejected.status, rejected.body['code']]).toEqual([400, 'INVALID_ADDRESS'])
  })

  test('replaces blocks, with and without their payments', async () => {
    await sandbox.post('/mining', { network: 'xmr', paused: true })
    const [includedAddress, droppedAddress] = [await createAddress(), await createAddress()]
    const before = await sandbox.post('/blocks', { network: 'xmr', count: 1 })
    await deposit(includedAddress, '0.5')
    await sandbox.post('/blocks', { network: 'xmr', count: 2 })
    const reorg = await sandbox.post('/reorgs', { network: 'xmr', depth: 2 })
    expect(reorg.body['height']).toBe(Number(before.body['height']) + 3)
    await sandbox.post('/blocks', { network: 'xmr', count: 1 })
    await deposit(droppedAddress, '0.5')
    await sandbox.post('/blocks', { network: 'xmr', count: 1 })
    await sandbox.post('/reorgs', { network: 'xmr', depth: 1, drop: true })
    await sandbox.post('/blocks', { network: 'xmr', count: 2 })
    await sandbox.post('/mining', { network: 'xmr', paused: false })
    expect(await balance(includedAddress)).toBe('0.5')
    await until('the drop of the payment', async () => (await balance(droppedAddress)) === '0')
    const deep = await sandbox.post('/reorgs', { network: 'xmr', depth: 50 })
    expect([deep.status, deep.body['code']]).toEqual([409, 'REORG_TOO_DEEP'])
  })

  // The wallet spent the outputs of payments that had returned to the pool once more, and monerod refused the double spend.
  test('pays while reorganisations return earlier payments to the mempool', async () => {
    const address = await createAddress()
    let isOver = false
    let paid = 0
    const payRepeatedly = async () => {
      for (; !isOver; paid++) await deposit(address, '40')
    }
    const reorganize = async () => {
      for (let n = 0; n < 8; n++) {
        const before = paid
        await until('further payments', () => paid >= before + 2)
        const { status } = await sandbox.post('/reorgs', { network: 'xmr', depth: 1 + (n % 5) })
        expect(status).toBe(201)
      }
    }
    await Promise.all([
      payRepeatedly(),
      payRepeatedly(),
      reorganize().finally(() => {
        isOver = true
      }),
    ])
  })
})
