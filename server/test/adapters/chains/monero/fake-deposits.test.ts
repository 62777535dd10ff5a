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
import { findTransfers, isReceivedUnknown, startOf } from '../../../conformance/wallet.ts'
import { call, chainOf, control, post, startPayer } from './payer.ts'

const network = resolveNetwork(xmr, 'sandbox')
const ONE_XMR = 10n ** 12n

const seed = randomBytes(32)

function createOwnChain() {
  const publicKeys = createPublicKeys(publicAccounts(seed, [network.coinType]))
  const seedKey = createKeySource(seed, network.coinType).privateKey({ branch: 'hot', index: 0 })
  return createMoneroChain({
    network,
    rpcUrls: chainOf().rpcUrls,
    viewKeys: present(publicKeys.viewKeys?.(network.coinType), 'the view keys'),
    spending: { seedKey, folder: join(tmpdir(), 'swapyard-unused') },
  })
}

describeWith('monerod', 'payments on monerod that are no deposit, or not yet', () => {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-monero-'))
  const chain = createOwnChain()
  const { reader, addresses } = chain
  let payer: Awaited<ReturnType<typeof startPayer>>
  beforeAll(async () => {
    payer = await startPayer(folder)
  })
  afterAll(async () => {
    await payer?.stop()
    await chain.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const waitForArrivals = (address: string, from: number, count: number) =>
    until(`${count} outputs arrive`, async () => {
      const all = await findTransfers(chain, address, from)
      return all.length >= count ? all : null
    })

  test('D42 does not credit a locked output before its unlock height', async () => {
    const from = await startOf(chain)
    const { address } = addresses.deposit(1)
    const { height } = await reader.head()
    const [near, far] = [height + 25, height + 1_000_000]
    const hashes = [
      await payer.transfer([{ address, amount: ONE_XMR / 10n }], { unlock_time: near }),
      await payer.transfer([{ address, amount: ONE_XMR / 10n }], { unlock_time: far }),
    ]
    const received = await waitForArrivals(address, from, 2)
    const [first, second] = hashes.map((hash) => received.find(({ transfer }) => transfer.txHash === hash))
    if (!first || !second) throw new Error('an output is missing')
    expect(first.transfer.lockConfirmations).toBe(near - first.block.height)
    expect(second.transfer.lockConfirmations).toBe(far - second.block.height)
    for (const one of [first, second]) expect(await isReceivedUnknown(chain, one)).toBe(true)
    await until('the near lock has ended', async () => !(await isReceivedUnknown(chain, first)))
    // The reader and the chain agree: not a block too early.
    const depth = (await reader.head()).height - first.block.height + 1
    expect(depth).toBeGreaterThanOrEqual(first.transfer.lockConfirmations ?? 0)
    expect(await reader.receivedUnits(first.transfer, first.block)).toBe(ONE_XMR / 10n)
    expect(await isReceivedUnknown(chain, second)).toBe(true)
  })

  test('D43 counts each output of a transaction to one subaddress as a deposit', async () => {
    const from = await startOf(chain)
    const { address } = addresses.deposit(2)
    const amounts = [ONE_XMR / 10n, ONE_XMR / 5n, ONE_XMR / 10n]
    const hash = await payer.transfer(amounts.map((amount) => ({ address, amount })))
    const received = await waitForArrivals(address, from, 3)
    expect(received.map(({ transfer }) => transfer.txHash)).toEqual([hash, hash, hash])
    expect(new Set(received.map(({ transfer }) => transfer.identity)).size).toBe(3)
    const units = await Promise.all(received.map(({ transfer, block }) => reader.receivedUnits(transfer, block)))
    expect(units.reduce((sum, units) => sum + units)).toBe(amounts.reduce((sum, units) => sum + units))
  })

  test('D44 does not count coinbase outputs as deposits', async () => {
    const from = await startOf(chain)
    const reply = await call('generateblocks', { amount_of_blocks: 2, wallet_address: addresses.hot() })
    const { height } = reply as { height: number }
    await until('the blocks are mined', async () => (await reader.head()).height >= height)
    expect(await findTransfers(chain, addresses.hot(), from)).toEqual([])
  })

  test('D46 refuses the units of an orphaned deposit, and finds it again once it is mined again', async () => {
    const from = await startOf(chain)
    const { address } = addresses.deposit(4)
    await payer.transfer([{ address, amount: ONE_XMR / 10n }])
    const [one] = await waitForArrivals(address, from, 1)
    if (!one) throw new Error('the output is missing')
    await control('/mining', { network: 'xmr', paused: true })
    try {
      expect(await reader.receivedUnits(one.transfer, one.block)).toBe(ONE_XMR / 10n)
      // Removes blocks without replacement. A block that another test asked for may come in between.
      await until('the block of the deposit is removed', async () => {
        const { height } = await reader.head()
        if (height < one.block.height) return true
        await post('/pop_blocks', { nblocks: height - one.block.height + 1 })
        return false
      })
      expect(await reader.agrees(one.block)).toBe(false)
      expect(await reader.block(one.block.height)).toBeNull()
      expect(await isReceivedUnknown(chain, one)).toBe(true)
    } finally {
      await control('/mining', { network: 'xmr', paused: false })
    }
    // The same one-time key gives the same identity.
    const again = await waitForArrivals(address, from, 1)
    expect(again.map(({ transfer }) => transfer.identity)).toEqual([one.transfer.identity])
  })

  test('D45 does not report a double-spent payment as a sighting', async () => {
    const { address } = addresses.deposit(3)
    await payer.waitForUnlocked(Number(ONE_XMR / 4n))
    await control('/mining', { network: 'xmr', paused: true })
    try {
      await reader.mempool()
      const [first, conflicting] = [await payer.build(address, ONE_XMR / 10n), await payer.build(address, ONE_XMR / 5n)]
      expect(await post('/send_raw_transaction', { tx_as_hex: first })).toMatchObject({ status: 'OK' })
      expect((await reader.mempool()).map((transfer) => transfer.address)).toEqual([address])
      expect(await post('/send_raw_transaction', { tx_as_hex: conflicting })).toMatchObject({ double_spend: true })
      // A new reader sees the double-spend flag.
      const second = createOwnChain()
      expect((await second.reader.mempool()).filter((transfer) => transfer.address === address)).toEqual([])
      await second.close()
    } finally {
      await control('/mining', { network: 'xmr', paused: false })
    }
  })
})
