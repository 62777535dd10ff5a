import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ltc } from '../../server/networks/ltc.ts'
import { resolveNetwork } from '../../server/src/core/domain/network.ts'
import { describeWith } from '../support/describe-with.ts'
import { PATIENCE } from '../support/patience.ts'
import { createTestApp, describeBitcoinChain, type TestNode } from './chain-suite.ts'
import { startLitecoind } from './litecoind.ts'

const network = resolveNetwork(ltc, 'sandbox')
const WAIT_OPTIONS = { ...PATIENCE, interval: 100 }

describeWith('litecoind', 'litecoind', () => {
  describeBitcoinChain('one node', network, () => startLitecoind())

  describe('two nodes', () => {
    let nodes: [TestNode, TestNode]
    let app: ReturnType<typeof createTestApp>

    beforeAll(async () => {
      const first = await startLitecoind()
      nodes = [first, await startLitecoind(first.peerPort)]
      app = createTestApp(network, nodes[0], [nodes[0].url, nodes[1].url])
      await app.mine(105)
      await waitForSync()
    })

    afterAll(async () => {
      await app?.chain.close()
      await Promise.all((nodes ?? []).map((node) => node.stop()))
    })

    /** Waits until the second node has the best block of the first. */
    const waitForSync = () => {
      return vi.waitFor(async () => {
        expect(await nodes[1].call('getbestblockhash')).toBe(await nodes[0].call('getbestblockhash'))
      }, WAIT_OPTIONS)
    }

    test('count only blocks that both nodes have (D9)', async () => {
      const { reader, sender } = app.chain
      const utxo = await app.takeUtxo()
      const unsigned = app.build({
        utxos: [utxo],
        payments: [app.createPayment(app.chain.addresses.deposit(0).address, 100_000_000n)],
      })
      const { raw, txHash } = app.sign(unsigned)
      expect(await sender.broadcast(raw)).toEqual({ kind: 'accepted' })
      const common = await reader.head()

      await nodes[1].call('setnetworkactive', false)
      await vi.waitFor(async () => expect(await nodes[1].call('getconnectioncount')).toBe(0), WAIT_OPTIONS)
      await app.mine(2)
      const firstOnly = {
        height: common.height + 1,
        hash: (await nodes[0].call('getblockhash', common.height + 1)) as string,
      }
      const transfer = {
        identity: `${txHash}:0`,
        txHash,
        address: app.chain.addresses.deposit(0).address,
        contract: null,
        units: 100_000_000n,
      }
      // The second node lags, so the new blocks do not count.
      expect(await reader.head()).toEqual(common)
      expect(await reader.agrees(firstOnly)).toBe(false)
      await expect(reader.receivedUnits(transfer, firstOnly)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
      expect(await sender.observe({ txHash, conflictKey: unsigned.conflictKey })).toEqual({ kind: 'pending' })

      // The second node has its own branch of the same length: the fork point is the head.
      await nodes[1].call('generatetoaddress', 2, app.externalAddress(9))
      expect(await reader.head()).toEqual(common)
      expect(await reader.block(firstOnly.height)).toBeNull()
      expect(await reader.agrees(firstOnly)).toBe(false)
      await expect(reader.receivedUnits(transfer, firstOnly)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
      expect(await sender.observe({ txHash, conflictKey: unsigned.conflictKey })).toEqual({ kind: 'pending' })

      // The first node's branch becomes longer.
      await app.mine(1)
      await nodes[1].call('setnetworkactive', true)
      await waitForSync()
      expect(await reader.agrees(firstOnly)).toBe(true)
      expect(await reader.receivedUnits(transfer, firstOnly)).toBe(100_000_000n)
      expect(await sender.observe({ txHash, conflictKey: unsigned.conflictKey })).toMatchObject({
        kind: 'included',
        block: firstOnly,
      })
    })

    test('broadcast transactions but return no chain data while one node is down', async () => {
      const { reader, sender } = app.chain
      const unsigned = app.build({
        utxos: [await app.takeUtxo()],
        payments: [app.createPayment(app.externalAddress(3), 100_000_000n)],
      })
      const { raw, txHash } = app.sign(unsigned)
      const head = await reader.head()
      await nodes[1].stop()
      const unavailable = expect.objectContaining({ code: 'NETWORK_UNAVAILABLE' })
      await expect(reader.head()).rejects.toEqual(unavailable)
      await expect(reader.agrees(head)).rejects.toEqual(unavailable)
      await expect(sender.observe({ txHash, conflictKey: unsigned.conflictKey })).rejects.toEqual(unavailable)
      expect(await sender.broadcast(raw)).toEqual({ kind: 'accepted' })
      expect((await reader.feeRate()).rate).toBeGreaterThan(0n)
      await nodes[0].stop()
      expect(await sender.broadcast(raw)).toMatchObject({ kind: 'unknown' })
      await expect(reader.feeRate()).rejects.toEqual(unavailable)
    })
  })
})
