import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../../../../test/support/describe-with.ts'
import { until } from '../../../../../test/support/until.ts'
import { xmr } from '../../../../networks/xmr.ts'
import { createMoneroChain } from '../../../../src/adapters/chains/monero/chain.ts'
import { signMonero } from '../../../../src/adapters/chains/monero/sign.ts'
import { createKeySource, createPublicKeys, publicAccounts } from '../../../../src/adapters/signers/keys.ts'
import { resolveNetwork } from '../../../../src/core/domain/network.ts'
import type { Chain } from '../../../../src/exchange/ports/chain.ts'
import { present } from '../../../../src/lib/assert.ts'
import { startPrivateNode } from './private-node.ts'

const network = resolveNetwork(xmr, 'sandbox')
const ONE_XMR = 10n ** 12n
const HOT = { branch: 'hot', index: 0 } as const
const asset = { id: 'xmr@xmr', ticker: 'xmr', network: 'xmr', decimals: 12, contract: null } as const

describeWith('monerod', 'a transaction that a daemon will not mine', () => {
  const seed = randomBytes(32)
  const keys = createKeySource(seed, network.coinType)
  let node: Awaited<ReturnType<typeof startPrivateNode>>
  let ownChain: ReturnType<typeof createMoneroChain>
  let restrictedChain: ReturnType<typeof createMoneroChain>
  beforeAll(async () => {
    node = await startPrivateNode()
    const viewKeys = present(
      createPublicKeys(publicAccounts(seed, [network.coinType])).viewKeys?.(network.coinType),
      'the view keys',
    )
    const spending = { seedKey: keys.privateKey(HOT), folder: join(node.folder, 'wallet') }
    ownChain = createMoneroChain({ network, rpcUrls: [node.url], viewKeys, spending })
    restrictedChain = createMoneroChain({ network, rpcUrls: [node.restrictedUrl], viewKeys, spending: null })
  })
  afterAll(async () => {
    await Promise.all([ownChain?.close(), restrictedChain?.close()])
    await node?.stop()
  })

  /** A payment that spends an output of the minimum age. */
  const pay = async () => {
    await node.pay(ownChain.addresses.hot(), '2')
    const { height } = await node.mine(1)
    await node.mine(9)
    const output = present(
      (await ownChain.reader.block(height))?.transfers.find(({ address }) => address === ownChain.addresses.hot()),
      'the output',
    )
    const payment = {
      payoutId: 'one',
      address: ownChain.addresses.deposit(7).address,
      memo: null,
      asset,
      units: ONE_XMR,
    }
    await ownChain.sender.gasLimit(payment, HOT)
    const { intent } = await ownChain.sender.build({
      payments: [payment],
      from: HOT,
      fee: await ownChain.reader.feeRate(),
      utxos: [{ outpoint: ownChain.reader.outpoint?.(output, HOT) ?? '', units: output.units, path: HOT }],
      changeIndex: 0,
      nonce: null,
      gasLimit: null,
      sweepAll: false,
      replaces: null,
    })
    const { raw, txHash } = await signMonero(intent, keys)
    expect(await ownChain.sender.broadcast(raw)).toEqual({ kind: 'accepted' })
    await waitForStemPhase({ txHash })
    return { raw, txHash }
  }
  /** monerod mines a transaction after its stem phase (Dandelion++), until which restricted endpoints do not show it. */
  const waitForStemPhase = (ours: { txHash: string }) =>
    until('the stem phase ends', async () => (await kindOf(restrictedChain, ours)) === 'pending')
  const kindOf = async (chain: Chain, { txHash }: { txHash: string }) =>
    (await chain.sender.observe({ txHash, conflictKey: null })).kind
  const rebroadcast = async (chain: Chain, ours: { raw: string; txHash: string }) =>
    present(chain.sender.rebroadcast, 'rebroadcast of Monero')(ours)

  test('is flushed from the pool and sent again, with the same bytes, once its ring is old enough', async () => {
    const ours = await pay()
    expect(await rebroadcast(ownChain, ours)).toEqual({ kind: 'waiting' })
    await node.mine(1)
    expect(await kindOf(ownChain, ours)).toBe('included')

    await node.pop(6)
    // monerod checks the transaction at this block, when its input is five blocks old.
    await node.mine(1)
    expect(await kindOf(ownChain, ours)).toBe('pending')
    expect(await rebroadcast(ownChain, ours)).toEqual({ kind: 'waiting' })
    expect(await node.pool()).toContain(ours.txHash)
    await node.mine(2)
    expect(await rebroadcast(ownChain, ours)).toEqual({ kind: 'waiting' })
    expect(await node.pool()).toContain(ours.txHash)

    await node.mine(8)
    if (await node.retriesFailedTransactions()) return expect(await kindOf(ownChain, ours)).toBe('included')
    expect(await kindOf(ownChain, ours)).toBe('pending')
    expect(await rebroadcast(restrictedChain, ours)).toEqual({ kind: 'waiting' })
    await node.mine(10)
    expect(await kindOf(ownChain, ours)).toBe('pending')
    // The daemon is restricted, so the result contains a remedy for the operator.
    expect(await rebroadcast(restrictedChain, ours)).toEqual({
      kind: 'unmined',
      blocks: 10,
      remedy: expect.stringMatching(
        new RegExp(`^${new URL(node.restrictedUrl).host} .*"monerod flush_txpool ${ours.txHash}"`),
      ),
    })
    expect(await node.pool()).toContain(ours.txHash)

    expect(await rebroadcast(ownChain, ours)).toEqual({ kind: 'rebroadcast' })
    await waitForStemPhase(ours)
    expect(await kindOf(ownChain, ours)).toBe('pending')
    await node.mine(1)
    expect(await kindOf(ownChain, ours)).toBe('included')
  })

  test('an output beyond the wallet lookahead becomes spendable after the next preparation', async () => {
    const path = { branch: 'deposit', index: 800 } as const
    const { address } = ownChain.addresses.deposit(path.index)
    const payment = {
      payoutId: 'two',
      address: ownChain.addresses.deposit(7).address,
      memo: null,
      asset,
      units: ONE_XMR,
    }
    await node.pay(address, '2')
    const { height } = await node.mine(1)
    await node.mine(9)
    // The wallet scans the block before its lookahead includes the address.
    await ownChain.sender.gasLimit(payment, HOT)
    const transfers = (await ownChain.reader.block(height))?.transfers ?? []
    const output = present(
      transfers.find((one) => one.address === address),
      'the output',
    )
    const outpoint = ownChain.reader.outpoint?.(output, path) ?? ''
    const fee = await ownChain.reader.feeRate()
    const build = async () =>
      ownChain.sender.build({
        payments: [payment],
        from: HOT,
        fee,
        utxos: [{ outpoint, units: output.units, path }],
        changeIndex: 0,
        nonce: null,
        gasLimit: null,
        sweepAll: false,
        replaces: null,
      })
    await expect(build()).rejects.toMatchObject({ code: 'INSUFFICIENT_LIQUIDITY' })
    await ownChain.sender.gasLimit(payment, HOT)
    expect((await build()).resources).toEqual([outpoint])
  })
})
