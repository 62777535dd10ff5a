import { hex } from '@scure/base'
import { p2wpkh, Transaction } from '@scure/btc-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ltc } from '../../server/networks/ltc.ts'
import { resolveNetwork } from '../../server/src/core/domain/network.ts'
import type { Utxo } from '../../server/src/exchange/ports/spend.ts'
import { describeWith } from '../support/describe-with.ts'
import { createAppKeys } from './app-keys.ts'
import { createTestApp, type TestNode } from './chain-suite.ts'
import { startLitecoind } from './litecoind.ts'

const network = resolveNetwork(ltc, 'sandbox')
const WHOLE = 100_000_000n
/** Somebody outside whose keys the test has. */
const STRANGER = 500_000

describeWith('litecoind', 'Litecoin Core and what never was a deposit', () => {
  let node: TestNode
  let app: ReturnType<typeof createTestApp>
  beforeAll(async () => {
    node = await startLitecoind()
    app = createTestApp(network, node)
    await app.mine(105)
  })
  afterAll(async () => {
    await app?.chain.close()
    await node?.stop()
  })

  /** A coin of the stranger's, in a block. */
  async function strangersCoin(index: number, units = WHOLE): Promise<Utxo> {
    const signed = app.sign(app.build({ utxos: [await app.coin()], payments: [app.pay(app.stranger(index), units)] }))
    await app.chain.sender.broadcast(signed.raw)
    await app.mine(1)
    const path = { branch: 'deposit' as const, index: STRANGER + index }
    return { outpoint: await outpointOf(signed.txHash, app.stranger(index)), units, path }
  }

  /** Where a transaction pays an address, as the node reads it. */
  async function outpointOf(txid: string, address: string): Promise<string> {
    const { vout } = (await node.call('getrawtransaction', txid, true)) as {
      vout: { n: number; scriptPubKey: { addresses?: string[] } }[]
    }
    const output = vout.find(({ scriptPubKey }) => scriptPubKey.addresses?.includes(address))
    if (!output) throw new Error('no such output')
    return `${txid}:${output.n}`
  }

  const spend = (coin: Utxo, address: string, units: bigint, rate = 2_000n) => {
    const unsigned = app.build({ utxos: [coin], payments: [app.pay(address, units)], fee: { rate, tip: 0n } })
    return { ...app.sign(unsigned), unsigned }
  }

  test('D2 a deposit whose unconfirmed parent is replaced goes with it', async () => {
    const { reader, sender } = app.chain
    const coin = await strangersCoin(1)
    const ours = app.chain.addresses.deposit(40).address
    const parent = spend(coin, app.stranger(2), WHOLE / 2n)
    await sender.broadcast(parent.raw)
    const path = { branch: 'deposit' as const, index: STRANGER + 2 }
    const middle = { outpoint: await outpointOf(parent.txHash, app.stranger(2)), units: WHOLE / 2n, path }
    await reader.mempool()
    const child = spend(middle, ours, WHOLE / 4n, 50_000n)
    expect(await sender.broadcast(child.raw)).toEqual({ kind: 'accepted' })
    expect((await reader.mempool()).map(({ address }) => address)).toContain(ours)
    expect(await sender.observe({ txHash: child.txHash, conflictKey: null })).toEqual({ kind: 'pending' })

    const replacement = spend(coin, app.stranger(3), WHOLE / 2n, 400_000n)
    expect(await sender.broadcast(replacement.raw)).toEqual({ kind: 'accepted' })
    expect(await sender.observe({ txHash: child.txHash, conflictKey: null })).toEqual({ kind: 'unseen' })
    await app.mine(1)
    const { height } = await reader.head()
    const block = await reader.block(height)
    expect(block?.transfers.filter(({ address }) => address === ours)).toEqual([])
  })

  test('D6 a bare multisig output with one of our keys is not a deposit', async () => {
    const { reader } = app.chain
    const coin = await strangersCoin(4)
    const { publicKeys, keys } = createAppKeys(network.coinType)
    const key = (index: number) => hex.encode(publicKeys.publicKey(0, { branch: 'deposit', index }))
    // BIP-11: 1 of 2 keys, one of them of a deposit address of ours.
    const script = hex.decode(`5121${key(41)}21${key(STRANGER)}52ae`)
    const [txid = '', vout = ''] = coin.outpoint.split(':')
    const witnessUtxo = { script: p2wpkh(publicKeys.publicKey(0, coin.path)).script, amount: coin.units }
    const transaction = new Transaction({ disableScriptCheck: true })
    transaction.addInput({ txid, index: Number(vout), witnessUtxo })
    transaction.addOutput({ script, amount: WHOLE / 2n })
    transaction.sign(keys.privateKey(coin.path))
    transaction.finalize()
    await node.call('generateblock', app.stranger(5), [transaction.hex])
    const block = await reader.block((await reader.head()).height)
    expect(block?.transactions.map(({ txHash }) => txHash)).toContain(transaction.id)
    expect(block?.transfers).toEqual([])
    const claim = {
      identity: `${transaction.id}:0`,
      txHash: transaction.id,
      address: app.chain.addresses.deposit(41).address,
      contract: null,
      units: WHOLE / 2n,
    }
    expect(block && (await reader.receivedUnits(claim, block))).toBe(0n)
  })

  test('a payout that spent a reorganised deposit is invalidated once the deposit’s input is spent elsewhere', async () => {
    const { sender, reader } = app.chain
    const coin = await strangersCoin(6)
    const ours = app.chain.addresses.deposit(42).address
    const deposit = spend(coin, ours, WHOLE / 2n)
    await sender.broadcast(deposit.raw)
    const first = String((await app.mine(1))[0])
    const path = { branch: 'deposit' as const, index: 42 }
    const received = { outpoint: await outpointOf(deposit.txHash, ours), units: WHOLE / 2n, path }
    const payout = spend(received, app.stranger(7), WHOLE / 4n)
    await sender.broadcast(payout.raw)
    await app.mine(1)
    const attempt = {
      txHash: payout.txHash,
      conflictKey: payout.unsigned.conflictKey,
      raw: payout.raw,
      ancestorSpends: [{ outpoint: coin.outpoint, spentBy: deposit.txHash }],
    }
    expect((await sender.observe(attempt)).kind).toBe('included')

    // The block is reorganised away, and a miner includes the stranger's other spend of the same output.
    await node.call('invalidateblock', first)
    expect((await sender.observe(attempt)).kind).toBe('pending')
    const other = spend(coin, app.stranger(8), WHOLE / 2n)
    await node.call('generateblock', app.stranger(9), [other.raw])
    expect((await sender.observe(attempt)).kind).toBe('unseen')
    const { height, hash } = await reader.head()
    await app.mine(network.finalityBlocks - 2)
    expect((await sender.observe(attempt)).kind).toBe('unseen')
    await app.mine(1)
    expect(await sender.observe(attempt)).toEqual({
      kind: 'invalidated',
      proof: {
        spentBy: other.txHash,
        blockHash: hash,
        blockHeight: height,
        output: coin.outpoint,
        parent: deposit.txHash,
      },
    })
    expect((await sender.broadcast(payout.raw)).kind).toBe('rejected')
  })
})
