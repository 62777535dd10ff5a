import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMoneroProxy } from '../../../../../test/chaos/monero-proxy.ts'
import { describeWith } from '../../../../../test/support/describe-with.ts'
import { xmr } from '../../../../networks/xmr.ts'
import { createMoneroChain } from '../../../../src/adapters/chains/monero/chain.ts'
import { signMonero } from '../../../../src/adapters/chains/monero/sign.ts'
import { createKeySource, createPublicKeys, publicAccounts } from '../../../../src/adapters/signers/keys.ts'
import { resolveNetwork } from '../../../../src/core/domain/network.ts'
import { present } from '../../../../src/lib/assert.ts'
import { startPrivateNode } from './private-node.ts'

const network = resolveNetwork(xmr, 'sandbox')
const MILLI_XMR = 10n ** 9n
const HOT = { branch: 'hot', index: 0 } as const
const OUTPUTS_READY = 5
const asset = { id: 'xmr@xmr', ticker: 'xmr', network: 'xmr', decimals: 12, contract: null } as const

describeWith('monerod', 'spendable outputs', () => {
  const seed = randomBytes(32)
  const keys = createKeySource(seed, network.coinType)
  const readViewKeys = () =>
    present(createPublicKeys(publicAccounts(seed, [network.coinType])).viewKeys?.(network.coinType), 'the view keys')
  let node: Awaited<ReturnType<typeof startPrivateNode>>
  let chain: ReturnType<typeof createMoneroChain>
  beforeAll(async () => {
    node = await startPrivateNode()
    const spending = { seedKey: keys.privateKey(HOT), folder: join(node.folder, 'wallet'), outputsReady: OUTPUTS_READY }
    chain = createMoneroChain({ network, rpcUrls: [node.url], viewKeys: readViewKeys(), spending })
  })
  afterAll(async () => {
    await chain?.close()
    await node?.stop()
  })

  type OwnOutput = Readonly<{ outpoint: string; units: bigint; path: typeof HOT }>
  /** The outputs of a block at the hot address. */
  const outputsAt = async (height: number): Promise<readonly OwnOutput[]> => {
    const { transfers = [] } = (await chain.reader.block(height)) ?? {}
    const ours = transfers.filter(({ address }) => address === chain.addresses.hot())
    return ours.map((one) => ({ outpoint: chain.reader.outpoint?.(one, HOT) ?? '', units: one.units, path: HOT }))
  }
  const pay = async (outputs: readonly OwnOutput[], units: bigint) => {
    const payment = {
      payoutId: randomBytes(4).toString('hex'),
      address: chain.addresses.deposit(7).address,
      memo: null,
    }
    await chain.sender.gasLimit({ ...payment, asset, units }, HOT)
    const { intent, resources } = await chain.sender.build({
      payments: [{ ...payment, asset, units }],
      from: HOT,
      fee: await chain.reader.feeRate(),
      utxos: outputs,
      changeIndex: 0,
      nonce: null,
      gasLimit: null,
      sweepAll: false,
      replaces: null,
    })
    const { raw } = await signMonero(intent, keys)
    expect(await chain.sender.broadcast(raw)).toEqual({ kind: 'accepted' })
    return resources
  }

  test('are split from the change of one payment, so that as many payments run concurrently', async () => {
    await node.pay(chain.addresses.hot(), '2')
    const { height: funded } = await node.mine(1)
    await node.mine(9)
    await pay(await outputsAt(funded), 500n * MILLI_XMR)
    const { height } = await node.mine(1)
    const change = await outputsAt(height)
    expect(change).toHaveLength(OUTPUTS_READY)
    const total = change.reduce((sum, { units }) => sum + units, 0n)
    expect(total).toBeGreaterThan(1_490n * MILLI_XMR)
    expect(total).toBeLessThan(1_500n * MILLI_XMR)
    for (const { units } of change) expect(units).toBeGreaterThan(250n * MILLI_XMR)
    await node.mine(9)
    const used = new Set<string>()
    for (let n = 0; n < OUTPUTS_READY; n++) {
      const free = change.filter(({ outpoint }) => !used.has(outpoint))
      for (const resource of await pay(free, 200n * MILLI_XMR)) used.add(resource)
    }
    expect(used.size).toBe(OUTPUTS_READY)
  })

  test('are compared with the wallet program and the daemon, which know spent, invented and overstated ones (I-7)', async () => {
    await node.pay(chain.addresses.hot(), '1')
    const { height } = await node.mine(1)
    // The block has change of earlier payments, too.
    const held = present(
      (await outputsAt(height)).find(({ units }) => units === 1_000n * MILLI_XMR),
      'the output of the payment',
    )
    const find = present(chain.reader.findMissingUtxos, 'a UTXO network finds missing outputs')
    expect(await find([held])).toEqual([])
    const invented = { ...held, outpoint: 'ab'.repeat(32) }
    expect(await find([held, invented])).toEqual([invented.outpoint])
    expect(await find([{ ...held, units: held.units + 1n }])).toEqual([held.outpoint])
    await node.mine(9)
    await pay([held], 100n * MILLI_XMR)
    await node.mine(1)
    expect(await find([held])).toEqual([held.outpoint])
  })

  test('D41: are reported as two transfers with one identity if one block pays a one-time key twice', async () => {
    await node.pay(chain.addresses.hot(), '3')
    const { height } = await node.mine(1)
    const proxy = await startMoneroProxy(node.url)
    const reading = createMoneroChain({ network, rpcUrls: [proxy.url], viewKeys: readViewKeys(), spending: null })
    const findPaid = async () => {
      const { transfers = [] } = (await reading.reader.block(height)) ?? {}
      return transfers.filter(({ address, units }) => address === chain.addresses.hot() && units === 3_000n * MILLI_XMR)
    }
    const original = present((await findPaid())[0], 'the output of the payment')
    const duplicate = await proxy.addDuplicate(original.txHash, 'own block')
    expect(await findPaid()).toEqual([original, { ...original, txHash: duplicate }])
    await reading.close()
    await proxy.close()
  })

  // A second, larger payment to the same one-time key: the store has the first, and the wallet program keeps the larger.
  test('D41: are held, and can be spent, if the wallet program knows a larger output of the same key', async () => {
    await node.pay(chain.addresses.hot(), '1')
    const { height } = await node.mine(1)
    const held = present(
      (await outputsAt(height)).find(({ units }) => units === 1_000n * MILLI_XMR),
      'the output of the payment',
    )
    const recorded = { ...held, units: 600n * MILLI_XMR }
    const find = present(chain.reader.findMissingUtxos, 'a UTXO network finds missing outputs')
    expect(await find([recorded])).toEqual([])
    await node.mine(9)
    expect(await pay([recorded], 500n * MILLI_XMR)).toEqual([held.outpoint])
    const change = (await outputsAt((await node.mine(1)).height)).reduce((sum, { units }) => sum + units, 0n)
    expect(change).toBeGreaterThan(490n * MILLI_XMR)
    expect(await find([recorded])).toEqual([held.outpoint])
  })
})
