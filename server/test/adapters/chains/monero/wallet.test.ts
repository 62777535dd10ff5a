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
  test('the wallet is a cache: after a stop it goes on, after a crash it is made anew and finds the same', async () => {
    const seedKey = new Uint8Array(randomBytes(32))
    const keys = createWalletKeys(viewKeysOf(spendKeyOf(seedKey)), seedKey)
    const addresses = createAddresses(keys)
    const open = () => createWalletSession({ keys, folder, daemonUrl: chainOf().rpcUrls[0] ?? '', restoreHeight: 0 })
    const pay = (address: string) =>
      control('/deposits', { network: 'xmr', currency: 'native', address, amount: '0.25' })

    let room = open()
    await expect(async () => room.useOpen(async () => undefined)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
    await room.use((wallet) => wallet.widen(451))
    await pay(addresses.hot())
    // Beyond what a wallet looks for by itself.
    await pay(addresses.deposit(450).address)
    const found = await until('both outputs are there', async () => {
      const outputs = await room.use((wallet) => wallet.outputs())
      return outputs.size === 2 ? outputs : null
    })
    expect([...found.values()].map(({ units }) => units)).toEqual([250_000_000_000n, 250_000_000_000n])
    // Nobody else on this machine reads the login, and no secret is on a command line.
    expect(statSync(join(folder, 'wallet-rpc.conf')).mode & 0o077).toBe(0)
    await room.close()
    expect(existsSync(join(folder, 'open'))).toBe(false)

    const written = readFileSync(join(folder, 'app.keys'))
    room = open()
    expect([...(await room.use((wallet) => wallet.outputs())).keys()].sort()).toEqual([...found.keys()].sort())
    await room.close()
    expect(readFileSync(join(folder, 'app.keys'))).toEqual(written)

    // As a crash leaves it: the marker, and half a file.
    writeFileSync(join(folder, 'open'), '')
    writeFileSync(join(folder, 'app'), randomBytes(1_000))
    room = open()
    // It has looked for all that it looked for before: the chain is read once.
    expect([...(await room.use((wallet) => wallet.outputs())).keys()].sort()).toEqual([...found.keys()].sort())
    expect(readFileSync(join(folder, 'app.keys'))).not.toEqual(written)
    await room.close()
  })

  test('a coin at an address beyond those that it looked for is found without reading the chain again', async () => {
    const own = join(folder, 'second')
    const seedKey = new Uint8Array(randomBytes(32))
    const keys = createWalletKeys(viewKeysOf(spendKeyOf(seedKey)), seedKey)
    const room = createWalletSession({ keys, folder: own, daemonUrl: chainOf().rpcUrls[0] ?? '', restoreHeight: 0 })
    const { address } = createAddresses(keys).deposit(800)
    const payment = { network: 'xmr', currency: 'native', address, amount: '0.25' }
    const hash = String((await control('/deposits', payment))['hash'])
    await until('its block is there', async () => {
      const { txs } = (await post('/get_transactions', { txs_hashes: [hash] })) as { txs?: { in_pool: boolean }[] }
      return txs?.[0]?.in_pool === false
    })
    const size = () => room.use(async (wallet) => (await wallet.outputs()).size)
    const took = async (work: () => Promise<unknown>) => {
      const from = performance.now()
      await work()
      return Math.round(performance.now() - from)
    }
    expect(await size()).toBe(0)
    const widenMs = await took(() => room.use((wallet) => wallet.widen(801)))
    expect(await size()).toBe(0)
    const scanMs = await took(() => room.use((wallet) => wallet.scan([hash])))
    expect(await size()).toBe(1)
    const rescanMs = await took(() => room.use((wallet) => wallet.rescan()))
    expect(await size()).toBe(1)
    console.log(`more addresses: ${widenMs} ms; one transaction: ${scanMs} ms; the whole chain: ${rescanMs} ms`)
    await room.close()
  })
})
