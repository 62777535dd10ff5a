import { pubECDSA } from '@scure/btc-signer/utils.js'
import { describe, expect, test } from 'vitest'
import { bch } from '../../../../networks/bch.ts'
import { btc } from '../../../../networks/btc.ts'
import { doge } from '../../../../networks/doge.ts'
import { type NetworkDefinition, resolveNetwork } from '../../../core/domain/network.ts'
import type { KeySource, SignIntent } from '../../../exchange/ports/signer.ts'
import type { KeyPath, Utxo } from '../../../exchange/ports/spend.ts'
import { keyAddress, parametersOf } from './address.ts'
import { createBitcoinSigning } from './sign.ts'

type BitcoinIntent = Extract<SignIntent, { family: 'bitcoin' }>

/** Private key 255 for the hot wallet, which is paid; private key 7 for the spent deposit and the change. */
const keys: KeySource = {
  privateKey: ({ branch }: KeyPath) => {
    const key = new Uint8Array(32)
    key[31] = branch === 'hot' ? 255 : 7
    return key
  },
}
const deposit: KeyPath = { branch: 'deposit', index: 0 }
const hot: KeyPath = { branch: 'hot', index: 0 }

function intentOn(definition: NetworkDefinition, units: { pay: bigint; change: bigint; inputs: [bigint, bigint] }) {
  // Production parameters: bcoin's regtest differs only in the address prefix, which is not in the bytes.
  const network = resolveNetwork(definition, 'production')
  const asset = {
    id: `${network.id}@${network.id}` as const,
    ticker: network.id,
    network: network.id,
    decimals: 8,
    contract: null,
  }
  const address = keyAddress(parametersOf(network), pubECDSA(keys.privateKey(hot)))
  const inputs: Utxo[] = [
    { outpoint: `${'aa'.repeat(32)}:1`, units: units.inputs[0], path: deposit },
    { outpoint: `${'bb'.repeat(32)}:0`, units: units.inputs[1], path: hot },
  ]
  const pays = [{ payoutId: 'p1', address, memo: null, asset, units: units.pay }]
  const change = { path: { branch: 'change', index: 0 }, units: units.change } as const
  const intent: BitcoinIntent = { family: 'bitcoin', network: network.id, inputs, pays, change }
  return { intent, sign: createBitcoinSigning([network]) }
}

const plain = { pay: 129_990_000n, change: 90_000_000n, inputs: [150_000_000n, 70_000_000n] as [bigint, bigint] }

describe('signed bytes equal those of an independent wallet', () => {
  test('P2WPKH, by bcoin 1.0.2 (version 2, sequence 0xfffffffd)', () => {
    const { intent, sign } = intentOn(btc, plain)
    expect(sign(intent, keys)).toEqual({
      txHash: '1b877ee590b74e8443f25e3241819b4b082d516987766dd02ca4ae4a275280f4',
      raw: '02000000000102aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0100000000fdffffffbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0000000000fdffffff02707dbf0700000000160014864cccbcbd47cf92a1d64fc67a1b505405757b29804a5d05000000001600145dedfbf9ea599dd4e3ca6a80b333c472fd0b3f6902473044022045d8d2d27858d7a16e1d7e3942073f8fbb06e601c74bd3be004fe2f69b72787e02205f3c4485f297c1dba3a102d4c432cebf8ac3735bdadc58acfbbff308c58b837d0121025cbdf0646e5db4eaa398f365f2ea7a0e3d419b7e0330e39ce92bddedcac4f9bc02473044022072456abdb8d6b28f31a5d5bba8074c282f6e6de5dfc9c12115ad0b49ab5e9ac8022023a1ddf993b429fd67ba3f48c4d6b2dcbf773ca30abd5869457ecb263684fa060121031b38903a43f7f114ed4500b4eac7083fdefece1cf29c63528d563446f972c18000000000',
    })
  })

  test('P2PKH, by bcoin 1.0.2 (version 1, sequence 0xfffffffe)', () => {
    const { intent, sign } = intentOn(doge, plain)
    expect(sign(intent, keys)).toEqual({
      txHash: 'e469538e78bebe34c6a5084f2e8171e46356519fc39c58a1a3c2088ac390050e',
      raw: '0100000002aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa010000006a47304402206a744e7c71bcb1a76860af8fc388d04b896374da6c2c8e41bbf60904acd35f7302207bbf1490d2c3c2e285d765b3552b154313ef2965cf50598d324d88b7ea3b74e00121025cbdf0646e5db4eaa398f365f2ea7a0e3d419b7e0330e39ce92bddedcac4f9bcfeffffffbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb000000006b483045022100c64e508fce6449bf8dd3c6a67eac3644f036104b94ac2ecf933f732397650939022068f4240be090fa5060ed2afe03b3ca7f16be37993cd6f2e24d461593dc5686a90121031b38903a43f7f114ed4500b4eac7083fdefece1cf29c63528d563446f972c180feffffff02707dbf07000000001976a914864cccbcbd47cf92a1d64fc67a1b505405757b2988ac804a5d05000000001976a9145dedfbf9ea599dd4e3ca6a80b333c472fd0b3f6988ac00000000',
    })
  })

  test('P2PKH of Bitcoin Cash with SIGHASH_FORKID, by bitcore-lib-cash 11.5.1', () => {
    const { intent, sign } = intentOn(bch, { pay: 123_456n, change: 95_000n, inputs: [150_000n, 70_000n] })
    expect(sign(intent, keys)).toEqual({
      txHash: '676245a1ef5b3db675c535195826da7f0630f7bbffbbcaf5b6508f9fe4b32ff7',
      raw: '0100000002aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa010000006a473044022003b9c823e5f3035a8817fc261a62e713521625cc4c6bbd5eef8d31cc0b62dd060220309b0ffaee7f434208d5e3374ff2eb7465e14bb6514e59e5d03cff44ffaebed34121025cbdf0646e5db4eaa398f365f2ea7a0e3d419b7e0330e39ce92bddedcac4f9bcfeffffffbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb000000006b483045022100dfad7c1df563536d4851dcfa625c36eca4a33c219daabc1e6d1403229662468e022037b1eabbfdaef5ffa5d3d7b11207a37a8a149cbd6af38f1dca5305b31ae882e64121031b38903a43f7f114ed4500b4eac7083fdefece1cf29c63528d563446f972c180feffffff0240e20100000000001976a914864cccbcbd47cf92a1d64fc67a1b505405757b2988ac18730100000000001976a9145dedfbf9ea599dd4e3ca6a80b333c472fd0b3f6988ac00000000',
    })
  })
})

describe('signing', () => {
  test('the same intent gives the same bytes', () => {
    const { intent, sign } = intentOn(btc, plain)
    expect(sign(structuredClone(intent), keys)).toEqual(sign(intent, keys))
  })

  const { intent: good, sign } = intentOn(btc, plain)
  const [first, second] = good.inputs as [Utxo, Utxo]
  const [pay] = good.pays
  const refused: [string, BitcoinIntent][] = [
    ['pays more than it spends', { ...good, inputs: [first] }],
    ['pays no fee', { ...good, change: { path: { branch: 'change', index: 0 }, units: 90_010_000n } }],
    ['burns what it holds as fee', { ...good, change: null }],
    ['creates dust', { ...good, change: { path: { branch: 'change', index: 0 }, units: 545n } }],
    ['sends change to a deposit address', { ...good, change: { path: deposit, units: 90_000_000n } }],
    ['has no payment', { ...good, pays: [] }],
    ['has no input', { ...good, inputs: [] }],
    ['is for an unknown network', { ...good, network: 'ltc' }],
    [
      'spends a UTXO twice',
      {
        ...good,
        inputs: [first, second, second],
        change: { path: { branch: 'change', index: 0 }, units: 160_000_000n },
      },
    ],
    ['has an invalid outpoint', { ...good, inputs: [{ ...first, outpoint: 'aa:1' }, second] }],
    ['pays a token', { ...good, pays: pay === undefined ? [] : [{ ...pay, asset: { ...pay.asset, contract: '0x' } }] }],
    [
      'pays on another network',
      { ...good, pays: pay === undefined ? [] : [{ ...pay, asset: { ...pay.asset, network: 'ltc' } }] },
    ],
    ['pays an invalid address', { ...good, pays: pay === undefined ? [] : [{ ...pay, address: 'invalid' }] }],
    ['pays with a memo', { ...good, pays: pay === undefined ? [] : [{ ...pay, memo: '7' }] }],
  ]
  test.each(refused)('refuses an intent that %s', (_name, intent) => {
    expect(() => sign(intent, keys)).toThrow()
  })

  test('refuses another family', () => {
    const intent = { ...good, family: 'evm' } as unknown as SignIntent
    expect(() => sign(intent, keys)).toThrow('bitcoin family')
  })
})
