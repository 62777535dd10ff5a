import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../../../../test/support/describe-with.ts'
import { xmr } from '../../../../networks/xmr.ts'
import { createMoneroChain } from '../../../../src/adapters/chains/monero/chain.ts'
import { signMonero } from '../../../../src/adapters/chains/monero/sign.ts'
import { createKeySource, createPublicKeys, publicAccounts } from '../../../../src/adapters/signers/keys.ts'
import { resolveNetwork } from '../../../../src/core/domain/network.ts'
import { present } from '../../../../src/lib/assert.ts'
import { startLonelyNode } from './private-node.ts'

const network = resolveNetwork(xmr, 'sandbox')
const MILLI = 10n ** 9n
const HOT = { branch: 'hot', index: 0 } as const
const READY = 5
const asset = { id: 'xmr@xmr', ticker: 'xmr', network: 'xmr', decimals: 12, contract: null } as const

describeWith('monerod', 'outputs that are kept ready', () => {
  const seed = randomBytes(32)
  const keys = createKeySource(seed, network.coinType)
  let node: Awaited<ReturnType<typeof startLonelyNode>>
  let app: ReturnType<typeof createMoneroChain>
  beforeAll(async () => {
    node = await startLonelyNode()
    const viewKeys = present(
      createPublicKeys(publicAccounts(seed, [network.coinType])).viewKeys?.(network.coinType),
      'the view keys',
    )
    const spending = { seedKey: keys.privateKey(HOT), folder: join(node.folder, 'app'), outputsReady: READY }
    app = createMoneroChain({ network, rpcUrls: [node.url], viewKeys, spending })
  })
  afterAll(async () => {
    await app?.close()
    await node?.stop()
  })

  type Coin = Readonly<{ outpoint: string; units: bigint; path: typeof HOT }>
  /** Of a block, those at the hot address. */
  const coinsAt = async (height: number): Promise<readonly Coin[]> => {
    const { transfers = [] } = (await app.reader.block(height)) ?? {}
    const ours = transfers.filter(({ address }) => address === app.addresses.hot())
    return ours.map((one) => ({ outpoint: app.reader.outpoint?.(one, HOT) ?? '', units: one.units, path: HOT }))
  }
  const pay = async (coins: readonly Coin[], units: bigint) => {
    const payment = {
      payoutId: randomBytes(4).toString('hex'),
      address: app.addresses.deposit(7).address,
      memo: null,
    }
    await app.sender.gasLimit({ ...payment, asset, units }, HOT)
    const { intent, resources } = await app.sender.build({
      payments: [{ ...payment, asset, units }],
      from: HOT,
      fee: await app.reader.feeRate(),
      utxos: coins,
      changeIndex: 0,
      nonce: null,
      gasLimit: null,
      sweepAll: false,
      replaces: null,
    })
    const { raw } = await signMonero(intent, keys)
    expect(await app.sender.broadcast(raw)).toEqual({ kind: 'accepted' })
    return resources
  }

  test('come of the change of one payment, and pay as many others before any comes back', async () => {
    await node.pay(app.addresses.hot(), '2')
    const { height: funded } = await node.mine(1)
    await node.mine(9)
    await pay(await coinsAt(funded), 500n * MILLI)
    const { height } = await node.mine(1)
    const change = await coinsAt(height)
    expect(change).toHaveLength(READY)
    const total = change.reduce((sum, { units }) => sum + units, 0n)
    expect(total).toBeGreaterThan(1_490n * MILLI)
    expect(total).toBeLessThan(1_500n * MILLI)
    for (const { units } of change) expect(units).toBeGreaterThan(250n * MILLI)
    await node.mine(9)
    const used = new Set<string>()
    for (let n = 0; n < READY; n++) {
      const free = change.filter(({ outpoint }) => !used.has(outpoint))
      for (const resource of await pay(free, 200n * MILLI)) used.add(resource)
    }
    expect(used.size).toBe(READY)
  })
})
