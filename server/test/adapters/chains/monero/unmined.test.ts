import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../../../../test/support/describe-with.ts'
import { xmr } from '../../../../networks/xmr.ts'
import { createMoneroChain } from '../../../../src/adapters/chains/monero/chain.ts'
import { signMonero } from '../../../../src/adapters/chains/monero/sign.ts'
import { createKeySource, createPublicKeys, publicAccounts } from '../../../../src/adapters/signers/keys.ts'
import { resolveNetwork } from '../../../../src/core/domain/network.ts'
import type { Chain } from '../../../../src/exchange/ports/chain.ts'
import { present } from '../../../../src/lib/assert.ts'
import { startLonelyNode } from './private-node.ts'

const network = resolveNetwork(xmr, 'sandbox')
const COIN = 10n ** 12n
const HOT = { branch: 'hot', index: 0 } as const
const asset = { id: 'xmr@xmr', ticker: 'xmr', network: 'xmr', decimals: 12, contract: null } as const

describeWith('monerod', 'a payment that a daemon will not mine', () => {
  const seed = randomBytes(32)
  const keys = createKeySource(seed, network.coinType)
  let node: Awaited<ReturnType<typeof startLonelyNode>>
  let app: ReturnType<typeof createMoneroChain>
  let guest: ReturnType<typeof createMoneroChain>
  beforeAll(async () => {
    node = await startLonelyNode()
    const viewKeys = present(
      createPublicKeys(publicAccounts(seed, [network.coinType])).viewKeys?.(network.coinType),
      'the view keys',
    )
    const spending = { seedKey: keys.privateKey(HOT), folder: join(node.folder, 'app') }
    app = createMoneroChain({ network, rpcUrls: [node.url], viewKeys, spending })
    guest = createMoneroChain({ network, rpcUrls: [node.restrictedUrl], viewKeys, spending: null })
  })
  afterAll(async () => {
    await Promise.all([app?.close(), guest?.close()])
    await node?.stop()
  })

  /** A payment of ours, from a coin that is as young as a coin may be that is spent. */
  const pay = async () => {
    await node.pay(app.addresses.hot(), '2')
    const { height } = await node.mine(1)
    await node.mine(9)
    const coin = present(
      (await app.reader.block(height))?.transfers.find(({ address }) => address === app.addresses.hot()),
      'the coin',
    )
    const payment = { payoutId: 'one', address: app.addresses.deposit(7).address, memo: null, asset, units: COIN }
    await app.sender.gasLimit(payment, HOT)
    const { intent } = await app.sender.build({
      payments: [payment],
      from: HOT,
      fee: await app.reader.feeRate(),
      utxos: [{ outpoint: app.reader.outpoint?.(coin, HOT) ?? '', units: coin.units, path: HOT }],
      changeIndex: 0,
      nonce: null,
      gasLimit: null,
      sweepAll: false,
      replaces: null,
    })
    const { raw, txHash } = await signMonero(intent, keys)
    expect(await app.sender.broadcast(raw)).toEqual({ kind: 'accepted' })
    return { raw, txHash }
  }
  const kindOf = async (chain: Chain, { txHash }: { txHash: string }) =>
    (await chain.sender.observe({ txHash, conflictKey: null })).kind
  const revive = async (chain: Chain, ours: { raw: string; txHash: string }) =>
    present(chain.sender.rebroadcast, 'what Monero has')(ours)

  test('waits until its ring is old enough, and is taken out of the pool and offered again: the same bytes', async () => {
    const ours = await pay()
    expect(await revive(app, ours)).toEqual({ kind: 'waiting' })
    await node.mine(1)
    expect(await kindOf(app, ours)).toBe('included')

    await node.pop(6)
    // Looked at for this block, when its own coin is five blocks old.
    await node.mine(1)
    expect(await kindOf(app, ours)).toBe('pending')
    expect(await revive(app, ours)).toEqual({ kind: 'waiting' })
    expect(await node.pool()).toContain(ours.txHash)
    await node.mine(2)
    expect(await revive(app, ours)).toEqual({ kind: 'waiting' })
    expect(await node.pool()).toContain(ours.txHash)

    await node.mine(8)
    if (await node.looksAgain()) return expect(await kindOf(app, ours)).toBe('included')
    expect(await kindOf(app, ours)).toBe('pending')
    expect(await revive(guest, ours)).toEqual({ kind: 'waiting' })
    await node.mine(10)
    expect(await kindOf(app, ours)).toBe('pending')
    // Where the daemon is not the operator's, a person is told what to do, and by whom.
    expect(await revive(guest, ours)).toEqual({
      kind: 'unmined',
      blocks: 10,
      remedy: expect.stringMatching(
        new RegExp(`^${new URL(node.restrictedUrl).host} .*"monerod flush_txpool ${ours.txHash}"`),
      ),
    })
    expect(await node.pool()).toContain(ours.txHash)

    expect(await revive(app, ours)).toEqual({ kind: 'rebroadcast' })
    expect(await kindOf(app, ours)).toBe('pending')
    await node.mine(1)
    expect(await kindOf(app, ours)).toBe('included')
  })

  test('a coin at an address that the wallet did not look for is paid with once it was looked for', async () => {
    const path = { branch: 'deposit', index: 800 } as const
    const { address } = app.addresses.deposit(path.index)
    const payment = { payoutId: 'two', address: app.addresses.deposit(7).address, memo: null, asset, units: COIN }
    await node.pay(address, '2')
    const { height } = await node.mine(1)
    await node.mine(9)
    // The wallet reads the block before anybody knows of the address.
    await app.sender.gasLimit(payment, HOT)
    const transfers = (await app.reader.block(height))?.transfers ?? []
    const coin = present(
      transfers.find((one) => one.address === address),
      'the coin',
    )
    const outpoint = app.reader.outpoint?.(coin, path) ?? ''
    const fee = await app.reader.feeRate()
    const build = async () =>
      app.sender.build({
        payments: [payment],
        from: HOT,
        fee,
        utxos: [{ outpoint, units: coin.units, path }],
        changeIndex: 0,
        nonce: null,
        gasLimit: null,
        sweepAll: false,
        replaces: null,
      })
    await expect(build()).rejects.toMatchObject({ code: 'INSUFFICIENT_LIQUIDITY' })
    await app.sender.gasLimit(payment, HOT)
    expect((await build()).resources).toEqual([outpoint])
  })
})
