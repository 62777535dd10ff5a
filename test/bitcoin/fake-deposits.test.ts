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
/** First key index of external addresses; the test has their keys. */
const EXTERNAL_INDEX = 500_000

describeWith('litecoind', 'fake deposits on Litecoin Core', () => {
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

  /** Creates a confirmed UTXO at an external address. */
  async function createExternalUtxo(index: number, units = WHOLE): Promise<Utxo> {
    const signed = app.sign(
      app.build({ utxos: [await app.takeUtxo()], payments: [app.createPayment(app.externalAddress(index), units)] }),
    )
    await app.chain.sender.broadcast(signed.raw)
    await app.mine(1)
    const path = { branch: 'deposit' as const, index: EXTERNAL_INDEX + index }
    return { outpoint: await findOutpoint(signed.txHash, app.externalAddress(index)), units, path }
  }

  /** Finds the outpoint with which a transaction pays an address. */
  async function findOutpoint(txid: string, address: string): Promise<string> {
    const { vout } = (await node.call('getrawtransaction', txid, true)) as {
      vout: { n: number; scriptPubKey: { addresses?: string[] } }[]
    }
    const output = vout.find(({ scriptPubKey }) => scriptPubKey.addresses?.includes(address))
    if (!output) throw new Error(`${txid} has no output to ${address}`)
    return `${txid}:${output.n}`
  }

  const spend = (utxo: Utxo, address: string, units: bigint, rate = 2_000n) => {
    const unsigned = app.build({ utxos: [utxo], payments: [app.createPayment(address, units)], fee: { rate, tip: 0n } })
    return { ...app.sign(unsigned), unsigned }
  }

  test('D2 drops an unconfirmed deposit when its unconfirmed parent is replaced', async () => {
    const { reader, sender } = app.chain
    const utxo = await createExternalUtxo(1)
    const depositAddress = app.chain.addresses.deposit(40).address
    const parent = spend(utxo, app.externalAddress(2), WHOLE / 2n)
    await sender.broadcast(parent.raw)
    const path = { branch: 'deposit' as const, index: EXTERNAL_INDEX + 2 }
    const middle = { outpoint: await findOutpoint(parent.txHash, app.externalAddress(2)), units: WHOLE / 2n, path }
    await reader.mempool()
    const child = spend(middle, depositAddress, WHOLE / 4n, 50_000n)
    expect(await sender.broadcast(child.raw)).toEqual({ kind: 'accepted' })
    expect((await reader.mempool()).map(({ address }) => address)).toContain(depositAddress)
    expect(await sender.observe({ txHash: child.txHash, conflictKey: null })).toEqual({ kind: 'pending' })

    const replacement = spend(utxo, app.externalAddress(3), WHOLE / 2n, 400_000n)
    expect(await sender.broadcast(replacement.raw)).toEqual({ kind: 'accepted' })
    expect(await sender.observe({ txHash: child.txHash, conflictKey: null })).toEqual({ kind: 'unseen' })
    await app.mine(1)
    const { height } = await reader.head()
    const block = await reader.block(height)
    expect(block?.transfers.filter(({ address }) => address === depositAddress)).toEqual([])
  })

  test('D6 ignores a bare multisig output with one of our keys', async () => {
    const { reader } = app.chain
    const utxo = await createExternalUtxo(4)
    const { publicKeys, keys } = createAppKeys(network.coinType)
    const key = (index: number) => hex.encode(publicKeys.publicKey(0, { branch: 'deposit', index }))
    // BIP-11 with 1 of 2 keys; one key belongs to a deposit address of the app.
    const script = hex.decode(`5121${key(41)}21${key(EXTERNAL_INDEX)}52ae`)
    const [txid = '', vout = ''] = utxo.outpoint.split(':')
    const witnessUtxo = { script: p2wpkh(publicKeys.publicKey(0, utxo.path)).script, amount: utxo.units }
    const transaction = new Transaction({ disableScriptCheck: true })
    transaction.addInput({ txid, index: Number(vout), witnessUtxo })
    transaction.addOutput({ script, amount: WHOLE / 2n })
    transaction.sign(keys.privateKey(utxo.path))
    transaction.finalize()
    await node.call('generateblock', app.externalAddress(5), [transaction.hex])
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

  test('invalidates a payout that spends a reorganised deposit when the deposit’s input is double-spent', async () => {
    const { sender, reader } = app.chain
    const utxo = await createExternalUtxo(6)
    const depositAddress = app.chain.addresses.deposit(42).address
    const deposit = spend(utxo, depositAddress, WHOLE / 2n)
    await sender.broadcast(deposit.raw)
    const first = String((await app.mine(1))[0])
    const path = { branch: 'deposit' as const, index: 42 }
    const received = { outpoint: await findOutpoint(deposit.txHash, depositAddress), units: WHOLE / 2n, path }
    const payout = spend(received, app.externalAddress(7), WHOLE / 4n)
    await sender.broadcast(payout.raw)
    await app.mine(1)
    const attempt = {
      txHash: payout.txHash,
      conflictKey: payout.unsigned.conflictKey,
      raw: payout.raw,
      ancestorSpends: [{ outpoint: utxo.outpoint, spentBy: deposit.txHash }],
    }
    expect((await sender.observe(attempt)).kind).toBe('included')

    // The block is reorganised, and the new chain contains another spend of the same output.
    await node.call('invalidateblock', first)
    expect((await sender.observe(attempt)).kind).toBe('pending')
    const conflicting = spend(utxo, app.externalAddress(8), WHOLE / 2n)
    await node.call('generateblock', app.externalAddress(9), [conflicting.raw])
    expect((await sender.observe(attempt)).kind).toBe('unseen')
    const { height, hash } = await reader.head()
    await app.mine(network.finalityBlocks - 2)
    expect((await sender.observe(attempt)).kind).toBe('unseen')
    await app.mine(1)
    expect(await sender.observe(attempt)).toEqual({
      kind: 'invalidated',
      proof: {
        spentBy: conflicting.txHash,
        blockHash: hash,
        blockHeight: height,
        output: utxo.outpoint,
        parent: deposit.txHash,
      },
    })
    expect((await sender.broadcast(payout.raw)).kind).toBe('rejected')
  })
})
