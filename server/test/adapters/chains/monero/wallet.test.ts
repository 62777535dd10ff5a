import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { describeWith } from '../../../../../test/support/describe-with.ts'
import { until } from '../../../../../test/support/until.ts'
import { createAddresses } from '../../../../src/adapters/chains/monero/address.ts'
import { createWalletKeys } from '../../../../src/adapters/chains/monero/keys.ts'
import { spendKeyOf, viewKeysOf } from '../../../../src/adapters/chains/monero/view-keys.ts'
import { createWalletSession } from '../../../../src/adapters/chains/monero/wallet.ts'
import { chainOf, control, post } from './payer.ts'

const folder = mkdtempSync(join(tmpdir(), 'swapyard-wallet-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describeWith('monerod', 'the wallet program', () => {
  test('the wallet reopens its file after a stop and is restored from its keys after a crash', async () => {
    const seedKey = new Uint8Array(randomBytes(32))
    const keys = createWalletKeys(viewKeysOf(spendKeyOf(seedKey)), seedKey)
    const addresses = createAddresses(keys)
    const open = () => createWalletSession({ keys, folder, daemonUrl: chainOf().rpcUrls[0] ?? '', restoreHeight: 0 })
    const pay = (address: string) =>
      control('/deposits', { network: 'xmr', currency: 'native', address, amount: '0.25' })

    let session = open()
    await expect(async () => session.runIfOpen(async () => undefined)).rejects.toMatchObject({
      code: 'NETWORK_UNAVAILABLE',
    })
    await session.run((wallet) => wallet.extendLookahead(451))
    await pay(addresses.hot())
    // Beyond the wallet's default lookahead.
    await pay(addresses.deposit(450).address)
    const received = await until('both outputs are there', async () => {
      const outputs = await session.run((wallet) => wallet.outputs())
      return outputs.size === 2 ? outputs : null
    })
    expect([...received.values()].map(({ units }) => units)).toEqual([250_000_000_000n, 250_000_000_000n])
    // Other users of this machine cannot read the login.
    expect(statSync(join(folder, 'wallet-rpc.conf')).mode & 0o077).toBe(0)
    await session.close()
    expect(existsSync(join(folder, 'open'))).toBe(false)

    const written = readFileSync(join(folder, 'hot-wallet.keys'))
    session = open()
    expect([...(await session.run((wallet) => wallet.outputs())).keys()].sort()).toEqual([...received.keys()].sort())
    await session.close()
    expect(readFileSync(join(folder, 'hot-wallet.keys'))).toEqual(written)

    // The state after a crash: the marker, and an incomplete file.
    writeFileSync(join(folder, 'open'), '')
    writeFileSync(join(folder, 'hot-wallet'), randomBytes(1_000))
    session = open()
    // The restored wallet has the same lookahead, so the chain is scanned once.
    expect([...(await session.run((wallet) => wallet.outputs())).keys()].sort()).toEqual([...received.keys()].sort())
    expect(readFileSync(join(folder, 'hot-wallet.keys'))).not.toEqual(written)
    await session.close()
  })

  test('finds an output beyond the lookahead by scanning its transaction, without a rescan', async () => {
    const own = join(folder, 'second')
    const seedKey = new Uint8Array(randomBytes(32))
    const keys = createWalletKeys(viewKeysOf(spendKeyOf(seedKey)), seedKey)
    const session = createWalletSession({ keys, folder: own, daemonUrl: chainOf().rpcUrls[0] ?? '', restoreHeight: 0 })
    const { address } = createAddresses(keys).deposit(800)
    const payment = { network: 'xmr', currency: 'native', address, amount: '0.25' }
    const hash = String((await control('/deposits', payment))['hash'])
    await until('the payment is in a block', async () => {
      const { txs } = (await post('/get_transactions', { txs_hashes: [hash] })) as { txs?: { in_pool: boolean }[] }
      return txs?.[0]?.in_pool === false
    })
    const size = () => session.run(async (wallet) => (await wallet.outputs()).size)
    const measureMs = async (work: () => Promise<unknown>) => {
      const startedAt = performance.now()
      await work()
      return Math.round(performance.now() - startedAt)
    }
    expect(await size()).toBe(0)
    const lookaheadMs = await measureMs(() => session.run((wallet) => wallet.extendLookahead(801)))
    expect(await size()).toBe(0)
    const scanMs = await measureMs(() => session.run((wallet) => wallet.scan([hash])))
    expect(await size()).toBe(1)
    const rescanMs = await measureMs(() => session.run((wallet) => wallet.rescan()))
    expect(await size()).toBe(1)
    console.log(`lookahead: ${lookaheadMs} ms; scan of one transaction: ${scanMs} ms; rescan: ${rescanMs} ms`)
    await session.close()
  })
})
