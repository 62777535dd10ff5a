import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../../../../test/support/describe-with.ts'
import { until } from '../../../../../test/support/until.ts'
import { xmr } from '../../../../networks/xmr.ts'
import { createMoneroChain } from '../../../../src/adapters/chains/monero/chain.ts'
import { createKeySource, createPublicKeys, publicAccounts } from '../../../../src/adapters/signers/keys.ts'
import { resolveNetwork } from '../../../../src/core/domain/network.ts'
import { present } from '../../../../src/lib/assert.ts'
import { arrivals, refusesToSay, startOf } from '../../../conformance/wallet.ts'
import { call, chainOf, control, payer, post } from './payer.ts'

const network = resolveNetwork(xmr, 'sandbox')
const COIN = 10n ** 12n

const seed = randomBytes(32)

function createTestApp() {
  const publicKeys = createPublicKeys(publicAccounts(seed, [network.coinType]))
  const seedKey = createKeySource(seed, network.coinType).privateKey({ branch: 'hot', index: 0 })
  return createMoneroChain({
    network,
    rpcUrls: chainOf().rpcUrls,
    viewKeys: present(publicKeys.viewKeys?.(network.coinType), 'the view keys'),
    spending: { seedKey, folder: join(tmpdir(), 'swapyard-unused') },
  })
}

describeWith('monerod', 'monerod and what is no deposit, or not yet', () => {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-monero-'))
  const app = createTestApp()
  const { reader, addresses } = app
  let outside: Awaited<ReturnType<typeof payer>>
  beforeAll(async () => {
    outside = await payer(folder)
  })
  afterAll(async () => {
    await outside?.stop()
    await app.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const arrived = (address: string, from: number, count: number) =>
    until(`${count} outputs arrive`, async () => {
      const found = await arrivals(app, address, from)
      return found.length >= count ? found : null
    })

  test('D42 an output that its sender locked is worth nothing until it is unlocked', async () => {
    const from = await startOf(app)
    const { address } = addresses.deposit(1)
    const { height } = await reader.head()
    const [near, far] = [height + 25, height + 1_000_000]
    const hashes = [
      await outside.transfer([{ address, amount: COIN / 10n }], { unlock_time: near }),
      await outside.transfer([{ address, amount: COIN / 10n }], { unlock_time: far }),
    ]
    const found = await arrived(address, from, 2)
    const [first, second] = hashes.map((hash) => found.find(({ transfer }) => transfer.txHash === hash))
    if (!first || !second) throw new Error('both arrived')
    expect(first.transfer.lockConfirmations).toBe(near - first.block.height)
    expect(second.transfer.lockConfirmations).toBe(far - second.block.height)
    for (const one of [first, second]) expect(await refusesToSay(app, one)).toBe(true)
    await until('the near lock has ended', async () => !(await refusesToSay(app, first)))
    // What the depth says is what the chain says: not a block too early.
    const depth = (await reader.head()).height - first.block.height + 1
    expect(depth).toBeGreaterThanOrEqual(first.transfer.lockConfirmations ?? 0)
    expect(await reader.receivedUnits(first.transfer, first.block)).toBe(COIN / 10n)
    expect(await refusesToSay(app, second)).toBe(true)
  })

  test('D43 several outputs to one subaddress in one transaction are as many deposits', async () => {
    const from = await startOf(app)
    const { address } = addresses.deposit(2)
    const amounts = [COIN / 10n, COIN / 5n, COIN / 10n]
    const hash = await outside.transfer(amounts.map((amount) => ({ address, amount })))
    const found = await arrived(address, from, 3)
    expect(found.map(({ transfer }) => transfer.txHash)).toEqual([hash, hash, hash])
    expect(new Set(found.map(({ transfer }) => transfer.identity)).size).toBe(3)
    const received = await Promise.all(found.map(({ transfer, block }) => reader.receivedUnits(transfer, block)))
    expect(received.reduce((sum, units) => sum + units)).toBe(amounts.reduce((sum, units) => sum + units))
  })

  test('D44 new coins of a block are no deposit', async () => {
    const from = await startOf(app)
    const made = await call('generateblocks', { amount_of_blocks: 2, wallet_address: addresses.hot() })
    const { height } = made as { height: number }
    await until('the blocks are there', async () => (await reader.head()).height >= height)
    expect(await arrivals(app, addresses.hot(), from)).toEqual([])
  })

  test("D46 depth is the daemon's word: it is gone with the block, whatever a wallet remembers", async () => {
    const from = await startOf(app)
    const { address } = addresses.deposit(4)
    await outside.transfer([{ address, amount: COIN / 10n }])
    const [one] = await arrived(address, from, 1)
    if (!one) throw new Error('it arrived')
    await control('/mining', { network: 'xmr', paused: true })
    try {
      expect(await reader.receivedUnits(one.transfer, one.block)).toBe(COIN / 10n)
      const before = await reader.head()
      const depth = before.height - one.block.height + 1
      // Blocks are taken away, and none comes in their place.
      await post('/pop_blocks', { nblocks: depth })
      expect((await reader.head()).height).toBe(before.height - depth)
      expect(await reader.agrees(one.block)).toBe(false)
      expect(await reader.block(one.block.height)).toBeNull()
      expect(await refusesToSay(app, one)).toBe(true)
    } finally {
      await control('/mining', { network: 'xmr', paused: false })
    }
    // The same key, mined again: the same deposit.
    const again = await arrived(address, from, 1)
    expect(again.map(({ transfer }) => transfer.identity)).toEqual([one.transfer.identity])
  })

  test('D45 a payment whose coins another one spends is not even a sighting', async () => {
    const { address } = addresses.deposit(3)
    await control('/mining', { network: 'xmr', paused: true })
    try {
      await reader.mempool()
      const [kept, rival] = [await outside.build(address, COIN / 10n), await outside.build(address, COIN / 5n)]
      expect(await post('/send_raw_transaction', { tx_as_hex: kept })).toMatchObject({ status: 'OK' })
      expect((await reader.mempool()).map((transfer) => transfer.address)).toEqual([address])
      expect(await post('/send_raw_transaction', { tx_as_hex: rival })).toMatchObject({ double_spend: true })
      // Who looks for the first time sees the flag.
      const second = createTestApp()
      expect((await second.reader.mempool()).filter((transfer) => transfer.address === address)).toEqual([])
      await second.close()
    } finally {
      await control('/mining', { network: 'xmr', paused: false })
    }
  })
})
