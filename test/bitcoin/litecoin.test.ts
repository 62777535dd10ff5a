import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ltc } from '../../server/networks/ltc.ts'
import { resolveNetwork } from '../../server/src/core/domain/network.ts'
import { describeWith } from '../support/describe-with.ts'
import { PATIENCE } from '../support/patience.ts'
import { createTestApp, describeBitcoinChain, type TestNode } from './chain-suite.ts'
import { startLitecoind } from './litecoind.ts'

const network = resolveNetwork(ltc, 'sandbox')
const DEADLINE = { ...PATIENCE, interval: 100 }

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
      await settled()
    })

    afterAll(async () => {
      await app?.chain.close()
      await Promise.all((nodes ?? []).map((node) => node.stop()))
    })

    /** Until both nodes have the best block of the first. */
    const settled = () => {
      return vi.waitFor(async () => {
        expect(await nodes[1].call('getbestblockhash')).toBe(await nodes[0].call('getbestblockhash'))
      }, DEADLINE)
    }

    test('only what both have is believed (D9)', async () => {
      const { reader, sender } = app.chain
      const coin = await app.coin()
      const unsigned = app.build({
        utxos: [coin],
        payments: [app.pay(app.chain.addresses.deposit(0).address, 100_000_000n)],
      })
      const { raw, txHash } = app.sign(unsigned)
      expect(await sender.broadcast(raw)).toEqual({ kind: 'accepted' })
      const common = await reader.head()

      await nodes[1].call('setnetworkactive', false)
      await vi.waitFor(async () => expect(await nodes[1].call('getconnectioncount')).toBe(0), DEADLINE)
      await app.mine(2)
      const alone = {
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
      // The second lags behind: nothing of the new blocks counts.
      expect(await reader.head()).toEqual(common)
      expect(await reader.agrees(alone)).toBe(false)
      await expect(reader.receivedUnits(transfer, alone)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
      expect(await sender.observe({ txHash, conflictKey: unsigned.conflictKey })).toEqual({ kind: 'pending' })

      // The second goes its own way, as far as the first: the fork point is the head.
      await nodes[1].call('generatetoaddress', 2, app.stranger(9))
      expect(await reader.head()).toEqual(common)
      expect(await reader.block(alone.height)).toBeNull()
      expect(await reader.agrees(alone)).toBe(false)
      await expect(reader.receivedUnits(transfer, alone)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
      expect(await sender.observe({ txHash, conflictKey: unsigned.conflictKey })).toEqual({ kind: 'pending' })

      // The first wins.
      await app.mine(1)
      await nodes[1].call('setnetworkactive', true)
      await settled()
      expect(await reader.agrees(alone)).toBe(true)
      expect(await reader.receivedUnits(transfer, alone)).toBe(100_000_000n)
      expect(await sender.observe({ txHash, conflictKey: unsigned.conflictKey })).toMatchObject({
        kind: 'included',
        block: alone,
      })
    })

    test('without one of them there are payments, but no statements', async () => {
      const { reader, sender } = app.chain
      const unsigned = app.build({ utxos: [await app.coin()], payments: [app.pay(app.stranger(3), 100_000_000n)] })
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
