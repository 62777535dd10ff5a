import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../../../../test/support/describe-with.ts'
import { xmr } from '../../../../networks/xmr.ts'
import { createAddresses } from '../../../../src/adapters/chains/monero/address.ts'
import { createWalletKeys } from '../../../../src/adapters/chains/monero/keys.ts'
import { createMoneroNode } from '../../../../src/adapters/chains/monero/node.ts'
import { createOutputOrigins } from '../../../../src/adapters/chains/monero/output-origins.ts'
import { createReader } from '../../../../src/adapters/chains/monero/reader.ts'
import { spendKeyOf, viewKeysOf } from '../../../../src/adapters/chains/monero/view-keys.ts'
import { createWalletSession, type WalletOutput } from '../../../../src/adapters/chains/monero/wallet.ts'
import { createWalletOutputs } from '../../../../src/adapters/chains/monero/wallet-outputs.ts'
import { resolveNetwork } from '../../../../src/core/domain/network.ts'
import type { RecordedUtxo } from '../../../../src/exchange/ports/spend.ts'
import { present } from '../../../../src/lib/assert.ts'
import { createHttp } from '../../../../src/lib/http.ts'
import { startPrivateNode } from './private-node.ts'

const network = resolveNetwork(xmr, 'sandbox')
const HALF_XMR = 500_000_000_000n
const HOT = { branch: 'hot', index: 0 } as const

describeWith('monerod', 'the wallet program after it scanned a block early that a reorganisation removed', () => {
  let node: Awaited<ReturnType<typeof startPrivateNode>>
  const http = createHttp()
  beforeAll(async () => {
    node = await startPrivateNode()
  })
  afterAll(async () => {
    await http.close()
    await node?.stop()
  })

  /** A new wallet that has scanned the chain, and its reader. */
  async function openWallet() {
    const seedKey = new Uint8Array(randomBytes(32))
    const keys = createWalletKeys(viewKeysOf(spendKeyOf(seedKey)), seedKey)
    const folder = join(node.folder, randomBytes(4).toString('hex'))
    const session = createWalletSession({ keys, folder, daemonUrl: node.url, restoreHeight: 0 })
    const origins = createOutputOrigins()
    const daemon = createMoneroNode(network, http, node.url)
    const outputs = createWalletOutputs({ origins, nodes: [daemon] })
    const reader = createReader({ network, nodes: [daemon], keys, origins, outputs, wallet: session })
    const hot = createAddresses(keys).hot()
    await session.run((wallet) => wallet.outputs('slow'))
    /** The output of a transaction to the hot address, as the store records it. */
    const record = async (txHash: string): Promise<RecordedUtxo> => {
      const { height } = present((await daemon.transactions([txHash]))[0], 'the transaction')
      const block = present(await reader.block(present(height, 'its block')), 'the block')
      const transfer = present(
        block.transfers.find((one) => one.txHash === txHash),
        'the output',
      )
      const deposit = { identity: transfer.identity, txHash }
      const outpoint = present(reader.outpoint?.(transfer, HOT), 'the key image')
      return { outpoint, units: transfer.units, path: HOT, deposit }
    }
    const payHalf = () =>
      session.run(async (wallet) => {
        // A repair freezes what no payment has selected.
        for (const keyImage of (await wallet.outputs()).keys()) await wallet.setFrozen(keyImage, false)
        return wallet.transfer([{ address: hot, units: HALF_XMR / 2n }])
      })
    const compare = (utxo: RecordedUtxo) => reader.findMissingUtxos?.([utxo])
    return { session, daemon, hot, record, payHalf, compare }
  }

  /**
   * Mines a transaction, lets the wallet scan it before it has read the block, and removes two blocks and the transaction.
   * Repeats that if the wallet read the blocks in between, as `isBroken` tells. Then the chain is as high as before. Returns the
   * bytes of the transaction.
   */
  async function scanEarly(
    { session, daemon }: Awaited<ReturnType<typeof openWallet>>,
    txHash: string,
    isBroken: (outputs: ReadonlyMap<string, WalletOutput>) => boolean,
  ) {
    const raw = await node.readRaw(txHash)
    await node.call('flush_txpool', { txids: [txHash] })
    for (let tries = 0; tries < 5; tries++) {
      await node.mine(1)
      await daemon.send(raw)
      await node.mine(1)
      await session.run((wallet) => wallet.scan([txHash]))
      await node.pop(2)
      await node.call('flush_txpool', { txids: [txHash] })
      if (isBroken(await session.run((wallet) => wallet.outputs()))) return raw
    }
    throw new Error('the wallet read each block before it was removed')
  }

  test('F10: it can spend an output again that is mined at another place of the same block', async () => {
    const own = await openWallet()
    const txHash = String(await node.pay(own.hot, '0.5'))
    const raw = await scanEarly(own, txHash, (outputs) => [...outputs.values()].some((one) => one.txHash === txHash))
    // A payment in the block below it, so that its outputs have other places.
    await node.pay(own.hot, '0.01')
    await node.mine(1)
    await own.daemon.send(raw)
    await node.mine(12)
    const utxo = await own.record(txHash)
    expect(utxo.units).toBe(HALF_XMR)
    // Shows that the wallet program cannot spend it yet.
    await expect(own.payHalf()).rejects.toMatchObject({ cause: { message: expect.stringContaining('real output') } })
    // The funds are there, so no comparison calls them missing.
    expect(await own.compare(utxo)).toEqual([])
    expect((await own.payHalf()).keyImages).toEqual([utxo.outpoint])
    await own.session.close()
  })

  test('F10: it holds an output again whose spend was removed', async () => {
    const own = await openWallet()
    const funding = String(await node.pay(own.hot, '0.5'))
    await node.mine(12)
    const utxo = await own.record(funding)
    expect(await own.compare(utxo)).toEqual([])
    await own.daemon.send((await own.payHalf()).raw)
    const spend = present((await node.pool())[0], 'the transaction that spends it')
    // The wallet program then regards it as spent.
    await scanEarly(own, spend, (outputs) => !outputs.has(utxo.outpoint))
    await node.mine(3)
    expect((await own.session.run((wallet) => wallet.outputs())).has(utxo.outpoint)).toBe(false)
    expect(await own.compare(utxo)).toEqual([])
    expect((await own.payHalf()).keyImages).toEqual([utxo.outpoint])
    await own.session.close()
  })
})
